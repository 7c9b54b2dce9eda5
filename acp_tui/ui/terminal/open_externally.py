"""Opens images, audio and other embedded files from an agent in the desktop's default application.

Only pictures, sound, films and plain documents are opened. Other files, such as web pages, scripts and SVG
pictures, are only saved.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.ui.terminal.suspend import run_program
from acp_tui.web_browser import start_detached

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
    """Let the user edit text in the editor `command`, and return the result.

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
