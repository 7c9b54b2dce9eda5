"""Opens images, audio and other embedded files from an agent in the desktop's default application.

Only pictures, sound, films and plain documents are opened. Other files, such as web pages, scripts and SVG
pictures, are only saved.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from acp_tui.console.browser import start_detached

if TYPE_CHECKING:
    from acp_tui.session.state import Content

OPENERS = ("xdg-open", "open", "wslview")


def open_externally(content: Content) -> str:
    """Save an embedded file as a private file. Open the saved file if its type is harmless.

    Return a sentence that tells the user what was done or what failed.
    """
    try:
        data = base64.b64decode(content.data or "", validate=True)
    except (binascii.Error, ValueError):
        return "The agent sent invalid base64."
    known = content.mime if content.mime in mimetypes.types_map.values() else None
    suffix = (mimetypes.guess_extension(known) if known else None) or ".bin"
    try:
        descriptor, path = tempfile.mkstemp(prefix="acp-tui-", suffix=suffix)  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        return f"Could not write the file: {error.strerror}."
    opener = next(filter(None, map(shutil.which, OPENERS)), None)
    is_opened = known is not None and _is_harmless(known) and opener and start_detached([opener, path])
    return f"Opened {path}." if is_opened else f"Saved to {path}."


def _is_harmless(mime: str) -> bool:
    """Return True for pictures, sound, films and plain documents. An SVG picture may contain scripts."""
    if mime.startswith(("image/", "audio/", "video/")):
        return "svg" not in mime
    return mime in ("application/pdf", "text/plain", "text/markdown", "text/csv", "application/json")
