"""Reads the clipboard with local programs, because a terminal passes on only text that the user pastes."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIMEOUT = 2.0
"""Seconds to wait for a program. It hangs if the application that owns the clipboard does not answer."""
MAX_BYTES = 10_000_001
"""How many bytes to read at most: one more than the limit for images, so that larger images are detected."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")


def clipboard_programs(environ: Mapping[str, str]) -> tuple[list[str], list[str]] | None:
    """Return a command that lists the types of the clipboard's content, and a command that reads an image.

    The caller appends the image's type to the second command. If the first command is empty, the second
    command reads PNG images only and takes no type. Returns None if no usable program is found. Also returns
    None over SSH, where programs would read the clipboard of the remote machine, not the user's.
    """
    if _remote(environ):
        return None
    if sys.platform == "darwin":
        return ([], ["pngpaste", "-"]) if shutil.which("pngpaste") else None
    if environ.get("WAYLAND_DISPLAY") and shutil.which("wl-paste"):
        return ["wl-paste", "--list-types"], ["wl-paste", "--type"]
    if environ.get("DISPLAY") and shutil.which("xclip"):
        get = ["xclip", "-selection", "clipboard", "-o", "-t"]
        return [*get, "TARGETS"], get
    return None


def can_read_clipboard(environ: Mapping[str, str]) -> bool:
    """Return True if an installed program can read the user's clipboard. Over SSH, no program can."""
    return clipboard_programs(environ) is not None or text_program(environ) is not None


def text_program(environ: Mapping[str, str]) -> list[str] | None:
    """Return the command that reads text from the clipboard; None over SSH or without a usable program."""
    if _remote(environ):
        return None
    if sys.platform == "darwin":
        return ["pbpaste"]
    if environ.get("WAYLAND_DISPLAY") and shutil.which("wl-paste"):
        return ["wl-paste", "--no-newline", "--type", "text"]
    if environ.get("DISPLAY") and shutil.which("xclip"):
        return ["xclip", "-selection", "clipboard", "-o", "-t", "UTF8_STRING"]
    return None


def _remote(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


async def clipboard_text() -> str:
    """Return the text in the clipboard; empty if there is none, or if the text cannot be read."""
    program = text_program(os.environ)
    return (await _output(program)).decode(errors="replace") if program is not None else ""


async def clipboard_picture() -> tuple[bytes, str] | None:
    """Return the image in the clipboard and its MIME type; None if no image can be read."""
    programs = clipboard_programs(os.environ)
    if programs is None:
        return None
    types, get = programs
    if not types:
        data = await _output(get)
        return (data, IMAGE_TYPES[0]) if data else None
    offered = (await _output(types)).decode(errors="replace").split()
    mime = next((mime for mime in IMAGE_TYPES if mime in offered), None)
    if mime is None:
        return None
    data = await _output([*get, mime])
    return (data, mime) if data else None


async def _output(command: Sequence[str]) -> bytes:
    """Return up to `MAX_BYTES` bytes of a program's output; empty if the program fails or takes too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
        )
    except OSError:
        return b""
    assert process.stdout is not None
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(TIMEOUT):
            while size < MAX_BYTES and (part := await process.stdout.read(MAX_BYTES - size)):
                parts.append(part)
                size += len(part)
            if size < MAX_BYTES:
                return b"".join(parts) if await process.wait() == 0 else b""
            return b"".join(parts)
    except TimeoutError:
        return b""
    finally:
        with suppress(ProcessLookupError):
            process.kill()
