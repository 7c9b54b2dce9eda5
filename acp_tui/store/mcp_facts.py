"""Saved facts about each MCP server: its last test, the tools that the user has accepted, and its last use.

A server is identified by its name and the digest of its definition, because facts about an earlier definition
do not apply to the current one.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from acp_tui.config.own_files import read_own_object
from acp_tui.config.paths import write_private
from acp_tui.store.locks import change_lock

VERSION = 1
MAX_SERVERS = 500
"""The maximum number of servers whose facts are kept. The servers with the oldest facts are removed."""

_Fact = TypeVar("_Fact")

_TYPES: dict[str, tuple[type, ...]] = {
    "at": (int, float),
    "seconds": (int, float),
    "tools": (int,),
    "prompts": (int,),
    "resources": (int,),
    "digests": (dict,),
}
"""The types of the saved values that are not strings, by key."""
MAX_CHARACTERS = 4_000_000
"""The maximum length of a server's file. If it would become longer, it is not changed."""


@dataclass(frozen=True, slots=True)
class ServerTest:
    """The last test of a server by acp-tui. Texts are safe to display."""

    at: float
    status: str  # connected, failed or needs sign-in
    sentence: str = ""  # why it failed
    seconds: float = 0.0
    protocol_version: str = ""
    server_version: str = ""  # the server's own name and version
    tools: int = 0
    prompts: int = 0
    resources: int = 0


@dataclass(frozen=True, slots=True)
class SentServerRecord:
    """The last time a server was given to an agent."""

    at: float
    agent: str
    session: str  # the id of the recorded session


@dataclass(frozen=True, slots=True)
class ServerUse:
    """The last time an agent called a tool of a server."""

    at: float
    tool: str
    evidence: str  # the source of the fact, such as "the bridge" or "the agent's name for the tool"


@dataclass(frozen=True, slots=True)
class AcceptedToolsRecord:
    """The tools of a server that the user has accepted."""

    at: float
    digests: dict[str, str] = field(default_factory=dict)  # by the name of the tool


@dataclass(frozen=True, slots=True)
class ToolChanges:
    """The differences between the tools that the user has accepted and the current ones."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # the description, schema or annotations differ

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The facts about one server. A fact about an event is None if no such event is saved."""

    tested: ServerTest | None = None
    accepted: AcceptedToolsRecord | None = None
    sent: SentServerRecord | None = None
    used: ServerUse | None = None
    mode: str | None = None  # the mode to try first for connecting: "legacy" or "auto"
    updated_at: float = 0.0

    def tool_changes(self, digests: dict[str, str]) -> ToolChanges:
        """Return how tools differ from those that the user has accepted.

        If the user has not accepted any tools yet, nothing counts as different.
        """
        if self.accepted is None:
            return ToolChanges()
        accepted = self.accepted.digests
        return ToolChanges(
            tuple(name for name in digests if name not in accepted),
            tuple(name for name in accepted if name not in digests),
            tuple(name for name, digest in digests.items() if accepted.get(name, digest) != digest),
        )


class McpFacts:
    """The facts about up to `MAX_SERVERS` servers, in one file of the state directory."""

    def __init__(self, state_dir: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = state_dir / "mcp-facts.json"
        self._clock = clock

    def read(self, name: str, digest: str) -> ServerFacts:
        """Return the facts about a server. `digest` is the digest of the server's definition."""
        return _server_facts(self._content().get(_key(name, digest)))

    def add_test(self, name: str, digest: str, test: ServerTest) -> None:
        """Save the result of a test. Raises `OSError`."""
        self._change(name, digest, tested=test)

    def accept_tools(self, name: str, digest: str, digests: dict[str, str]) -> None:
        """Save that the user has accepted a server's tools. `digests` contains their digests, by tool name.

        Raises `OSError`.
        """
        self._change(name, digest, accepted=AcceptedToolsRecord(self._clock(), dict(digests)))

    def accept_first_tools(self, name: str, digest: str, digests: dict[str, str]) -> bool:
        """Save a server's tools as accepted, unless some are. Return whether they were saved.

        Raises `OSError`.
        """
        accepted = AcceptedToolsRecord(self._clock(), dict(digests))
        return self._change_all({_key(name, digest): {"accepted": accepted}}, unless_accepted=True)

    def add_sent(self, servers: Iterable[tuple[str, str]], *, agent: str, session: str) -> None:
        """Save that an agent was given servers, listed as pairs of name and digest. Raises `OSError`."""
        sent = SentServerRecord(self._clock(), agent, session)
        self._change_all({_key(name, digest): {"sent": sent} for name, digest in servers})

    def add_use(self, name: str, digest: str, *, tool: str, evidence: str) -> None:
        """Save that an agent called a tool of a server. Raises `OSError`."""
        self._change(name, digest, used=ServerUse(self._clock(), tool, evidence))

    def remember_mode(self, name: str, digest: str, mode: str) -> None:
        """Save which mode to try first for a server: "legacy" or "auto". Raises `OSError`."""
        self._change(name, digest, mode=mode)

    def _change(self, name: str, digest: str, **facts: Any) -> None:
        self._change_all({_key(name, digest): facts})

    def _change_all(self, changes: dict[str, dict[str, Any]], *, unless_accepted: bool = False) -> bool:
        """Save the new facts of several servers, and return True.

        With `unless_accepted`, save nothing and return False if tools of one of them are accepted already.
        """
        with change_lock(self._path):
            servers = self._content()
            for key, facts in changes.items():
                current = _server_facts(servers.get(key))
                if unless_accepted and current.accepted is not None:
                    return False
                changed = replace(current, **facts, updated_at=self._clock())
                servers[key] = saved = asdict(changed)
                saved["agreed"] = saved.pop("accepted")  # the key in the file
            if len(servers) > MAX_SERVERS:
                newest = sorted(servers, key=lambda each: _server_facts(servers[each]).updated_at)
                servers = {each: servers[each] for each in newest[-MAX_SERVERS:]}
            write_private(self._path, json.dumps({"version": VERSION, "servers": servers}, indent=1) + "\n")
        return True

    def _content(self) -> dict[str, Any]:
        """Return the saved facts, unchecked, under their `_key`; empty if the file is missing or damaged."""
        servers = read_own_object(self._path).get("servers")
        return servers if isinstance(servers, dict) else {}


def _key(name: str, digest: str) -> str:
    return f"{digest} {name}"


def _server_facts(saved: Any) -> ServerFacts:
    if not isinstance(saved, dict):
        return ServerFacts()
    mode, updated_at = saved.get("mode"), saved.get("updated_at")
    return ServerFacts(
        tested=_fact(ServerTest, saved.get("tested")),
        accepted=_fact(AcceptedToolsRecord, saved.get("agreed")),
        sent=_fact(SentServerRecord, saved.get("sent")),
        used=_fact(ServerUse, saved.get("used")),
        mode=mode if mode in ("legacy", "auto") else None,
        updated_at=updated_at if isinstance(updated_at, float) else 0.0,
    )


def _fact(kind: type[_Fact], saved: Any) -> _Fact | None:
    """Return a saved fact; None if it is missing or damaged."""
    if not isinstance(saved, dict):
        return None
    known = {each.name: saved[each.name] for each in fields(kind) if each.name in saved}  # type: ignore[arg-type]
    for key, value in known.items():
        if not isinstance(value, _TYPES.get(key, (str,))):
            return None
    try:
        return kind(**known)
    except TypeError:
        return None


@dataclass(slots=True)
class SavedOffer:
    """The prompts and resources of a server, and the tools that the user has accepted, as JSON objects."""

    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    accepted_tools: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name


class McpOffers:
    """The prompts, resources and accepted tools of all servers, in a folder of the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "mcp-offers"

    def read(self, name: str, digest: str) -> SavedOffer:
        """Return a server's saved offer, or an empty one. `digest` identifies the server's definition."""
        content = read_own_object(self._path(name, digest))
        tools = content.get("agreed_tools")
        accepted = tools if isinstance(tools, dict) else {}
        return SavedOffer(
            _named(content.get("prompts"), "name"),
            _named(content.get("resources"), "uri"),
            {key: tool for key, tool in accepted.items() if isinstance(tool, dict)},
        )

    def save_lists(
        self, name: str, digest: str, prompts: list[dict[str, Any]], resources: list[dict[str, Any]]
    ) -> None:
        """Save a server's prompts and resources, unless its file would get too long. Raises `OSError`."""
        self._write(name, digest, SavedOffer(prompts, resources, self.read(name, digest).accepted_tools))

    def accept(self, name: str, digest: str, tools: Mapping[str, dict[str, Any]]) -> None:
        """Save the accepted tools, unless the server's file would get too long. Raises `OSError`."""
        saved = self.read(name, digest)
        self._write(name, digest, SavedOffer(saved.prompts, saved.resources, dict(tools)))

    def _write(self, name: str, digest: str, offer: SavedOffer) -> None:
        saved = asdict(offer)
        saved["agreed_tools"] = saved.pop("accepted_tools")  # the key in the file
        text = json.dumps(saved)
        if len(text) <= MAX_CHARACTERS:
            write_private(self._path(name, digest), f"{text}\n")

    def _path(self, name: str, digest: str) -> Path:
        readable = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:40].lstrip(".")
        key = hashlib.sha256(f"{digest} {name}".encode("utf-8", "replace")).hexdigest()[:16]
        return self._folder / f"{readable}-{key}.json"


def _named(value: Any, key: str) -> list[dict[str, Any]]:
    """Return the objects in a list that have a string under `key`."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict) and isinstance(item.get(key), str)]
