"""`acp-tui export`: a recorded session as a document to give away."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.options import USAGE
from acp_tui.cli.replay import print_safely, read_records, recording_of
from acp_tui.errors import UserError
from acp_tui.export import FORMATS, About, export
from acp_tui.store.folders import read_folder
from acp_tui.workbench import Workbench

if TYPE_CHECKING:
    import argparse

    from acp_tui.export import Format

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
    parser.add_argument("--theme", metavar="NAME", default="dark", help="the colours of HTML (default: dark)")


def run(args: argparse.Namespace) -> int:
    """Do it."""
    path = recording_of(args.session)
    records, problems = read_records(path)
    stored = read_folder(path.parent)  # who it was held with, when it is one of ours
    about = About.of(stored) if stored.meta else About(path.stem)
    cwd = Path(about.cwd or ".")
    text = export(
        records,
        args.form or _by_ending(args.output),
        about,
        theme=args.theme,
        is_sensitive=Workbench.open(cwd).is_sensitive_in(cwd),
    )
    if args.output is None:
        print_safely()
        sys.stdout.write(text)
    else:
        write_export(args.output, text)
    for problem in problems:
        print(f"acp-tui: {problem}", file=sys.stderr)
    return 0


def _by_ending(path: Path | None) -> Format:
    ending = path.suffix.lower() if path is not None else ".md"
    if ending not in _ENDINGS:
        raise UserError(f"Say in which form: --{', --'.join(FORMATS)}.", exit_code=USAGE)
    return _ENDINGS[ending]


def write_export(path: Path, text: str) -> None:
    """Write a file that nobody else can read, until its owner says otherwise."""
    try:
        with open(
            path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)
        ) as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
