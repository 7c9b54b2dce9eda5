"""Opens images and audio from an agent in the desktop's default application."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.session.state import Content

OPENERS = ("xdg-open", "open", "wslview")


def open_externally(content: Content) -> str:
    """Save an image or audio in a private file and open the file.

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
    if opener is None or suffix == ".bin":
        return f"Saved to {path}."
    subprocess.Popen(
        [opener, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return f"Opened {path}."
