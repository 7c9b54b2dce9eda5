"""`acp-tui AGENT`: a conversation on the screen."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from acp_tui.cli.options import USAGE, add_agent_options, agent_and_prompt
from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse

    from acp_tui.controller import Asker
    from acp_tui.ui.engine import Held


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT]", help="the agent, and what to ask it first"
    )
    add_agent_options(parser)
    parser.add_argument("--resume", metavar="ID", help="go on with a session: by our id or the agent's")
    parser.add_argument("--theme", metavar="NAME", default="dark", help="the colours: dark or light")


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    agent, prompt = agent_and_prompt(args.words, args.program, needed=not args.resume)
    need_a_terminal()
    gc.disable()  # until the first frame: collecting while modules are loaded is a tenth of the start

    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.screens.conversation import ConversationScreen

    def make(asker: Asker) -> Held:
        from acp_tui.cli.holding import Held as Made

        return Made(args, agent, policy="ask", asker=asker, terminal_sign_in=True)

    name = agent or (args.program.split()[0].rpartition("/")[2] if args.program else "the agent")
    app = AcpTui(
        lambda palette: ConversationScreen(make, name, palette, first_prompt=prompt), theme=args.theme
    )
    return app.run() or 0


def need_a_terminal() -> None:
    """The screen cannot be drawn into a file, nor on a terminal that knows nothing."""
    if sys.platform == "win32":
        raise UserError("on Windows acp-tui runs inside WSL: install and start it there.", exit_code=USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(
            "the screen needs a terminal for input and output; `acp-tui exec` works without.", exit_code=USAGE
        )
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UserError(
            "this terminal cannot show a screen (TERM=dumb); `acp-tui exec` works without.", exit_code=USAGE
        )
