"""Rules: what they say, how they are saved, and how they are shown. `rule_matching` applies them."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from acp_tui.permissions.subject import KINDS
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch


AD_HOC = "command:"
"""The prefix of the id of an agent that is not in the catalogue. No catalogue id begins with it."""
RuleDecision = Literal["allow", "reject"]
Scope = Literal["run", "session", "project", "everywhere"]
_SCOPES = ("run", "session", "project", "everywhere")


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """An agent, as rules refer to it. For an agent in the catalogue, only `id` is set."""

    id: str  # its catalogue id, or `command:` and a digest, because its command may contain secrets
    line: str = ""  # the command without secrets, for display
    name: str | None = None  # the name that the agent reports

    @property
    def label(self) -> str:
        """The agent as shown to the user: its catalogue id, or else its reported name and its command."""
        if not self.line:
            return self.id
        return f"{self.name} (`{self.line}`)" if self.name else f"`{self.line}`"


def identity_of(launch: Launch, own_name: str | None = None) -> AgentIdentity:
    """Return the identity of a launched agent. `own_name` is the name in the answer to `initialize`."""
    if not launch.ad_hoc and launch.address is None:
        return AgentIdentity(launch.name)
    digest = hashlib.sha256(json.dumps(list(launch.command)).encode()).hexdigest()[:32]
    return AgentIdentity(f"{AD_HOC}{digest}", redact_text(shlex.join(launch.command)), own_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A remembered answer to requests of one kind."""

    decision: RuleDecision
    kind: str  # one of `KINDS`
    path: str | None = None  # a glob, relative to the project unless absolute
    command: tuple[str, ...] | None = None  # leading words
    exact: bool = False  # the command has no further words
    server: str | None = None
    tool: str | None = None  # None: any tool of the server
    scope: Scope = "session"
    project: str | None = None  # the folder, if the scope is "project"
    agent: str | None = None  # the id of an `AgentIdentity`; None: any agent
    agent_name: str | None = None  # the name that an agent not in the catalogue reports; None: any
    agent_line: str = field(default="", compare=False)  # the agent's command, for display
    id: str = ""  # set by the rule store
    created: float = 0.0  # seconds since the epoch
    origin: str = ""  # where it comes from: "dialog", "--allow edit:src/**"
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)  # fields of a newer version

    @property
    def narrowness(self) -> tuple[int, int, int]:
        """A sort key for rules: the larger it is, the fewer requests the rule matches."""
        return (self._detail, -_SCOPES.index(self.scope), int(self.agent is not None))

    @property
    def _detail(self) -> int:
        if self.command is not None:
            return 1 + 2 * len(self.command) + self.exact
        if self.path is not None:
            fixed = re.split(r"[*?\[]", self.path, maxsplit=1)[0]
            return 1 + 2 * len(fixed) + (fixed == self.path)
        return (self.server is not None) + (self.tool is not None)

    def evolve(self, **changes: Any) -> Rule:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def same_as(self, other: Rule) -> bool:
        """Return True if both rules are equal apart from id, time, origin, `agent_line` and `unknown`."""
        blank = {"id": "", "created": 0.0, "origin": ""}
        return self.evolve(**blank) == other.evolve(**blank)


# --------------------------------------------------------------------------- saving

YEAR_10000 = 253_402_300_800
"""The beginning of the year 10000, in seconds since the epoch. Later times cannot be shown."""
_FIELDS = (
    *("decision", "kind", "path", "command", "exact", "server", "tool", "scope", "project", "agent"),
    *("agent_name", "agent_line", "id", "created", "origin"),
)


def to_dict(rule: Rule) -> dict[str, Any]:
    """Convert a rule to a dict for JSON, without empty fields."""
    data = {name: getattr(rule, name) for name in _FIELDS}
    return rule.unknown | {name: value for name, value in data.items() if value not in (None, "", False)}


def from_dict(data: object) -> Rule | None:
    """Convert parsed JSON to a rule. Return None if this version of acp-tui does not understand the JSON."""
    if not isinstance(data, dict) or data.get("kind") not in KINDS or data.get("scope") not in _SCOPES:
        return None
    if data.get("decision") not in get_args(RuleDecision) or not _has_only_strings(data):
        return None
    command = data.get("command")
    if command is not None and not (
        isinstance(command, list) and command and all(isinstance(w, str) for w in command)
    ):
        return None
    if not isinstance(data.get("exact", False), bool) or not isinstance(data.get("created", 0), (int, float)):
        return None
    rule = Rule(
        **{name: data[name] for name in _FIELDS if data.get(name) is not None and name != "command"},
        command=tuple(command) if command is not None else None,
        unknown={name: value for name, value in data.items() if name not in _FIELDS},
    )
    if not is_time(rule.created):
        rule = rule.evolve(created=0.0)
    return rule if (rule.scope == "project") == (rule.project is not None) else None


def is_time(value: object) -> bool:
    """Return True for seconds since the epoch that can be shown as a date."""
    return isinstance(value, int | float) and 0 <= value < YEAR_10000


def _has_only_strings(data: dict[str, Any]) -> bool:
    names = ("path", "server", "tool", "project", "agent", "agent_name", "agent_line", "id", "origin")
    return all(data.get(name) is None or isinstance(data[name], str) for name in names)


# --------------------------------------------------------------------------- in words


def describe_rule(rule: Rule) -> str:
    """Return the rule as text, such as "always allow exactly `git status` everywhere"."""
    verb = "always allow" if rule.decision == "allow" else "always reject"
    return escape_invisible_line(f"{verb} {describe_match(rule)}{_where(rule)}")


def describe_match(rule: Rule) -> str:
    """Describe what the rule matches, such as "commands that begin with `git`"."""
    if rule.command is not None:
        line = shlex.join(rule.command)
        return f"exactly `{line}`" if rule.exact else f"commands that begin with `{line}`"
    if rule.server is not None:
        return (
            f"`{rule.tool}` of the MCP server {rule.server}" if rule.tool else f"the MCP server {rule.server}"
        )
    verb, of_all = _KIND_WORDS[rule.kind]
    return f"{verb} {rule.path}" if rule.path is not None else of_all


_KIND_WORDS = {
    "read": ("reading", "reading files in the workspace"),
    "search": ("searching in", "searching in the workspace"),
    "think": ("thinking", "thinking"),
    "edit": ("editing", "editing files in the workspace"),
    "delete": ("deleting", "deleting files in the workspace"),
    "move": ("moving", "moving files in the workspace"),
    "execute": ("running", "running any command"),
    "fetch": ("fetching", "fetching from the network"),
    "switch_mode": ("changing its mode", "changing its mode"),
    "mcp": ("using", "using any MCP tool"),
    "other": ("doing", "any other action"),
}


def describe_choice(rule: Rule) -> str:
    """Return the dialog's label for what the rule matches: "`git status …`", "edit anything in src/"."""
    if rule.command is not None:
        line = shlex.join(rule.command)
        words = f"`{line}` exactly" if rule.exact else f"`{line} …`"
    elif rule.server is not None:
        words = f"{rule.tool or 'any tool'} of the MCP server {rule.server}"
    elif rule.path is not None:
        folder = rule.path.removesuffix("**")
        files = rule.path if folder == rule.path else f"anything in {folder}"
        words = f"{_VERBS.get(rule.kind, rule.kind)} {files}"
    else:
        words = _CHOICES.get(rule.kind) or f"{_VERBS[rule.kind]} any file in the workspace"
    return escape_invisible_line(words)


_VERBS = {"read": "read", "search": "search", "edit": "edit", "delete": "delete", "move": "move"}
_CHOICES = {
    "search": "search anything in the workspace",
    "think": "think",
    "execute": "any command",
    "fetch": "fetch anything from the network",
    "switch_mode": "change its mode",
    "mcp": "any MCP tool",
    "other": "any other action",
}


def describe_effect(rule: Rule) -> str:
    """Describe which requests the rule answers, and what the user is still asked about."""
    result = "allowed" if rule.decision == "allow" else "rejected"
    match = describe_match(rule)
    asks = ""
    if rule.decision == "allow" and not rule.exact:
        if rule.command is not None:
            asks = " You are still asked about risky arguments."
        elif rule.kind == "execute":
            still = "dangerous commands, sensitive files and paths outside the workspace"
            asks = f" You are still asked about {still}."
        elif rule.path is None and rule.kind in _VERBS:
            asks = " You are still asked about sensitive files."
    where = _where(rule.evolve(project=posixpath.basename(rule.project or "")))
    return escape_invisible_line(
        f"{match[:1].upper()}{match[1:]} will be {result} without asking{where}.{asks}"
    )


def describe_briefly(rule: Rule) -> str:
    """Return what the rule matches, where, and for whom: "`git status …` · this project · claude-code"."""
    scope = rule.scope if rule.scope == "everywhere" else f"this {rule.scope}"
    agent = rule.agent_name or rule.agent_line or rule.agent or "any agent"
    return escape_invisible_line(f"{describe_choice(rule)} · {scope} · {agent}")


def _where(rule: Rule) -> str:
    where = {
        "run": "in this run",
        "session": "in this session",
        "project": f"in {rule.project}",
        "everywhere": "everywhere",
    }[rule.scope]
    return f" {where}" + (f", for {_agent(rule)}" if rule.agent else "")


def _agent(rule: Rule) -> str:
    return AgentIdentity(rule.agent or "", rule.agent_line, rule.agent_name).label
