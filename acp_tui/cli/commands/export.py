"""`acp-tui export`: writes a recorded session as Markdown, HTML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.cli.recordings import RECORDING_HELP, find_recording, read_records
from acp_tui.config.early_settings import AUTO_THEME
from acp_tui.config.paths import paths, write_private
from acp_tui.console import content_stream, print_message, replace_unencodable
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.export import FORMATS, Format, export
from acp_tui.export.document import SessionMetadata
from acp_tui.store.stored_sessions import read_session, sessions_directory

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.settings import Settings

DEFAULT_THEME = "dark"
_SUFFIXES: dict[str, Format] = {
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help=RECORDING_HELP)
    formats = parser.add_mutually_exclusive_group()
    for name, words in FORMATS.items():
        about = f"export as {words}"
        formats.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=about)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="output file (default: stdout)")
    parser.add_argument("--theme", metavar="NAME", help="theme of the HTML export (default: from settings)")


def run(args: argparse.Namespace) -> int:
    """Export the session; print problems in the recording to stderr."""
    path = find_recording(args.session)
    records, problems = read_records(path)
    stored = read_session(path.parent)  # agent, title and folder, if acp-tui recorded the session
    metadata = SessionMetadata.from_folder(stored) if stored.meta else SessionMetadata(path.stem)
    cwd = Path(metadata.cwd or ".")
    app_context = AppContext.open(cwd)
    form, theme = args.form or _format_of(args.output), args.theme
    if theme == AUTO_THEME:
        theme = app_context.settings.theme_dark
    if form == "html" and theme is None:
        theme, theme_problems = _configured_theme(app_context.settings)
        problems = [*problems, *theme_problems]
    is_sensitive = app_context.is_sensitive_in(cwd)
    text = export(records, form, metadata, theme=theme or DEFAULT_THEME, is_sensitive=is_sensitive)
    if args.output is None:
        replace_unencodable()
        content_stream().write(text)
    else:
        _protect_recordings(args.output, path)
        write_export(args.output, text)
    for problem in problems:
        print_message(problem)
    return 0


def _format_of(path: Path | None) -> Format:
    """Return the export format for the suffix of a file; Markdown for None, which stands for stdout."""
    suffix = path.suffix.lower() if path is not None else ".md"
    if suffix not in _SUFFIXES:
        raise UsageError(f'Unknown format "{suffix}": use --{", --".join(FORMATS)}.')
    return _SUFFIXES[suffix]


def _configured_theme(settings: Settings) -> tuple[str, list[str]]:
    """Return the theme that the settings name, and an empty list.

    If this theme cannot be used, return the default theme and a list with the reason.
    """
    from acp_tui.export.style_sheet import style_sheet

    theme = settings.theme_dark if settings.theme == AUTO_THEME else settings.theme
    try:
        style_sheet(theme)
    except UserError as error:
        return DEFAULT_THEME, [f'{str(error).removesuffix(".")}; using "{DEFAULT_THEME}" instead.']
    return theme, []


def _protect_recordings(output: Path, source: Path) -> None:
    """Raise `UserError` for the exported recording, and for any file among the recorded sessions."""
    place = output.resolve()
    if place == source.resolve() or place.is_relative_to(sessions_directory(paths().data).resolve()):
        raise UsageError(f"{output} belongs to a recorded session and is not overwritten.")


def write_export(path: Path, text: str) -> None:
    """Write the file, atomically unless it is a pipe or a device. Only its owner can read a new file."""
    real = path.resolve()
    with os_errors_reported(f"Cannot write {path}"):
        if real.exists() and not real.is_file():  # /dev/stdout or a pipe cannot be replaced
            real.write_text(text, encoding="utf-8")
            return
        if not real.parent.is_dir():
            raise UserError(f"Cannot write {path}: the directory {real.parent} does not exist.")
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        write_private(real, text, mode=mode)
