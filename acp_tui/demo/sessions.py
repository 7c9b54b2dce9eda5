"""The sessions: settings, history, what is stored on disk, and what lasts only while a session is open."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import re
import sys
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp import Client, RequestError, schema
from acp.helpers import update_current_mode

from acp_tui.config.paths import write_private

if TYPE_CHECKING:
    from acp_tui.demo.mcp_client import McpConnection, McpServer

    ConfigOption = schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean

# ------------------------------------------------------------------ settings

MODES = {
    "ask": ("Ask", "Ask before editing files or running commands"),
    "auto": ("Auto", "Edit files and run commands without asking"),
    "plan": ("Plan", "Read only; refuse edits and commands"),
}
PACES = {
    "relaxed": ("Relaxed", "Slow enough to watch", 0.03),
    "quick": ("Quick", "Three times as fast as relaxed", 0.01),
    "instant": ("Instant", "No pauses", 0.0),
}


class Model(NamedTuple):
    """An imaginary language model, with numbers for `usage_update`."""

    name: str
    description: str
    context_window: int  # tokens
    price: float  # per 1000 tokens, in `CURRENCY`


MODELS = {
    "abacus-8k": Model("Abacus 8k", "Fictitious model: small context window, cheap", 8_000, 0.01),
    "abacus-32k": Model("Abacus 32k", "Fictitious model: medium context window", 32_000, 0.05),
    "orrery-200k": Model("Orrery 200k", "Fictitious model: large context window, expensive", 200_000, 0.25),
}
CURRENCY = "USD"
"""The currency of the made-up costs."""


@dataclass
class Settings:
    """The current settings of one session: the mode and the config options.

    The protocol has two ways to offer modes: `modes`, and a config option of the category `mode`. Newer
    clients prefer the config option. The demo offers both, and keeps `modes` and the option in sync.
    """

    mode: str = "ask"
    pace: str = "relaxed"
    model: str = "abacus-32k"
    thoughts: bool = True

    @property
    def delay(self) -> float:
        """Seconds between two chunks of text."""
        return PACES[self.pace][2]

    def config_options(self, *, booleans: bool) -> list[ConfigOption]:
        """Return the config options. Boolean options are included only if `booleans` is true."""
        models = [
            schema.SessionConfigSelectGroup(
                group=family,
                name=family.title(),
                options=_choices({key: model for key, model in MODELS.items() if key.startswith(family)}),
            )
            for family in ("abacus", "orrery")
        ]
        options: list[ConfigOption] = [
            schema.SessionConfigOptionSelect(
                type="select",
                id="mode",
                name="Mode",
                description="What the agent may do without asking",
                category="mode",
                current_value=self.mode,
                options=_choices(MODES),
            ),
            schema.SessionConfigOptionSelect(
                type="select",
                id="model",
                name="Model",
                description="A made-up model: the demo uses no model, so only the usage numbers change",
                category="model",
                current_value=self.model,
                options=models,
            ),
            schema.SessionConfigOptionSelect(
                type="select",
                id="pace",
                name="Pace",
                description="How fast the agent types",
                current_value=self.pace,
                options=_choices(PACES),
            ),
        ]
        if booleans:
            options.append(
                schema.SessionConfigOptionBoolean(
                    type="boolean",
                    id="thoughts",
                    name="Thoughts",
                    category="thought_level",
                    description="Send simulated thoughts",
                    current_value=self.thoughts,
                )
            )
        return options

    def set(self, option: str, value: str | bool) -> None:
        """Change an option. Raises an "invalid params" error for unknown options or values."""
        known = {"mode": list(MODES), "model": list(MODELS), "pace": list(PACES)}
        if (option == "thoughts" and isinstance(value, bool)) or value in known.get(option, ()):
            setattr(self, option, value)
        else:
            raise RequestError.invalid_params({"details": f"Cannot set {option!r} to {value!r}"})


def _choices(table: Mapping[str, tuple[Any, ...]]) -> list[schema.SessionConfigSelectOption]:
    return [
        schema.SessionConfigSelectOption(value=key, name=name, description=description)
        for key, (name, description, *_) in table.items()
    ]


# ------------------------------------------------------------------ history

Update = dict[str, Any]

_MESSAGES = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
_REPLAYED = (*_MESSAGES, "tool_call", "tool_call_update", "plan")
"""The kinds of updates that are replayed.

The other kinds describe state. When a session is loaded, its current state is sent instead.
"""
RAW = "raw"
"""Marks an update that is replayed as it was sent: the SDK has no model for it."""


class History:
    """What `session/load` replays: updates in wire format, merged into whole messages and tool calls."""

    def __init__(self, updates: list[Update] | None = None) -> None:
        self.updates = updates or []

    def add(self, update: Update) -> None:
        """Append an update or merge it into an earlier one. Kinds that are not replayed are ignored."""
        kind = update["sessionUpdate"]
        last: Update = self.updates[-1] if self.updates else {}
        if kind not in _REPLAYED:
            return
        if kind in _MESSAGES:
            if last and _same_message(last, update):
                last["content"]["text"] += update["content"]["text"]
            else:  # copy the content too: its text is extended in place
                self.updates.append({**update, "content": dict(update["content"])})
        elif kind == "plan" and last.get("sessionUpdate") == "plan":
            last["entries"] = update["entries"]
        elif kind == "tool_call_update" and (call := self._find_call(update["toolCallId"])) is not None:
            call.update({key: value for key, value in update.items() if key != "sessionUpdate"})
        else:
            self.updates.append({**update})

    def add_raw(self, params: dict[str, Any]) -> None:
        """Append the parameters of a `session/update`. The update can belong to a subagent's session."""
        self.updates.append({"sessionUpdate": RAW, "params": params})

    def _find_call(self, call_id: str) -> Update | None:
        calls = (update for update in reversed(self.updates) if update.get("toolCallId") == call_id)
        return next(calls, None)

    def fail_open_calls(self) -> None:
        """Mark unfinished tool calls as failed, so that a replay does not show them as running."""
        for update in self.updates:
            if "toolCallId" in update and update.get("status") in ("pending", "in_progress"):
                update["status"] = "failed"


def _same_message(one: Update, other: Update) -> bool:
    return all(one.get(key) == other.get(key) for key in ("sessionUpdate", "messageId")) and all(
        update["content"].keys() == {"type", "text"} for update in (one, other)
    )


# ------------------------------------------------------------------ on disk

PAGE_SIZE = 20
MAX_SESSIONS = 200
"""Number of sessions to keep; older ones are removed."""

_ID = re.compile(r"demo-[0-9a-f]{12}")


def _new_id() -> str:
    return f"demo-{uuid.uuid4().hex[:12]}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class StoredSession:
    """The stored part of a session. The field names are the keys in the JSON file."""

    id: str
    cwd: str
    directories: list[str] = field(default_factory=list)
    title: str | None = None
    updated_at: str = field(default_factory=_now)
    settings: Settings = field(default_factory=Settings)
    remembered: dict[str, bool] = field(default_factory=dict)  # "always" answers, by kind of tool call
    used: int = 0  # tokens, estimated
    cost: float = 0.0
    forgotten: bool = False  # it cannot be opened again
    history: History = field(default_factory=History)


class SessionStore:
    """Stores sessions in a folder, one JSON file each, so that several demo agents can share the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, cwd: str, directories: list[str], settings: Settings) -> StoredSession:
        """Create and save a session, with a copy of the settings."""
        session = StoredSession(_new_id(), cwd, directories, settings=replace(settings))
        self._prune()
        self.save(session)
        return session

    def fork(self, session: StoredSession, cwd: str, directories: list[str]) -> StoredSession:
        """Save a copy of a session, with its history and settings, a new id and the given folders."""
        title = f"{session.title} (fork)" if session.title else None
        fork = replace(copy.deepcopy(session), id=_new_id(), cwd=cwd, directories=directories, title=title)
        self.save(fork)
        return fork

    def save(self, session: StoredSession) -> None:
        """Write a session to disk. A failure is reported on stderr, so that the conversation can continue."""
        session.updated_at = _now()
        stored = {**vars(session), "settings": vars(session.settings), "history": session.history.updates}
        try:
            write_private(self._file(session.id), json.dumps(stored))
        except OSError as error:
            print(f"demo: cannot save the session: {error}", file=sys.stderr)

    def load(self, session_id: str) -> StoredSession:
        """Read a session. Raises `RequestError` if it does not exist, is damaged or is `forgotten`."""
        session = self._read(self._file(session_id))
        if session is None or session.forgotten:
            raise _unknown_session(session_id)
        return session

    def delete(self, session_id: str) -> None:
        """Remove a session. The protocol treats deleting an unknown session as success."""
        with contextlib.suppress(RequestError, OSError):
            self._file(session_id).unlink()

    def list_page(self, cwd: str | None, cursor: str | None) -> tuple[list[StoredSession], str | None]:
        """Return a page of the sessions that have a history, most recent first, and the next page's cursor.

        Sessions that are `forgotten` are left out. If `cwd` is given, only sessions with that folder are
        listed. The returned cursor is the sort key of the last session on the page, so new sessions do not
        shift the pages. The cursor is None on the last page.
        """
        sessions = [
            session
            for file in self._folder.glob("*.json")
            if (session := self._read(file)) is not None
            and session.history.updates
            and not session.forgotten
            and (cwd is None or session.cwd == cwd)
            and (cursor is None or _sort_key(session) < cursor)
        ]
        sessions.sort(key=_sort_key, reverse=True)
        page = sessions[:PAGE_SIZE]
        return page, _sort_key(page[-1]) if len(sessions) > PAGE_SIZE else None

    def _file(self, session_id: str) -> Path:
        # Ids come from the client and must not be used to reach other files.
        if not _ID.fullmatch(session_id):
            raise _unknown_session(session_id)
        return self._folder / f"{session_id}.json"

    def _read(self, file: Path) -> StoredSession | None:
        """Read a session. Returns None if the file is damaged or was removed by another process."""
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            parts = {"settings": Settings(**stored["settings"]), "history": History(stored["history"])}
            return StoredSession(**{**stored, **parts})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _prune(self) -> None:
        """Remove the oldest sessions beyond `MAX_SESSIONS`, by modification time, without reading them."""
        with contextlib.suppress(OSError):  # another process removed one; the next prune gets the rest
            files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
            for file in files[MAX_SESSIONS:]:
                file.unlink()


def _unknown_session(session_id: str) -> RequestError:
    return RequestError(-32002, f"No such session: {session_id}", {"sessionId": session_id})


def _sort_key(session: StoredSession) -> str:
    return f"{session.updated_at} {session.id}"


# ------------------------------------------------------------------ while a session is open


@dataclass
class OpenSession:
    """A stored session, and the state that is kept only until the session is closed."""

    stored: StoredSession
    client: Client
    capabilities: schema.ClientCapabilities
    sign_out: Callable[[], None]
    mcp_servers: list[McpServer] = field(default_factory=list)
    mcp_connections: dict[str, McpConnection] = field(default_factory=dict)  # opened by the first `/mcp`
    few_commands: bool = False
    turn_task: asyncio.Task[schema.StopReason] | None = None
    _subagents: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)  # by session id
    _background: set[asyncio.Task[None]] = field(init=False, default_factory=set)

    @property
    def config_options(self) -> list[ConfigOption]:
        """The config options that this client supports."""
        known = self.capabilities.session and self.capabilities.session.config_options
        return self.stored.settings.config_options(booleans=bool(known and known.boolean))

    @property
    def settings_state(self) -> dict[str, Any]:
        """The modes and the config options, in the form that `session/new` reports."""
        modes = [
            schema.SessionMode(id=key, name=name, description=description)
            for key, (name, description) in MODES.items()
        ]
        current = self.stored.settings.mode
        state = schema.SessionModeState(current_mode_id=current, available_modes=modes)
        return {"modes": state, "config_options": self.config_options}

    async def send(self, update: Any) -> None:
        """Send a session update."""
        await self.client.session_update(self.stored.id, update)

    async def send_settings(self) -> None:
        """Send the mode and the config options; always together, because an option repeats the mode."""
        await self.send(update_current_mode(self.stored.settings.mode))
        await self.send(
            schema.ConfigOptionUpdate(
                session_update="config_option_update", config_options=self.config_options
            )
        )

    async def send_usage(self) -> None:
        """Send the context window usage and the cost, both made up."""
        window = MODELS[self.stored.settings.model].context_window
        used = min(self.stored.used, window)
        cost = schema.Cost(amount=round(self.stored.cost, 6), currency=CURRENCY)
        await self.send(schema.UsageUpdate(session_update="usage_update", used=used, size=window, cost=cost))

    def cancel(self) -> None:
        """Cancel the running turn, if any."""
        if self.turn_task is not None:
            self.turn_task.cancel()

    def run_subagent(self, session_id: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run the work of a subagent in a task that `cancel_subagent` can cancel, and return the task."""
        task = self._subagents[session_id] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._subagents.pop(session_id, None))
        return task

    def cancel_subagent(self, session_id: str) -> None:
        """Cancel the work of a subagent, if the subagent belongs to this session and is still running."""
        if session_id in self._subagents:
            self._subagents[session_id].cancel()

    async def close(self) -> None:
        """Cancel the running turn and the subagents, and close the connections to MCP servers."""
        self.cancel()
        for task in self._subagents.values():
            task.cancel()
        if self.turn_task is not None:
            await asyncio.wait([self.turn_task])
        await asyncio.gather(*(connection.close() for connection in self.mcp_connections.values()))

    def run_in_background(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background, independent of the turn."""
        task = asyncio.create_task(coroutine)
        self._background.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(self._background.discard)
