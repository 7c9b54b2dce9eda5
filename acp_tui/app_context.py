"""What all conversations of one run of acp-tui share: settings, permission rules and the session store."""

from __future__ import annotations

import logging
import os
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import mcp, mcp_sources
from acp_tui.config.agent_catalogue import Launch, known_agents, launch_from_command, resolve_launch
from acp_tui.config.own_files import MAX_RECORDED_BYTES
from acp_tui.config.paths import paths, write_private
from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.config.settings import Settings, load
from acp_tui.controller import Conversation, Options
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.store import prune
from acp_tui.store.drafts_and_history import Drafts, History, MessageHistory, SavedComments
from acp_tui.store.folder_trust import FolderTrust
from acp_tui.store.redaction import redact_value
from acp_tui.store.secret_patterns import MASK
from acp_tui.store.session_folder import (
    NullFolder,
    SessionFolder,
    create_session_folder,
    reopen_session_folder,
)
from acp_tui.store.stored_sessions import StoredSession, find_session, list_sessions, read_session
from acp_tui.workspace.git.repository import branch_name

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.session.record import Record

log = logging.getLogger(__name__)


class ProjectHistory:
    """The prompt history of one project."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.entries = history.entries

    def add(self, text: str) -> None:
        """Save a prompt that was sent. A write error is logged, not raised."""
        try:
            self._history.add(text, time.time())
        except OSError as error:
            log.warning("A prompt could not be saved in the history: %s", error)


class SentMessages:
    """The messages to agents that the user wrote earlier, with `SESSION` in place of the session's id."""

    def __init__(self) -> None:
        self._history = MessageHistory(paths().state)
        self.entries = self._history.entries

    def add(self, frame: dict[str, Any], session_id: str | None) -> None:
        """Save a message that was sent. A write error is logged, not raised."""
        from acp_tui.wire.client_methods import without_session

        try:
            self._history.add(without_session(frame, session_id), time.time())
        except OSError as error:
            log.warning("A message by hand could not be saved in the history: %s", error)


@dataclass(slots=True)
class AppContext:
    """The settings, permission rules and session store of one run of acp-tui."""

    settings: Settings
    rule_store: RuleStore = field(default_factory=RuleStore)
    notices: list[str] = field(default_factory=list)
    """Non-fatal problems, one sentence each, to be shown to the user."""
    _drafts: Drafts = field(default_factory=lambda: Drafts(paths().state))
    _comments: SavedComments = field(default_factory=lambda: SavedComments(paths().state))

    @classmethod
    def open(cls, cwd: Path) -> AppContext:
        """Create the context with the settings that apply in the folder `cwd`."""
        context = cls(load(cwd))
        context.rule_store.catalogue = lambda: known_agents(context.settings)
        return context

    def launch(self, agent: str | None, program: str | None = None) -> Launch:
        """Return how to start the command line `program`, or the agent named `agent`, or the default agent.

        Raises `UserError` if neither argument is given and the settings name no default agent.
        """
        if program is not None:
            return launch_from_command(program)
        name = agent or self.settings.agent
        if name is None:
            raise UsageError("Name an agent; `acp-tui agents` lists all known agents.")
        return resolve_launch(name, self.settings)

    def launch_for_resume(self, stored: StoredSession, agent: str | None, program: str | None) -> Launch:
        """Return how to start the agent of a recorded session in order to resume the session.

        `agent` and `program` are the agent's name and command line if the user gave them. Raises
        `UserError` if they denote an agent other than the session's.
        """
        recorded_agent = stored.text("agent")
        command = stored.meta.get("command")
        command = [str(word) for word in command] if isinstance(command, list) else []
        ad_hoc = bool(command) and stored.meta.get("ad_hoc") is True
        if program is not None:
            launch = self.launch(None, program)
            if command and redact_value(launch.command) != redact_value(command):
                agent = shlex.join(command) if ad_hoc else recorded_agent
                raise UserError(f"The session {stored.id} belongs to {agent}, not to {program}.")
            return launch
        if agent is not None and (ad_hoc or agent != recorded_agent):
            other = shlex.join(command) if agent == recorded_agent else recorded_agent
            raise UserError(f"The session {stored.id} belongs to {other}, not to {agent}.")
        if not ad_hoc:
            return self.launch(recorded_agent)
        if any(MASK in word for word in command):
            raise UserError(
                f"The command of session {stored.id} contained a secret, which was not recorded. "
                "To resume the session, pass this command to --command, with the secret filled in: "
                f"{shlex.join(command)}"
            )
        return self.launch(None, shlex.join(command))

    def servers(self, files: Sequence[Path]) -> list[Server]:
        found = list(self.settings.mcp_servers)
        for file in files:
            found += mcp.with_states(mcp_sources.from_json_file(file), self.settings.mcp_states)
        return found

    def stored(self, reference: str, *, must_exist: bool = False) -> StoredSession | None:
        """Find a recorded session by acp-tui's id for it, the beginning of that id, or the agent's id for it.

        Returns None for an unknown id, because the agent might have a session with that id; with
        `must_exist`, raises `UserError` instead. Also raises `UserError` if several of acp-tui's ids begin
        with `reference`.
        """
        recorded = list_sessions(paths().data)
        for session in recorded:
            if session.text("session_id") == reference:
                return session
        if must_exist or any(session.id.startswith(reference) for session in recorded):
            return find_session(paths().data, reference)
        return None

    def conversation(
        self,
        launch: Launch,
        options: Options,
        *,
        keep_log: bool = True,
        resumed: StoredSession | None = None,
        fork: bool = False,
    ) -> Conversation:
        """Create a conversation.

        If a session is `resumed`, the conversation is recorded in the folder of that session, otherwise in a
        new folder. With `fork`, it is recorded in a new folder whose log begins with a copy of the session's
        log. Nothing is recorded if `keep_log` is false, if recording is off in the settings, or if the new
        folder cannot be created.
        """
        past: Iterable[Record] = resumed.records() if resumed is not None else ()
        folder = (
            self._folder(launch, options, resumed, fork=fork)
            if keep_log and self.settings.log.enabled
            else NullFolder()
        )
        if fork and resumed is not None and folder.id is not None:
            with suppress(OSError):
                self._comments.save(folder.id, self._comments.load(resumed.id))
        return Conversation(
            launch,
            options,
            self.settings,
            folder,
            rule_store=self.rule_store,
            past=past,
            forked=resumed if fork or folder.path is None else None,
        )

    def is_trusted(self, folder: Path) -> bool:
        """Return True if the user has declared a folder as trusted."""
        return FolderTrust(paths().state).folder(folder).trusted is True

    def history(self, project: Path) -> ProjectHistory:
        return ProjectHistory(History(paths().state, str(project)))

    def draft(self, conversation: Conversation) -> str:
        """Return the unsent prompt of a conversation; an empty string if there is none."""
        return self._drafts.load(conversation.folder.id) if conversation.folder.id else ""

    def save_draft(self, conversation: Conversation, text: str) -> None:
        """Save the unsent prompt of a conversation. Raises `UserError` if the prompt cannot be written."""
        if conversation.folder.id:
            with os_errors_reported("The draft cannot be saved"):
                self._drafts.save(conversation.folder.id, text)

    def load_comments(self, conversation: Conversation) -> None:
        """Load the unsent review comments of a conversation into its review."""
        from acp_tui.review.comments import comments_from_json

        if conversation.folder.id:
            conversation.review.comments = comments_from_json(self._comments.load(conversation.folder.id))

    def save_comments(self, conversation: Conversation) -> None:
        """Save the review comments of a conversation. Raises `UserError` if they cannot be written."""
        from acp_tui.review.comments import comments_to_json

        if conversation.folder.id:
            with os_errors_reported("The review comments cannot be saved"):
                self._comments.save(conversation.folder.id, comments_to_json(conversation.review.comments))

    def branch(self, folder: Path) -> str | None:
        """Return the git branch or commit that is checked out in a folder; None if it is unknown."""
        return branch_name(folder)

    def export(self, conversation: Conversation, form: str, theme: str) -> Path:
        """Export a conversation to a file and return the file's path. `form` is one of `export.FORMATS`."""
        if conversation.folder.path is None:
            raise UserError("This conversation is not recorded, so there is nothing to export.")
        return self.export_stored(read_session(conversation.folder.path), conversation.cwd, form, theme)

    def export_stored(self, stored: StoredSession, cwd: Path, form: str, theme: str) -> Path:
        """Export a recorded session to a file and return the file's path.

        `cwd` is the folder in which the session worked. Relative paths in the session start there.
        """
        from acp_tui.export import export
        from acp_tui.export.document import SessionMetadata

        path = paths().data / "exports" / f"{stored.id}.{form}"
        metadata, is_sensitive = SessionMetadata.from_folder(stored), self.is_sensitive_in(cwd)
        with os_errors_reported(f"{path} cannot be written"):
            text = export(stored.records(), form, metadata, theme=theme, is_sensitive=is_sensitive)
            write_private(path, text)
        return path

    def is_sensitive_in(self, cwd: Path) -> Callable[[str], bool]:
        """Return a function that tells whether the contents of a path must not be logged or exported.

        The function resolves relative paths from `cwd`. For a symbolic link it also checks the target.
        """
        patterns = tuple(self.settings.workspace.sensitive)

        def is_sensitive(path: str) -> bool:
            real = path
            with suppress(OSError, ValueError):  # an agent may send any text as a path
                real = os.path.realpath(cwd / path)
            return any(holds_secrets(name, patterns) for name in {path, real})

        return is_sensitive

    def prune(self) -> None:
        """Delete the oldest recorded sessions, and copies of files, that exceed the limits in the settings.

        Sessions in use stay, and sessions with a worktree, a draft, queued prompts or review comments.
        """
        limits, copies = self.settings.log, self.settings.workspace
        prune.prune(paths().data, paths().state, keep=limits.keep_sessions, max_bytes=limits.keep_bytes)
        prune.prune_baselines(
            paths().data,
            days=copies.keep_baseline_days,
            max_bytes=copies.keep_baseline_bytes,
            now=time.time(),
        )

    def _folder(
        self, launch: Launch, options: Options, resumed: StoredSession | None, *, fork: bool
    ) -> SessionFolder | NullFolder:
        is_sensitive = self.is_sensitive_in(options.cwd)
        max_bytes = min(self.settings.log.max_session_bytes, MAX_RECORDED_BYTES)
        if resumed is not None and not fork:
            return reopen_session_folder(resumed, is_sensitive=is_sensitive, max_bytes=max_bytes)
        try:
            return create_session_folder(
                paths().data,
                agent=launch.name,
                title=launch.title,
                cwd=str(options.cwd),
                command=launch.command,
                ad_hoc=launch.ad_hoc,
                is_sensitive=is_sensitive,
                max_bytes=max_bytes,
                worktree=options.worktree.to_dict() if options.worktree is not None else None,
                forked=resumed,
            )
        except UserError as error:  # the user can work without a log, for example on a full disk
            self.notices.append(str(error))
            return NullFolder()
