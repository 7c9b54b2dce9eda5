"""Editing a text in the editor of the user's choice."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FALLBACKS = ("sensible-editor", "nano", "vi")


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """The command line of the user's editor, without a file."""
    wanted = environment.get("VISUAL") or environment.get("EDITOR")
    for command in [wanted] if wanted else FALLBACKS:
        try:
            words = shlex.split(command)
        except ValueError:
            raise UserError(f"$VISUAL or $EDITOR cannot be read: {command}") from None
        if words and shutil.which(words[0], path=environment.get("PATH")):
            return words
    if wanted:
        raise UserError(
            f"The editor “{wanted}” was not found; set $VISUAL or $EDITOR to one that is installed."
        )
    raise UserError("No editor was found; set $VISUAL or $EDITOR.")


async def edit(text: str, command: list[str]) -> str:
    """The text as the editor left it. The terminal must be free meanwhile."""
    descriptor, name = tempfile.mkstemp(suffix=".md", prefix="prompt-")  # only the user may read it
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{text}\n" if text else "")  # the last line ends, as in any file
        code = await _run([*command, name])
        if code:
            raise UserError(f"The editor ended with {code}; the prompt is as it was.")
        return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError as error:
        raise UserError(f"The prompt could not be edited: {error.strerror or error}.") from error
    finally:
        path.unlink(missing_ok=True)


async def open_file(path: Path, line: int | None, command: list[str]) -> None:
    """Open a file, at a line where the editor is known to take one."""
    if not path.exists():
        raise UserError(f"{path} does not exist.")
    words = [*command, *_at_line(command[0], path, line)]
    try:
        await _run(words)
    except OSError as error:
        raise UserError(f"{command[0]} could not be started: {error.strerror or error}.") from error


def _at_line(editor: str, path: Path, line: int | None) -> list[str]:
    if line is None:
        return [str(path)]
    match Path(editor).name:
        case "code" | "codium" | "cursor" | "windsurf":
            return ["--goto", f"{path}:{line}"]
        case "hx" | "helix" | "subl" | "zed":
            return [f"{path}:{line}"]
    return [f"+{line}", str(path)]  # vi and its kin, emacs, nano, kakoune …


async def _run(command: list[str]) -> int:
    """The exit code of a program that has the terminal. The signals are handled from before it starts."""
    with _keyboard_signals(_nothing):
        process = await asyncio.create_subprocess_exec(*command)
        with _keyboard_signals(signal.SIG_IGN):
            return await process.wait()


@contextmanager
def _keyboard_signals(handler: Callable[..., object] | signal.Handlers) -> Iterator[None]:
    """Ctrl+C and Ctrl+\\ are the editor's; the terminal sends them to all who are in the foreground."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _nothing(*_: object) -> None:
    """Handles a signal. Unlike one that is ignored, a child does not inherit it."""


async def run_program(command: list[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a program on the terminal, which must be free meanwhile; its exit code."""
    with _keyboard_signals(_nothing):
        process = await asyncio.create_subprocess_exec(*command, env=environment)
        with _keyboard_signals(signal.SIG_IGN):
            return await process.wait()
