"""Rules: answers given once and for later, in words and on disk, and which of them decides.

A rule is about a kind of request and, when it is narrow, about a path, a command or a tool. What it
matches is decided here, and is not symmetric:

* An **allow** rule matches only what is certain, and every file of it. By leading words it matches plain
  commands alone (see `plain`), and then whatever words follow: `npm test` allows `npm test -- --x` too;
  an `exact` one allows nothing further. A file outside the workspace is allowed only by an absolute
  pattern, a sensitive one only by its own path. A command whose directory is outside, or a dangerous one,
  is allowed by no rule, and one that sets variables beyond the harmless ones (see `environment`) by no
  rule that names a command. Nor does such a rule match when words that it does not name are paths outside
  the workspace, options that write or run, or variables (see `arguments`).
* A **reject** rule matches when any file or any part of a command does. When a part cannot be known the
  answer is *perhaps*, and a person is asked.

Among the rules that match, reject beats allow, however wide the one and narrow the other: who said "never"
is not overruled by an earlier or later "always". Among those of one decision the narrower one is named
as the reason: first by what it matches, then session before project before everywhere, then one agent
before any.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from acp_tui.permissions.agent_identity import AgentIdentity
from acp_tui.permissions.commands.risky_arguments import WHOLE_COMMAND
from acp_tui.permissions.path_globs import compile_glob, fold_case, unescape
from acp_tui.permissions.subject import KINDS, PATH_KINDS
from acp_tui.session.invisible import reveal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_tui.permissions.commands.command_line import Part
    from acp_tui.permissions.subject import Subject, Target

RuleDecision = Literal["allow", "reject"]
Scope = Literal["run", "session", "project", "everywhere"]
Match = Literal["yes", "no", "perhaps"]
_SCOPES = ("run", "session", "project", "everywhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One remembered answer."""

    decision: RuleDecision
    kind: str  # one of `KINDS`
    path: str | None = None  # a glob; a relative one counts from the project
    command: tuple[str, ...] | None = None  # leading words
    exact: bool = False  # … and no further ones
    server: str | None = None
    tool: str | None = None  # None: every tool of the server
    scope: Scope = "session"
    project: str | None = None  # the folder, when the scope is one
    agent: str | None = None  # the id of an `AgentIdentity`; None: any
    agent_name: str | None = None  # what an agent of a command calls itself; None: whatever that is
    agent_line: str = field(default="", compare=False)  # its command, for display
    id: str = ""  # given by the rule store
    created: float = 0.0  # seconds since the epoch
    origin: str = ""  # where it comes from: "dialog", "--allow edit:src/**"
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)  # fields of a newer version, kept

    @property
    def narrowness(self) -> tuple[int, int, int]:
        """Larger is narrower."""
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
        """The same with some fields changed."""
        return replace(self, **changes)

    def same_as(self, other: Rule) -> bool:
        """Do both say the same, whenever and however they were made?"""
        blank = {"id": "", "created": 0.0, "origin": ""}
        return self.evolve(**blank) == other.evolve(**blank)


# --------------------------------------------------------------------------- on disk

_FIELDS = (
    *("decision", "kind", "path", "command", "exact", "server", "tool", "scope", "project", "agent"),
    *("agent_name", "agent_line", "id", "created", "origin"),
)


def to_dict(rule: Rule) -> dict[str, Any]:
    """As JSON; what says nothing is left out."""
    told = {name: getattr(rule, name) for name in _FIELDS}
    return rule.unknown | {name: value for name, value in told.items() if value not in (None, "", False)}


def from_dict(told: object) -> Rule | None:
    """Read it again; None when it is none that this version understands."""
    if not isinstance(told, dict) or told.get("kind") not in KINDS or told.get("scope") not in _SCOPES:
        return None
    if told.get("decision") not in get_args(RuleDecision) or not _texts_only(told):
        return None
    command = told.get("command")
    if command is not None and not (
        isinstance(command, list) and command and all(isinstance(w, str) for w in command)
    ):
        return None
    if not isinstance(told.get("exact", False), bool) or not isinstance(told.get("created", 0), (int, float)):
        return None
    rule = Rule(
        **{name: told[name] for name in _FIELDS if told.get(name) is not None and name != "command"},
        command=tuple(command) if command is not None else None,
        unknown={name: value for name, value in told.items() if name not in _FIELDS},
    )
    return rule if (rule.scope == "project") == (rule.project is not None) else None


def _texts_only(told: dict[str, Any]) -> bool:
    names = ("path", "server", "tool", "project", "agent", "agent_name", "agent_line", "id", "origin")
    return all(told.get(name) is None or isinstance(told[name], str) for name in names)


# --------------------------------------------------------------------------- in words


def describe_rule(rule: Rule) -> str:
    """The rule as a person would say it."""
    verb = "always allow" if rule.decision == "allow" else "always reject"
    return reveal_line(f"{verb} {describe_match(rule)}{_where(rule)}")


def describe_match(rule: Rule) -> str:
    """What the rule is about, without its decision and scope."""
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
    "other": ("doing", "anything of no particular kind"),
}


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


# --------------------------------------------------------------------------- matching


def applies(rule: Rule, *, agent: AgentIdentity | None, project: str | None) -> bool:
    """Is the rule in force for this agent in this folder?"""
    return (rule.scope != "project" or rule.project == project) and _is_for(rule, agent)


def _is_for(rule: Rule, agent: AgentIdentity | None) -> bool:
    if rule.agent is None:
        return True
    if agent is None:
        return False
    if rule.agent == agent.id:
        return rule.agent_name in (None, agent.name)
    return rule.decision == "reject" and rule.agent == agent.program  # see `migration`


def matches(rule: Rule, subject: Subject, *, project: str | None = None) -> Match:
    """Does the rule speak about this? Relative paths of it count from its project, else from `project`.

    An allow rule never says "perhaps".
    """
    base = rule.project or project or ""
    if rule.decision == "allow":
        return "yes" if _allows(rule, subject, base) else "no"
    return _rejects(rule, subject, base)


def strongest(rules: Iterable[Rule]) -> Rule | None:
    """The rule that decides among those that match: see the head of this module."""
    return max(rules, key=lambda rule: (rule.decision == "reject", *rule.narrowness), default=None)


def _allows(rule: Rule, subject: Subject, base: str) -> bool:
    if subject.dangerous or subject.too_long or (subject.cwd and not subject.cwd.inside):
        return False
    if rule.server is not None:
        return subject.certain and _is_tool(rule, subject) and _all_at_hand(subject)
    if rule.kind != subject.kind:
        return False
    if rule.command is not None:
        return (
            subject.certain
            and subject.command_words is not None
            and _leads(rule, subject.command_words)
            and not any(_obstacles(rule, subject))
            and _all_at_hand(subject)
            and (rule.exact or not subject.names)  # who allowed exactly this knew what it names
        )
    if rule.path is not None:
        return (
            subject.certain
            and bool(subject.targets)
            and all(_allows_file(rule.path, t, base) for t in subject.targets)
        )
    return (subject.certain or not _needs_files(subject)) and _all_at_hand(subject) and not subject.names


def _needs_files(subject: Subject) -> bool:
    """Can "in the workspace" only be said of it when its files are known?"""
    return subject.kind in PATH_KINDS


def _all_at_hand(subject: Subject) -> bool:
    return not subject.outside and not subject.sensitive


def _allows_file(pattern: str, target: Target, base: str) -> bool:
    if target.sensitive and not _names(pattern, target.real, base):
        return False
    if not target.inside and not pattern.startswith("/"):
        return False
    return compile_glob(pattern, base).fullmatch(target.real) is not None


def _names(pattern: str, path: str, base: str) -> bool:
    """Is the pattern this very path?"""
    return posixpath.join(base, unescape(pattern)) == path


def _leads(rule: Rule, command: Sequence[str]) -> bool:
    wanted = rule.command or ()
    return tuple(command[: len(wanted)]) == wanted and (not rule.exact or len(command) == len(wanted))


def obstacle(rule: Rule, subject: Subject) -> str | None:
    """Return why an allow rule that names the command does not match it all the same; None where it does."""
    words = subject.command_words
    if rule.decision != "allow" or rule.kind != subject.kind or not rule.command or words is None:
        return None
    return next(_obstacles(rule, subject), None) if _leads(rule, words) else None


def _obstacles(rule: Rule, subject: Subject) -> Iterator[str]:
    """What the rule would have to name."""
    yield from (f"it sets {name}" for name, _ in subject.variables)
    named = len(rule.command or ())
    for position, why in subject.reservations:
        if position == WHOLE_COMMAND or (position >= named and not rule.exact):
            yield why


def _is_tool(rule: Rule, subject: Subject) -> bool:
    return (
        subject.server is not None
        and rule.server in (None, subject.server)
        and rule.tool in (None, subject.tool)
    )


def _rejects(rule: Rule, subject: Subject, base: str) -> Match:
    if rule.kind == "mcp":
        if subject.kind == "mcp" and not subject.certain:
            return "perhaps" if rule.server else "yes"
        return "yes" if _is_tool(rule, subject) else "no"
    if rule.kind != subject.kind:
        return "no"
    if rule.command is not None:
        return _rejects_command(rule, subject)
    if rule.path is not None:
        pattern = compile_glob(rule.path, base, fold=True)
        if any(pattern.fullmatch(fold_case(path)) for t in subject.targets for path in (t.path, t.real)):
            return "yes"
        return "no" if subject.certain and subject.targets else "perhaps"
    return "yes"


def _rejects_command(rule: Rule, subject: Subject) -> Match:
    if not subject.certain:
        return "perhaps"
    line = subject.parsed
    if line is None:
        return "perhaps"
    found: set[Match] = {_rejects_part(rule, part) for part in line.parts}
    if "yes" in found:
        return "yes"
    return "perhaps" if "perhaps" in found or line.problem else "no"


def _rejects_part(rule: Rule, part: Part) -> Match:
    """Compare word by word; `/usr/bin/git` is `git`, and options may stand between the words."""
    if not part.words:
        return "no"
    wanted = rule.command or ()
    if rule.exact and len(part.words) > len(wanted):
        return "no"
    for position, expected in enumerate(wanted):
        if position >= len(part.words):
            return "perhaps" if part.open_ended else "no"
        word = part.words[position]
        if not word.literal:
            return "perhaps"
        if word.text == expected or (position == 0 and _is_program(part, expected)):
            continue
        if position == 0 or not word.text.startswith("-"):
            return "no"
        found = expected.startswith("-") or any(given.text == expected for given in part.words)
        return "perhaps" if found else "no"
    return "yes"


def _is_program(part: Part, program: str) -> bool:
    return bool(part.name) and part.name == program.rpartition("/")[2].lower()
