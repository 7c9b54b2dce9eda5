"""What every command that opens a screen shares."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from acp_tui.cli.options import USAGE
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse


def add_theme_option(parser: argparse.ArgumentParser) -> None:
    """Which colours."""
    parser.add_argument(
        "--theme", metavar="NAME", default="dark", help="the colours: dark, light, or a theme of your own"
    )


def need_a_terminal(instead: str) -> None:
    """The screen cannot be drawn into a file, nor on a terminal that knows nothing."""
    if sys.platform == "win32":
        raise UserError("on Windows acp-tui runs inside WSL: install and start it there.", exit_code=USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"the screen needs a terminal for input and output; {instead}.", exit_code=USAGE)
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UserError(f"this terminal cannot show a screen (TERM=dumb); {instead}.", exit_code=USAGE)
