"""`acp-tui export`: a recorded session as a document to give away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.cli.commands.replay import print_safely, read_records, recording_of
from acp_tui.cli.options import USAGE
from acp_tui.cli.streams import content_stream
from acp_tui.config.paths import paths, write_private
from acp_tui.errors import UserError
from acp_tui.export import FORMATS, export
from acp_tui.export.metadata import SessionMetadata
from acp_tui.store.folders import read_session, sessions_directory

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.settings import Settings
    from acp_tui.export import Format

DEFAULT_THEME = "dark"
_ENDINGS: dict[str, Format] = {
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "session",
        metavar="SESSION",
        help="a session's id or the beginning of one, its folder, or a file with a recording",
    )
    form = parser.add_mutually_exclusive_group()
    for name, words in FORMATS.items():
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=f"as {words}")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write it there, not to the output")
    parser.add_argument("--theme", metavar="NAME", help="the colours of HTML (default: as in the settings)")


def run(args: argparse.Namespace) -> int:
    """Do it."""
    path = recording_of(args.session)
    records, problems = read_records(path)
    stored = read_session(path.parent)  # who it was held with, when it is one of ours
    metadata = SessionMetadata.from_folder(stored) if stored.meta else SessionMetadata(path.stem)
    cwd = Path(metadata.cwd or ".")
    workbench = AppContext.open(cwd)
    form, theme = args.form or _by_ending(args.output), args.theme
    if form == "html" and theme is None:
        theme, wrong = _usual_theme(workbench.settings)
        problems = [*problems, *wrong]
    hides = workbench.is_sensitive_in(cwd)
    text = export(records, form, metadata, theme=theme or DEFAULT_THEME, is_sensitive=hides)
    if args.output is None:
        print_safely()
        content_stream().write(text)
    else:
        _spare_recordings(args.output, path)
        write_export(args.output, text)
    for problem in problems:
        print(f"acp-tui: {problem}", file=sys.stderr)
    return 0


def _by_ending(path: Path | None) -> Format:
    ending = path.suffix.lower() if path is not None else ".md"
    if ending not in _ENDINGS:
        raise UserError(f"Say in which form: --{', --'.join(FORMATS)}.", exit_code=USAGE)
    return _ENDINGS[ending]


def _usual_theme(settings: Settings) -> tuple[str, list[str]]:
    """That of the settings, and why not."""
    from acp_tui.export.style_sheet import style_sheet

    try:
        style_sheet(settings.theme)
    except UserError as error:
        return DEFAULT_THEME, [f"{str(error).removesuffix('.')}; {DEFAULT_THEME!r} is used."]
    return settings.theme, []


def _spare_recordings(output: Path, source: Path) -> None:
    """Nobody means to write over what is recorded."""
    place = output.resolve()
    if place == source.resolve() or place.is_relative_to(sessions_directory(paths().data).resolve()):
        raise UserError(f"{output} belongs to a recorded session and is left as it is.", exit_code=USAGE)


def write_export(path: Path, text: str) -> None:
    """Replace the file at once or not at all; a new one is readable by its owner only."""
    real = path.resolve()
    try:
        if real.exists() and not real.is_file():  # /dev/stdout or a pipe: there is nothing to replace
            real.write_text(text, encoding="utf-8")
        else:
            if not real.parent.is_dir():
                raise UserError(f"{path} cannot be written: there is no directory {real.parent}.")
            mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
            write_private(real, text, mode=mode)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
