"""The clipboard of the desktop: reading and writing, also through OSC 52."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from acp_tui.ui.terminal.passthrough import in_tmux, osc, wrap_for_multiplexer

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


MAX_BASE64_CHARS = 100_000
"""The maximum number of base64 characters for OSC 52. Many terminals silently drop longer sequences."""
PROGRAM_TIMEOUT = 3.0
"""Seconds to wait for a program. A program that cannot reach its display may hang forever."""
TERMS_WITHOUT_CLIPBOARD = ("dumb", "linux", "vt100", "vt220")
"""Values of $TERM for terminals that have no clipboard."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that copies the text on its standard input to the clipboard."""

    command: tuple[str, ...]
    message: str  # shown to the user on success
    encoding: str = "utf-8"


async def copy(text: str, send: Callable[[str], None] | None, environ: Mapping[str, str]) -> str:
    """Copy text, and return a sentence that tells the user the result.

    `send` writes an escape sequence to the terminal; None if there is no terminal.
    """
    for program in programs(environ):
        if await _copy_with(program, text, environ):
            return program.message
    data = base64.b64encode(text.encode(errors="replace")).decode()
    reason = "This terminal has no clipboard"
    if send is not None and environ.get("TERM") not in TERMS_WITHOUT_CLIPBOARD:
        if len(data) <= MAX_BASE64_CHARS:
            send(osc52(data, environ))
            return "Sent to the terminal's clipboard."
        reason = "The text is too large for the terminal's clipboard"
    try:
        return f"{reason}; the text was saved to {_write_private_file(text)}"
    except OSError as error:
        return f"{reason}, and the text could not be saved to a file: {error.strerror or error}."


def osc52(data: str, environ: Mapping[str, str]) -> str:
    """Return the OSC 52 sequence for base64 data.

    Under tmux, return the sequence twice, plain and wrapped: tmux's settings decide which form works.
    """
    sequence = osc("52", "c", data)
    return (sequence if in_tmux(environ) else "") + wrap_for_multiplexer(sequence, environ)


def programs(environ: Mapping[str, str]) -> Iterator[Program]:
    """Yield the installed programs that can copy to the user's clipboard, in the order to try them."""
    for program in (*(() if _remote(environ) else _local_programs(environ)), *_tmux_program(environ)):
        if shutil.which(program.command[0], path=environ.get("PATH")):
            yield program


def _local_programs(environ: Mapping[str, str]) -> Iterator[Program]:
    if sys.platform == "darwin":
        yield Program(("pbcopy",), COPIED)
    if environ.get("WAYLAND_DISPLAY"):
        yield Program(("wl-copy",), COPIED)
    if environ.get("DISPLAY"):
        yield Program(("xclip", "-selection", "clipboard", "-in"), COPIED)
        yield Program(("xsel", "--clipboard", "--input"), COPIED)
    if environ.get("WSL_DISTRO_NAME") or environ.get("WSL_INTEROP"):
        yield Program(("clip.exe",), COPIED, "utf-16-le")


def _tmux_program(environ: Mapping[str, str]) -> Iterator[Program]:
    if in_tmux(environ):  # -w also sets the terminal clipboard, which tmux denies to programs by default
        yield Program(
            ("tmux", "load-buffer", "-w", "-"),
            "Copied (tmux buffer and terminal clipboard).",
        )


COPIED = "Copied."


async def _copy_with(program: Program, text: str, environ: Mapping[str, str]) -> bool:
    """Copy text with `program`, and return True on success.

    The program runs in a process session of its own and has no output pipes, because it can leave a child
    process that serves the clipboard.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *program.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={**environ, "LC_CTYPE": "UTF-8"} if sys.platform == "darwin" else dict(environ),
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode(program.encoding, "replace")), PROGRAM_TIMEOUT)
    except (TimeoutError, OSError):
        return False
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode == 0


def _write_private_file(text: str) -> str:
    descriptor, path = tempfile.mkstemp(prefix="acp-tui-", suffix=".txt")  # mode 0600
    with open(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)
    return path
