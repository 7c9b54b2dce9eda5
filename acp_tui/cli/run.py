"""`acp-tui AGENT`: a conversation on the screen."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from acp_tui.cli.options import add_agent_options, add_session_options, agent_and_prompt
from acp_tui.cli.screen import add_theme_option, need_a_terminal, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from acp_tui.cli.holding import Held
    from acp_tui.controller import Asker
    from acp_tui.ui.app import AcpTui


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT]", help="the agent, and what to ask it first"
    )
    add_agent_options(parser, policy="ask")
    add_session_options(parser)
    add_theme_option(parser)


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    need_a_terminal("`acp-tui exec` works without")
    gc.disable()  # until the first frame: collecting while modules are loaded is a tenth of the start
    made: list[Held] = []
    code = show(app_for(args, made.append))
    if code == 0:
        for held in made:
            _say_how_to_go_on(held)
    return code


def app_for(args: argparse.Namespace, made: Callable[[Held], None] = lambda _: None) -> AcpTui:
    """The app that a command line wants. `made` gets the conversation, once there is one."""
    agent, prompt = agent_and_prompt(args.words, args.program, needed=not args.resume)

    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.screens.conversation import ConversationScreen

    def make(asker: Asker) -> Held:
        from acp_tui.cli.holding import Held

        held = Held(args, agent, policy="ask", asker=asker, terminal_sign_in=True)
        made(held)
        return held

    program = (args.program or "").split()
    name = agent or (program[0].rpartition("/")[2] if program else "the agent")
    return AcpTui(
        lambda palette: ConversationScreen(make, name, palette, first_prompt=prompt), theme=args.theme
    )


def _say_how_to_go_on(held: Held) -> None:
    conversation = held.conversation
    if conversation.folder.id and conversation.session.turn:
        print(f"To go on with this conversation: acp-tui --resume {conversation.folder.id}")
