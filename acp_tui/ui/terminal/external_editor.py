"""Lets the user edit a text or open a file in their editor."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.ui.terminal.suspend import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

FALLBACKS = ("editor", "nano", "vi")
"""The editors to try if the user has set none; `editor` is the system's choice on Debian.

Not `sensible-editor`, which starts by asking which editor to use.
"""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the user's editor as a command line without a file name.

    Raises `UserError` if no editor is found.
    """
    wanted = chosen_editor(environment)
    for command in [wanted] if wanted else FALLBACKS:
        try:
            words = shlex.split(command)
        except ValueError:
            raise UserError(f"Cannot parse $VISUAL or $EDITOR: {command}") from None
        if words and shutil.which(words[0], path=environment.get("PATH")):
            return words
    if wanted:
        raise UserError(f'Editor "{wanted}" not found; set $VISUAL or $EDITOR to an installed editor.')
    tried = ", ".join(FALLBACKS)
    raise UserError(f"No editor found ({tried}); set $VISUAL or $EDITOR.")


def chosen_editor(environment: Mapping[str, str]) -> str | None:
    """Return the editor that the user has set; None if there is none."""
    return environment.get("VISUAL") or environment.get("EDITOR") or None


async def edit(text: str, command: list[str]) -> str:
    """Let the user edit a text in the editor `command`, and return the result.

    The caller must have released the terminal. Raises `UserError` if the editor cannot be
    started or exits with an error status.
    """
    descriptor, name = tempfile.mkstemp(suffix=".md", prefix="prompt-")  # mode 0600
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{text}\n" if text else "")  # files end with a newline
        code = await run_program([*command, name])
        if code > 0:  # if a signal ended the editor (negative), use what was saved before
            raise UserError(f"The editor exited with status {code}; the prompt is unchanged.")
        return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError as error:
        raise UserError(f"The prompt could not be edited: {error.strerror or error}.") from error
    finally:
        path.unlink(missing_ok=True)


async def open_file(path: Path, line: int | None, command: list[str]) -> None:
    """Open a file with the editor `command`, at `line` if given, and wait until the editor has ended.

    The caller must have released the terminal. Raises `UserError` if the file or the editor does not exist.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist.")
    words = [*command, *_at_line(command[0], path, line)]
    try:
        await run_program(words)
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
    return [f"+{line}", str(path)]  # vi, vim, emacs, nano, kakoune and others
