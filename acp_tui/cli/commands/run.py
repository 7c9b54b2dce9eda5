"""`acp-tui [AGENT]`: a conversation on the screen, or the list of those one can have."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import add_agent_options, add_session_options, agent_and_prompt
from acp_tui.cli.screen_runner import ScreenFailedError, add_theme_option, need_a_terminal, show
from acp_tui.config import early_settings
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.cli.conversation_setup import Held
    from acp_tui.controller import QuestionHandler
    from acp_tui.launcher_choices import LauncherChoices
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.theme.palette import Palette


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT]", help="the agent, and what to ask it first"
    )
    add_agent_options(parser, policy="ask")
    add_session_options(parser)
    add_theme_option(parser)
    parser.add_argument(
        "--choose", action="store_true", help="choose from a list, also where an agent is set to be started"
    )


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    need_a_terminal("`acp-tui exec` works without")
    from acp_tui.ui.conversation import gc_control

    gc_control.pause()  # until the first screen has begun
    made: list[Held] = []
    try:
        code = show(app_for(args, made.append))
    except ScreenFailedError as error:
        commands = [f" Resume with: acp-tui --resume {held.conversation.folder.id}." for held in made]
        raise UserError(f"{error}{commands[-1] if commands else ''}", exit_code=error.exit_code) from error
    if code == 0:
        for held in made:
            _say_how_to_go_on(held)
    return code


def app_for(args: argparse.Namespace, made: Callable[[Held], None] = lambda _: None) -> AcpTui:
    """The app that a command line wants. `made` gets the conversations, once there are any."""
    agent, prompt = agent_and_prompt(args.words, args.program, needed=False)
    wishes = early_settings.read(Path(args.cwd or "."))
    by_project = False
    if agent is None and args.program is None and not args.resume and not args.choose:
        agent, by_project = _default_agent(wishes)

    from acp_tui.ui.app import AcpTui

    launcher = partial(_launcher, args, made)
    known_agents = agent is not None or args.program is not None or args.resume
    conversation = partial(_conversation, args, made, agent, prompt, chosen_by_project=by_project)
    start = conversation if known_agents else launcher
    return AcpTui(start, theme=args.theme, wishes=wishes, launcher=launcher)


def _default_agent(wishes: early_settings.EarlySettings) -> tuple[str | None, bool]:
    """The agent that starts when none is named, and whether the project's settings chose it.

    A project chooses among the installed agents only: others would be downloaded and run.
    """
    if wishes.agent == wishes.own_agent:
        return wishes.agent, False
    from acp_tui.agents.catalogue import known_agents
    from acp_tui.config.settings import load

    agent = known_agents(load(wishes.cwd)).get(wishes.agent or "")
    if agent is None or not agent.is_installed:
        return wishes.own_agent, False
    return agent.name, True


def _conversation(
    args: argparse.Namespace,
    made: Callable[[Held], None],
    agent: str | None,
    prompt: str | None,
    palette: Palette,
    *,
    chosen_by_project: bool = False,
) -> BaseScreen:
    """The screen on which it is held."""
    from acp_tui.ui.screens.conversation import ConversationScreen

    helds: list[Held] = []

    def make(question_handler: QuestionHandler) -> Held:
        from acp_tui.cli.conversation_setup import Held

        held = Held(
            args,
            agent,
            policy="ask",
            question_handler=question_handler,
            terminal_sign_in=True,
            welcome=prompt is None,
            chosen_by_project=chosen_by_project,
        )
        helds.append(held)
        made(held)
        return held

    def new_session(palette: Palette) -> BaseScreen:
        """The same agent in the same folder, whether it was named, chosen or resumed."""
        given: dict[str, Any] = {"resume": None}
        named = agent
        if helds:
            launch = helds[-1].conversation.launch
            given["cwd"] = str(helds[-1].conversation.cwd)
            if args.program is None and launch.ad_hoc:
                given["program"] = shlex.join(launch.command)
            elif args.program is None:
                named = launch.name
        return _conversation(argparse.Namespace(**(vars(args) | given)), made, named, None, palette)

    program = (args.program or "").split()
    name = agent or (program[0].rpartition("/")[2] if program else "the agent")
    return ConversationScreen(make, name, palette, first_prompt=prompt, new_session=new_session)


def _launcher(args: argparse.Namespace, made: Callable[[Held], None], palette: Palette) -> BaseScreen:
    """The screen on which one is chosen."""
    from acp_tui.ui.screens.launcher import LauncherScreen

    folder = Path(args.cwd or ".").absolute()

    def read() -> LauncherChoices:
        from acp_tui.launcher_choices import load_choices

        found = load_choices(folder)
        import acp_tui.ui.screens.conversation  # noqa: F401  # one of them is going to be wanted

        return found

    def start(palette: Palette, agent: str | None, session: str | None) -> BaseScreen:
        """The options of the command line hold for any agent; a session is gone on with in its own folder."""
        chosen: dict[str, Any] = {"program": None, "resume": session}
        if session is not None:
            chosen |= {"cwd": None, "add_dir": []}
        given = argparse.Namespace(**(vars(args) | chosen))
        return _conversation(given, made, agent, None, palette)

    return LauncherScreen(palette, read, start, folder)


def _say_how_to_go_on(held: Held) -> None:
    folder, session = held.conversation.folder, held.conversation.session
    if not (folder.id and session.turn):
        return
    if session.agent is not None and session.agent.can_resume:
        print(f"To go on with this conversation: acp-tui --resume {folder.id}")
    else:
        print(f"To look at this conversation again: acp-tui replay {folder.id}")
