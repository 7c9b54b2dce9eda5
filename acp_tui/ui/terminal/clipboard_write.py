"""Copying, and what became of it.

First whoever can tell that it took the text: the programs of the system, where the user sits at it, and tmux.
Then the terminal (OSC 52), which never says whether it did. Last a private file.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.ui.terminal.passthrough import in_tmux, osc, wrap_for_multiplexer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_BASE64_CHARS = 100_000
"""Characters of base64 that terminals take; many silently drop more."""
PROGRAM_TIMEOUT = 3.0
"""Seconds for a program; one that cannot reach its display may wait for ever."""
TERMS_WITHOUT_CLIPBOARD = ("dumb", "linux", "vt100", "vt220")
"""Terminals that have no clipboard."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that takes the text from its standard input."""

    command: tuple[str, ...]
    told: str
    encoding: str = "utf-8"


async def copy(text: str, send: Callable[[str], None] | None, environ: Mapping[str, str]) -> str:
    """Copy the text; what was done, in a sentence. `send` writes to the terminal, if there is one."""
    for program in programs(environ):
        if await _copy_with(program, text, environ):
            return program.told
    data = base64.b64encode(text.encode(errors="replace")).decode()
    reason = "This terminal has no clipboard"
    if send is not None and environ.get("TERM") not in TERMS_WITHOUT_CLIPBOARD:
        if len(data) <= MAX_BASE64_CHARS:
            send(osc52(data, environ))
            return "Sent to the terminal's clipboard."
        reason = "Too large for the terminal's clipboard"
    try:
        return f"{reason}: the text is in {_write_private_file(text)}"
    except OSError as error:
        return f"{reason}, and it could not be written to a file: {error.strerror or error}."


def osc52(data: str, environ: Mapping[str, str]) -> str:
    """The sequence, as base64 has it. tmux may listen itself or pass it on, as it is configured."""
    sequence = osc("52", "c", data)
    return (sequence if in_tmux(environ) else "") + wrap_for_multiplexer(sequence, environ)


def programs(environ: Mapping[str, str]) -> Iterator[Program]:
    """Those that are installed and can reach the user, the likeliest first."""
    remote = any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))
    for program in (*(() if remote else _local_programs(environ)), *_tmux_program(environ)):
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
    if in_tmux(environ):  # with -w it tells the terminal, too, which it does not let others do by default
        yield Program(
            ("tmux", "load-buffer", "-w", "-"),
            "Copied to the buffer of tmux, and sent to the terminal's clipboard.",
        )


COPIED = "Copied."


async def _copy_with(program: Program, text: str, environ: Mapping[str, str]) -> bool:
    """Did it take the text? Some leave a process of theirs behind, which hands the text out."""
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
    descriptor, path = tempfile.mkstemp(prefix="acp-tui-", suffix=".txt")  # readable by nobody else
    with open(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)
    return path
