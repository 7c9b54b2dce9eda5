"""Creates a conversation from command line arguments: agent, workspace, permissions and session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.cli.options import apply_remote_options
from acp_tui.cli.project_trust import ProjectTrust, mcp_servers_named, workspace_question
from acp_tui.config.mcp_sources import DEMO_AGENT, demo_server
from acp_tui.config.paths import paths
from acp_tui.config.validators import POLICIES, PROTOCOLS, Policy, ProtocolChoice
from acp_tui.controller import (
    Conversation,
    Options,
    QuestionHandler,
    leave_unasking_mode,
    set_defaults,
    set_mode,
    set_option,
)
from acp_tui.errors import UsageError, UserError
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.session.events import Noticed
from acp_tui.store.log_file import log_to_file
from acp_tui.workspace.git.worktree import Worktree, WorktreeLock

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.guarded_question import GuardedQuestion, StartAnswer
    from acp_tui.store.stored_sessions import StoredSession

REMOTE_FOLDER = "remote_folder"
"""The field of a recorded session with its folder on the agent's machine."""
WELCOME = (
    "The demo agent is a script: it needs no model, no API key and no network. "
    'Type "tour" and press Enter for a demonstration; / lists its other commands.'
)


def wants_worktree(args: argparse.Namespace) -> bool:
    """Return True if --worktree or --worktree-name is given; False if the command has no such options."""
    return bool(getattr(args, "worktree", False) or getattr(args, "worktree_name", None))


def conversation_worktree(
    args: argparse.Namespace, context: AppContext, agent: str, stored: StoredSession | None
) -> tuple[Worktree | None, list[str]]:
    """Return the worktree in which a conversation works, if any, and notices for the user about the worktree.

    A resumed session returns to its worktree, unless --cwd names another folder. Blocks. Raises `UserError`.
    """
    if (inherited := getattr(args, "inherited_worktree", None)) is not None:
        return _restored(inherited)
    if args.resume:
        if wants_worktree(args):
            raise UserError("A resumed session stays in its folder: --worktree is for new sessions.")
        saved = Worktree.from_meta(stored.meta, paths().data) if stored is not None else None
        return _restored(saved) if saved is not None and _is_in(args.cwd, saved) else (None, [])
    if not wants_worktree(args):
        return None, []
    from acp_tui.workspace.git.worktree_creation import create_worktree

    folder = Path(args.cwd or ".").absolute()
    created = create_worktree(
        folder,
        paths().data,
        agent=getattr(args, "branch_label", None) or agent,
        name=args.worktree_name,
        trusted=args.trust_folder or context.is_trusted(folder),
    )
    created_note = (
        f"The agent works in a worktree on the branch {created.worktree.branch}: {created.worktree.path}"
    )
    return created.worktree, [created_note, *created.notices]


def _is_in(folder: Path | None, worktree: Worktree) -> bool:
    """Return True if `folder` is None, the agent's folder in the worktree, or the project folder."""
    places = (worktree.folder.resolve(), worktree.project_folder.resolve())
    return folder is None or folder.resolve() in places


def _restored(saved: Worktree) -> tuple[Worktree, list[str]]:
    """Return the saved worktree. If it was removed, create it again and also return a note for the user."""
    if saved.path.is_dir():
        if not saved.folder.is_dir():
            raise UserError(f"The folder of this session no longer exists in its worktree: {saved.folder}.")
        return saved, []
    from acp_tui.workspace.git.worktree_creation import restore_worktree

    note = f"The worktree of this session was restored on the branch {saved.branch}: {saved.path}"
    return restore_worktree(saved), [note]


class ConversationSetup:
    """Creates a conversation from a command line, and opens the session. The caller starts the agent."""

    def __init__(
        self,
        args: argparse.Namespace,
        agent: str | None,
        *,
        policy: Policy,
        question_handler: QuestionHandler | None = None,
        terminal_sign_in: bool = False,
        welcome: bool = False,
        chosen_by_project: bool = False,
        fork: bool = False,
        title: str = "",
    ) -> None:
        log_to_file()
        self._args = args
        self._fork = fork  # open a copy of the session given by --resume
        self._policy = policy  # if neither the arguments nor the settings name one
        self._question_handler = question_handler
        self._terminal_sign_in = terminal_sign_in
        self._welcome = welcome  # show a hint in a new demo session
        self.app_context = AppContext.open(Path(args.cwd or "."))
        if choice := getattr(args, "local_choice", None):
            self.app_context.settings.local = self.app_context.settings.local.choose(**choice)
        named = agent is not None or args.program is not None
        self._stored = self.app_context.stored(args.resume, must_exist=not named) if args.resume else None
        if self._stored is not None:
            launch = self.app_context.launch_for_resume(self._stored, agent, args.program)
        else:
            launch = self.app_context.launch(agent, args.program)
        launch.protocol = args.protocol or self._stored_protocol() or launch.protocol
        if self._stored is not None and launch.has_remote_files:
            launch.folder = self._stored.text(REMOTE_FOLDER) or launch.folder
        apply_remote_options(args, launch)
        if launch.has_remote_files and wants_worktree(args):
            raise UsageError("--worktree is not possible: the agent's files are on another machine.")
        self._demo_servers = (
            [demo_server(self.app_context.settings.mcp_states)] if launch.name == DEMO_AGENT else []
        )
        self._is_new = False  # the session was opened as a new one, so it has no settings of its own
        self._notices: list[Noticed] = []
        self._options = self._make_options(launch)
        self.conversation: Conversation = self.app_context.conversation(
            launch, self._options, keep_log=not args.no_log, resumed=self._stored, fork=fork
        )
        if launch.has_remote_files:
            self.conversation.folder.update_meta(**{REMOTE_FOLDER: self.conversation.session_folder})
        if launch.protocol != "1":
            self.conversation.folder.update_meta(protocol=launch.protocol)
        if title and not self.conversation.folder.meta.get("title"):  # the title in the agent's list
            self.conversation.folder.update_meta(title=title)
        worktree = self._options.worktree
        self.worktree_lock = WorktreeLock(worktree.path) if worktree is not None else None
        """Keeps other processes from removing the worktree."""
        self.worktree_passed_on = False
        """Whether a new session continues in the worktree, which therefore must not be removed."""
        self.closing_notes: list[str] = []
        """Sentences to print when acp-tui ends."""
        self.project = ProjectTrust(
            self.conversation.cwd,
            launch,
            list(self._options.servers),
            states=self.app_context.settings.mcp_states,
            chose_agent=chosen_by_project,
            trusted_as=self.conversation.project_folder,
        )
        self.when_closed: Callable[[], None] = lambda: None
        """Called when the user has closed this conversation but the app keeps running."""
        self._notices += [Noticed("warning", problem) for problem in self.project.problems]
        if args.trust_folder:
            self.project.trust_all()
            self.use_project_servers()
            self._note_given("because of --trust-folder")

    def _stored_protocol(self) -> ProtocolChoice | None:
        """Return the version of the protocol that the resumed session was started with, if it was chosen."""
        stored = self._stored.text("protocol") if self._stored is not None else None
        return next((version for version in PROTOCOLS if version == stored), None)

    def start_questions(self) -> Iterator[GuardedQuestion[StartAnswer]]:
        """Yield, one by one, the questions that the user must answer before the agent starts."""
        if (question := workspace_question(self.conversation.cwd)) is not None:
            yield question
        if not self._args.trust_folder:
            yield from self.project.questions()
            self.use_project_servers()
            self._note_given("because of your approval for this folder")

    def use_project_servers(self) -> None:
        """Give the agent the project's approved MCP servers.

        Servers from --mcp-config take precedence over them.
        """
        given = len(self._demo_servers) + len(self.app_context.settings.mcp_servers)
        self._options.servers[given:given] = self.project.servers
        self._options.withheld_servers += self.project.withheld

    def _note_given(self, reason: str) -> None:
        if names := [server.name for server in self.project.servers]:
            sentence = f"Given to the agent {reason}: {mcp_servers_named(names)}."
            self._notices.append(Noticed("info", sentence))

    def take_notices(self) -> list[str]:
        """Remove and return the notices collected so far, so that `open` does not repeat them."""
        taken, self._notices = self._notices, []
        return [notice.text for notice in taken]

    async def open(self) -> None:
        """Open a new session, or resume or fork the one given by --resume. The agent must be running."""
        while self._notices:
            self.conversation.note(self._notices.pop(0))
        if self._stored is not None:
            session_id = self._stored.text("session_id")
            if session_id is None:  # the recorded run ended before the agent had opened a session
                self._is_new = True
                await self.conversation.open_new()
            elif self._fork:
                await self.conversation.open_fork(session_id)
            elif self.conversation.session.prompts:
                await self.conversation.open_known(session_id)
            else:  # there may only be a draft, and many agents save no session without a prompt
                await self.conversation.open_again()
        elif self._args.resume:
            await self.conversation.open_known(self._args.resume)
        else:
            self._is_new = True
            await self.conversation.open_new()
            if self._welcome and self.conversation.launch.name == DEMO_AGENT:
                self.conversation.note(Noticed("info", WELCOME))

    async def apply_options(self, failed: Callable[[UserError], None] | None = None) -> None:
        """Set the mode and the options given on the command line, in an open session.

        `failed` is called with each error; if `failed` is None, the first error is raised. A new session
        first gets the agent's defaults from the settings. A default that cannot be set is reported in the
        conversation.
        """
        if self._is_new:
            await self._set_defaults()
        changes: list[Callable[[Conversation], Awaitable[None]]] = []
        if self._args.mode:
            changes.append(partial(set_mode, wanted=self._args.mode))
        changes += [partial(set_option, key=key, value=value) for key, value in self._args.set]
        for change in changes:
            try:
                await change(self.conversation)
            except UserError as error:
                if failed is None:
                    raise
                failed(error)

    async def _set_defaults(self) -> None:
        """Set the default mode and options that the settings contain for this agent."""
        launch = self.conversation.launch
        agent = None if launch.ad_hoc else self.app_context.settings.agents.get(launch.name)
        modes = [self._args.mode, agent.mode if agent is not None else None]
        if not any(modes):
            await self._leave_unasking_mode()
        if agent is None:
            return
        given = [key for key, _ in self._args.set] + (["mode"] if self._args.mode else [])
        async for error in set_defaults(self.conversation, agent, given):
            where = str(agent.file) if agent.line is None else f"{agent.file}:{agent.line}"
            words = f"A default in the settings could not be applied: {error}"
            self.conversation.note(Noticed("warning", words, detail=where))

    async def _leave_unasking_mode(self) -> None:
        try:
            await leave_unasking_mode(self.conversation)
        except UserError as error:
            self.conversation.note(Noticed("warning", f"The agent's mode could not be changed: {error}"))

    def _make_options(self, launch: Launch) -> Options:
        args, stored = self._args, self._stored
        cwd: Path | str | None = args.cwd
        directories = [path.absolute() for path in args.add_dir]
        if stored is not None:
            cwd = cwd or stored.text("cwd")
            directories = directories or [Path(path) for path in stored.meta.get("directories") or []]
        elif cwd is None and launch.name == DEMO_AGENT and not wants_worktree(args):
            from acp_tui.demo.sample_project import make_project

            cwd = make_project()
        rules = [parse_spec(text, "allow") for text in args.allow]
        rules += [parse_spec(text, "reject") for text in args.reject]
        policy = args.policy or self.app_context.settings.policy
        servers = [*self._demo_servers, *self.app_context.servers(args.mcp_config)]
        worktree, notices = conversation_worktree(args, self.app_context, launch.name, stored)
        self._notices += [Noticed("info", notice) for notice in notices]
        return Options(
            cwd=worktree.folder if worktree is not None else Path(cwd or ".").absolute(),
            directories=[*self.app_context.settings.workspace.additional_directories, *directories],
            policy=next((known for known in POLICIES if known == policy), self._policy),
            run_rules=rules,
            servers=servers,
            question_handler=self._question_handler,
            can_rewind=self._question_handler is not None,
            terminal_sign_in=self._terminal_sign_in,
            worktree=worktree,
        )
