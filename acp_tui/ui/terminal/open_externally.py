"""Images and sounds of an agent: written to a private file and opened by the system's own program."""

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
    """Open it; what was done, in a sentence."""
    try:
        data = base64.b64decode(content.data or "", validate=True)
    except (binascii.Error, ValueError):
        return "What the agent sent cannot be decoded."
    known = content.mime if content.mime in mimetypes.types_map.values() else None
    suffix = (mimetypes.guess_extension(known) if known else None) or ".bin"
    try:
        descriptor, path = tempfile.mkstemp(prefix="acp-tui-", suffix=suffix)  # readable by nobody else
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        return f"It could not be written to a file: {error.strerror}."
    opener = next(filter(None, map(shutil.which, OPENERS)), None)
    if opener is None or suffix == ".bin":
        return f"It is in {path}."
    subprocess.Popen(
        [opener, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return f"Opened {path}."
