"""`acp-tui [AGENT]`: opens interactive sessions, the launcher or the list of sessions."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shlex
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.options import (
    add_agent_options,
    add_session_options,
    add_worktree_options,
    agent_and_prompt,
)
from acp_tui.cli.screen_runner import ScreenFailedError, add_theme_option, require_terminal, run_app
from acp_tui.config import early_settings
from acp_tui.config.paths import paths
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.open_tabs import OpenTabsFile, SavedTab, take_open_tabs
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import read_session, sessions_directory
from acp_tui.workspace.git.worktree import BRANCH_PREFIX

if TYPE_CHECKING:
    from acp_tui.cli.conversation_setup import ConversationSetup
    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.controller import QuestionHandler
    from acp_tui.session_list.launcher_choices import LauncherChoices
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.conversation.earlier_conversation import PromptDraft
    from acp_tui.ui.dialogs.base_screen import BaseScreen, TextPlace
    from acp_tui.ui.screens.sessions.session_actions import SessionToOpen

INDEX_DELAY_SECONDS = 15.0
"""Seconds from the start of the app to the update. By then the first frame is drawn and the agent runs."""
log = logging.getLogger(__name__)


def earlier_tabs(folder: Path, following: OpenTabsFile) -> list[SavedTab]:
    """Take the tabs that the latest run in a folder left open, each with the title of its session.

    Tabs in which nothing was done, tabs whose worktree was merged or discarded, and tabs that cannot be
    reopened are left out. The tabs are saved as
    those of the `following` run at once, so that none is lost if that run is killed while it starts.
    """
    return reopenable(take_open_tabs(paths().state, folder, following.save))


def reopenable(saved: Sequence[SavedTab]) -> list[SavedTab]:
    """Return the tabs that `--continue` would open, each with the title of its session."""
    unsent = UnsentWork(paths().state)
    titled = [replace(tab, title=_title(tab, unsent)) for tab in saved]
    return [tab for tab in titled if tab.title]


def active_index(tabs: list[SavedTab]) -> int:
    """Return the index of the tab that the user saw last; 0 if that tab is not in `tabs`."""
    return next((index for index, tab in enumerate(tabs) if tab.active), 0)


def _title(tab: SavedTab, unsent: UnsentWork) -> str:
    """Return the title of a tab; an empty string if the tab should not be reopened."""
    path = sessions_directory(paths().data) / tab.session
    if not path.is_dir():
        return ""
    session = read_session(path)
    if session.is_worktree_finished or (session.in_use() and not session.is_closing()):
        return ""
    return session_title(session, unsent).strip().removeprefix(BRANCH_PREFIX)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="AGENT [PROMPT]", help="name of the agent, and the first prompt"
    )
    add_agent_options(parser, policy="ask")
    choice = add_screen_options(parser)
    choice.add_argument("--pick", action="store_true", help="choose one of this folder's sessions to resume")
    choice.add_argument(
        "--choose", action="store_true", help="show the list of agents even if a default agent is set"
    )


def add_screen_options(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options of a session on the screen. Return the group of those that resume a session."""
    choice = add_session_options(parser)
    add_worktree_options(parser)
    add_theme_option(parser)
    return choice


def default_arguments() -> argparse.Namespace:
    """Return the default arguments, as parsed from an empty command line."""
    parser = argparse.ArgumentParser()
    configure(parser)
    return parser.parse_args([])


def run(args: argparse.Namespace) -> int:
    """Run the app and return the exit code."""
    require_terminal("`acp-tui exec` works without a terminal")
    return run_screen(partial(app_for, args))


def run_sessions(args: argparse.Namespace) -> int:
    """Run the app with the list of recorded sessions, and return the exit code."""
    return run_screen(partial(sessions_app, args))


def run_screen(make_app: Callable[[Callable[[ConversationSetup], None]], AcpTui]) -> int:
    from acp_tui.ui.terminal import gc_control

    gc_control.pause()  # until the first screen is up
    created: list[ConversationSetup] = []

    def add(setup: ConversationSetup) -> None:
        created.append(setup)
        setup.when_closed = partial(created.remove, setup)

    app = make_app(add)
    try:
        code = run_app(app, index_upkeep())
    except ScreenFailedError as error:
        commands = [f" Resume with `acp-tui --resume {setup.conversation.folder.id}`." for setup in created]
        raise UserError(f"{error}{commands[-1] if commands else ''}", exit_code=error.exit_code) from error
    if code == 0:
        for setup in created:
            for note in setup.closing_notes:
                print(escape_line(note))
            _print_resume_hint(setup)
        for tab in app.tabs:
            if tab.screen.closing_note:
                print(escape_line(tab.screen.closing_note))
        if app.tabs.saved is not None:
            _print_continue_hint(app.tabs.saved)
    return code


def app_for(
    args: argparse.Namespace, on_created: Callable[[ConversationSetup], None] = lambda _: None
) -> AcpTui:
    """Return the app for these arguments. `on_created` is called with the setup of each conversation."""
    agent, prompt = agent_and_prompt(args.words, args.program, needed=False)
    if args.pick and (agent or args.program):
        raise UsageError("--pick lists the sessions of all agents, so no agent can be given.")
    folder = Path(args.cwd or ".").absolute()
    settings = early_settings.read(folder)
    is_chosen = bool(agent or args.program or args.resume or args.choose or args.pick)
    may_restore = not is_chosen and (args.continue_latest or settings.restore_tabs)
    open_tabs = OpenTabsFile(paths().state, str(folder))
    tabs = earlier_tabs(folder, open_tabs) if may_restore else []
    if tabs:
        args.resume = tabs[active_index(tabs)].session
    elif args.continue_latest:
        from acp_tui.cli.recordings import latest_session

        args.resume = latest_session(args.cwd, agent, args.program)
    if args.continue_latest or tabs:
        args.cwd = None  # the session is reopened in its own folder, which may be a worktree of `folder`
    chosen_by_project = False
    if agent is None and args.program is None and not (args.resume or args.choose or args.pick):
        agent, chosen_by_project = _default_agent(settings)

    from acp_tui.ui.app import AcpTui

    launcher = partial(launcher_screen, args, on_created)
    has_agent = agent is not None or args.program is not None or args.resume
    conversation = partial(
        conversation_screen,
        changed_arguments(args),
        on_created,
        agent,
        prompt,
        chosen_by_project=chosen_by_project,
    )
    if has_agent and args.worktree_name:  # the name is for the first conversation only
        args.worktree, args.worktree_name = True, None
    sessions = partial(sessions_screen, args, on_created)
    start = conversation if has_agent else sessions if args.pick else launcher
    if tabs:
        start = partial(_restored_tab, tabs[active_index(tabs)], conversation)

    def restored_tabs() -> tuple[list[BaseScreen], list[BaseScreen]]:
        if not tabs:
            return [], []
        from acp_tui.ui.screens.sessions.session_actions import SessionToOpen
        from acp_tui.ui.tabs.tabs import RestoredScreen

        at = active_index(tabs)
        open_session = partial(_stored_conversation, args, on_created)
        screens: list[BaseScreen] = [
            RestoredScreen(tab, partial(open_session, wanted=SessionToOpen(tab.session))) for tab in tabs
        ]
        return screens[:at], screens[at + 1 :]

    return AcpTui(
        start,
        theme=args.theme,
        settings=settings,
        launcher=launcher,
        sessions=sessions,
        open_tabs=open_tabs,
        restored_tabs=restored_tabs,
    )


def _restored_tab(tab: SavedTab, make: Callable[[], BaseScreen]) -> BaseScreen:
    """Return the screen of a restored tab, with the tab's title from the start."""
    from acp_tui.ui.dialogs.base_screen import TabState

    screen = make()
    screen.tab_state = TabState(escape_line(tab.agent), escape_line(tab.title), session=tab.session)
    return screen


def changed_arguments(args: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**(vars(args) | changes))


def _stored_conversation(
    args: argparse.Namespace,
    on_created: Callable[[ConversationSetup], None],
    wanted: SessionToOpen,
) -> BaseScreen:
    """Return the screen of the session `wanted`, which may be a new one in a worktree without a session.

    The command line's options for agent, folders and worktree are ignored.
    """
    folder = Path(wanted.folder) if wanted.folder is not None else None
    given = changed_arguments(
        args,
        program=wanted.program,
        resume=wanted.session or None,
        cwd=folder,
        inherited_worktree=wanted.worktree,
        add_dir=[],
        worktree=False,
        worktree_name=None,
    )
    screen = conversation_screen(
        given,
        on_created,
        wanted.agent,
        None,
        place=wanted.place,
        fork=wanted.fork,
        title=wanted.title,
    )
    if wanted.title:
        from acp_tui.ui.dialogs.base_screen import TabState

        screen.tab_state = TabState(title=wanted.title)
    return screen


def sessions_app(
    args: argparse.Namespace, on_created: Callable[[ConversationSetup], None] = lambda _: None
) -> AcpTui:
    """Return the app that starts with the list of recorded sessions."""
    from acp_tui.ui.app import AcpTui

    return AcpTui(
        partial(sessions_screen, args, on_created),
        theme=args.theme,
        settings=early_settings.read(Path(args.cwd or ".")),
        launcher=partial(launcher_screen, args, on_created),
        sessions=partial(sessions_screen, args, on_created),
    )


def _default_agent(settings: early_settings.EarlySettings) -> tuple[str | None, bool]:
    """Return the agent to start by default, if any, and whether only the project's settings chose it.

    A project may choose only an installed agent: any other would be downloaded and run. If the user
    chose never to trust the folder, the project's choice is ignored.
    """
    if settings.agent == settings.own_agent:
        return settings.agent, False
    from acp_tui.config.agent_catalogue import known_agents
    from acp_tui.config.paths import paths
    from acp_tui.config.settings import load
    from acp_tui.store.folder_trust import FolderTrust

    agent = known_agents(load(settings.cwd)).get(settings.agent or "")
    is_refused = FolderTrust(paths().state).folder(settings.cwd).trusted is False
    if agent is None or not agent.is_installed or is_refused:
        return settings.own_agent, False
    return agent.name, True


def conversation_screen(
    args: argparse.Namespace,
    on_created: Callable[[ConversationSetup], None],
    agent: str | None,
    prompt: str | None,
    *,
    draft: PromptDraft | None = None,
    place: TextPlace | None = None,
    fork: bool = False,
    title: str = "",
    chosen_by_project: bool = False,
) -> BaseScreen:
    from acp_tui.ui.conversation.conversation_screen import ConversationScreen

    setups: list[ConversationSetup] = []

    def make(question_handler: QuestionHandler) -> ConversationSetup:
        from acp_tui.cli.conversation_setup import ConversationSetup

        setup = ConversationSetup(
            args,
            agent,
            policy="ask",
            question_handler=question_handler,
            terminal_sign_in=True,
            welcome=prompt is None and draft is None,
            chosen_by_project=chosen_by_project,
            fork=fork,
            title=title,
        )
        setups.append(setup)
        on_created(setup)
        return setup

    def new_session(draft: PromptDraft | None) -> BaseScreen:
        """Return the screen of a new session with the agent and the folder of this conversation."""
        given, name = changed_arguments(args, resume=None), agent
        if setups:
            conversation = setups[-1].conversation
            setups[-1].worktree_passed_on = True
            given.cwd, given.inherited_worktree = conversation.cwd, conversation.options.worktree
            given.worktree, given.worktree_name = False, None
            if args.program is None and conversation.launch.ad_hoc:
                given.program = shlex.join(conversation.launch.command)
            elif args.program is None:
                name = conversation.launch.name
        return conversation_screen(given, on_created, name, None, draft=draft)

    program = (args.program or "").split()
    name = agent or (program[0].rpartition("/")[2] if program else "the agent")
    return ConversationScreen(
        make, name, first_prompt=prompt, draft=draft, new_session=new_session, place=place
    )


def launcher_screen(
    args: argparse.Namespace,
    on_created: Callable[[ConversationSetup], None],
    *,
    over: BaseScreen | None = None,
) -> BaseScreen:
    """Return the screen that lists agents and recorded sessions. `over` is the screen beneath, if any."""
    from acp_tui.ui.screens.launcher import LauncherScreen

    folder = Path(args.cwd or ".").absolute()

    def read() -> LauncherChoices:
        from acp_tui.session_list.launcher_choices import load_choices

        choices = load_choices(folder)
        import acp_tui.ui.conversation.conversation_screen  # noqa: F401  # preload: the next screen

        return choices

    def start(agent: str | None, session: str | None, in_worktree: bool) -> BaseScreen:
        """Return the screen for the chosen agent or session, with the command line's options.

        A resumed session ignores the options for agent, folders and worktree. `--worktree-name` applies only
        to the first session in a new worktree.
        """
        from acp_tui.ui.screens.sessions.session_actions import SessionToOpen

        if session is not None:
            return _stored_conversation(args, on_created, SessionToOpen(session))
        given = changed_arguments(args, program=None, resume=None, worktree=in_worktree, worktree_name=None)
        if in_worktree:
            given.worktree_name, args.worktree_name = args.worktree_name, None
        return conversation_screen(given, on_created, agent, None)

    def read_servers() -> tuple[list[Server], list[UnsentServer]]:
        from acp_tui.cli.mcp.server_selection import servers_here

        here = servers_here(args.mcp_config, folder)
        return here.servers, here.withheld

    in_worktree = bool(args.worktree or args.worktree_name)
    return LauncherScreen(read, start, folder, read_servers, over=over, in_worktree=in_worktree)


def sessions_screen(
    args: argparse.Namespace,
    on_created: Callable[[ConversationSetup], None],
    *,
    over: BaseScreen | None = None,
) -> BaseScreen:
    """Return the screen that lists recorded sessions. `over` is the screen beneath, if any."""
    from acp_tui.ui.screens.sessions.sessions_screen import SessionsScreen

    folder = (over.folder if over is not None else "") or args.cwd or "."
    open_session = partial(_stored_conversation, args, on_created)
    return SessionsScreen(Path(folder).absolute(), open_session, over=over)


def _print_continue_hint(saved: OpenTabsFile) -> None:
    """If there were several tabs, print the command that opens them again."""
    if (count := len(reopenable(saved.saved))) > 1:
        elsewhere = saved.folder != os.path.realpath(".")
        where = f" --cwd {shlex.quote(escape_line(saved.folder))}" if elsewhere else ""
        print(f"Open these {count} tabs again with: acp-tui --continue{where}")


def _print_resume_hint(setup: ConversationSetup) -> None:
    folder, session = setup.conversation.folder, setup.conversation.session
    if not (folder.id and session.turn):
        return
    if session.agent is not None and session.agent.can_resume:
        print(f"Resume this conversation with: acp-tui --resume {folder.id}")
    else:
        print(f"Replay this conversation with: acp-tui replay {folder.id}")


@asynccontextmanager
async def index_upkeep() -> AsyncIterator[None]:
    """Update the index once, `INDEX_DELAY_SECONDS` after the block begins. Stop when the block ends."""
    update = asyncio.create_task(_update_later())
    try:
        yield
    finally:
        update.cancel()
        await asyncio.wait([update])


async def _update_later() -> None:
    await asyncio.sleep(INDEX_DELAY_SECONDS)
    from acp_tui.session_list.index_updater import update_in_background

    try:
        await update_in_background(lambda _: None)
    except UserError as error:  # the sessions screen shows it when the user wants to search
        log.warning("%s", error)
