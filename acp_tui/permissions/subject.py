"""The subject of a request: what will happen if the request is allowed.

Created by `subject_reader`, and by acp-tui's own MCP server for its tools.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.config.sensitive_files import sensitive_reason as is_sensitive
from acp_tui.config.sensitive_files import strongest_reason

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandLine

KINDS = (
    "read",
    "search",
    "think",
    "edit",
    "delete",
    "move",
    "execute",
    "fetch",
    "switch_mode",
    "mcp",
    "other",
)
"""The kinds of requests: the protocol's kinds of tool calls, and `mcp` for tools of MCP servers."""

MAX_PATH = 4096
"""The maximum length of a path on Linux."""
PATH_KINDS = frozenset({"read", "search", "edit", "delete", "move"})
_ELSEWHERE = re.compile(r"~|[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Target:
    """One path that a request is about."""

    path: str  # absolute, as the agent wrote it
    real: str  # with all symlinks resolved
    inside: bool  # inside the workspace
    sensitive: str | None = None  # why it is sensitive, as a clause to put after the path
    identity: tuple[int, int] | None = None  # device and inode of a folder that a command runs in


@dataclass(frozen=True, slots=True)
class PathContext:
    """The folders of a conversation, used to classify paths."""

    cwd: str
    roots: Sequence[str]
    resolve: Callable[[str], str]  # resolves symlinks: `os.path.realpath`
    sensitive: Callable[[str], str | None] = is_sensitive
    base_environment: Mapping[str, str] = field(default_factory=dict)  # what every command gets
    identify: Callable[[str], tuple[int, int] | None] = lambda _: None  # returns a folder's device and inode
    repository_of: Callable[[str], str | None] = lambda _folder: None  # returns a folder's git repository

    @property
    def real_roots(self) -> tuple[str, ...]:
        """The folders of the workspace, with symlinks resolved."""
        try:
            real = [posixpath.normpath(self.resolve(root)) for root in (self.cwd, *self.roots)]
        except (OSError, ValueError):
            return ()
        return tuple(dict.fromkeys(real))

    def target(self, path: str, base: str | None = None) -> Target:
        """Resolve a path, and determine whether the path is in the workspace and whether it is sensitive.

        A relative path is resolved against `base`, by default the working directory.
        """
        if len(path) > MAX_PATH:  # it cannot exist, and resolving it would take long
            return Target(path, path, inside=False)
        if _ELSEWHERE.match(path):  # `~/x` may mean the home directory or a folder named `~`
            return Target(path, path, inside=False, sensitive=self.sensitive(path))
        absolute = posixpath.join(base or self.cwd, path)
        try:
            real = posixpath.normpath(self.resolve(absolute))
            inside = any(_within(real, posixpath.normpath(self.resolve(root))) for root in self.roots)
        except (OSError, ValueError):
            real, inside = posixpath.normpath(absolute), False
        sensitive = strongest_reason(self.sensitive(absolute), self.sensitive(real))
        return Target(absolute, real, inside, sensitive)

    def folder(self, path: str, base: str | None = None) -> Target:
        """Like `target`, but for the folder that a command runs in.

        The result also has the device and inode of the folder if the folder exists.
        """
        target = self.target(path, base)
        return replace(target, identity=self.identify(target.real))

    def display_path(self, target: Target) -> str:
        """Return the path for display, relative if it is below the working directory."""
        base = self.cwd.rstrip("/") + "/"
        return (target.path[len(base) :] or ".") if target.path.startswith(base) else target.path


class McpCallKey(NamedTuple):
    """The identity of a call of an MCP tool: equal keys mean that two requests are about the same call."""

    server: str  # empty if the agent did not name it
    tool: str
    arguments: str  # JSON with sorted keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What will happen if a request is allowed: a command, work on files, or the use of a tool."""

    kind: str  # one of `KINDS`
    description: str  # "run `pytest -q` in src"; may contain any character
    doubt: str | None = None  # why it is uncertain what will happen, as a clause
    served: bool = False  # acp-tui itself would carry it out: fs/* and terminal/*
    targets: tuple[Target, ...] = ()
    contents: tuple[tuple[str, str], ...] = ()  # what files will contain, by real path, where that is known
    also_edits: bool = False  # a delete, move or command with a diff: rules that reject edits match, too
    input_concerns: tuple[
        str, ...
    ] = ()  # paths in the raw input, outside or sensitive, as clauses about "it"

    # A command:
    command: str | None = None  # the line for a shell, unwrapped; None with `argv`
    argv: tuple[str, ...] | None = None  # a program and its arguments, run without a shell
    command_text: str | None = None  # `command` or `argv` as one line, for display
    run: str | tuple[str, ...] | None = None  # what to run in `cwd`: may be a `sh -c`, has no leading `cd`
    command_words: tuple[str, ...] | None = None  # the words of a single plain command, otherwise None
    argument_risks: tuple[tuple[int, str], ...] = ()  # each risky argument's index and the reason
    not_plain: str | None = None  # why no allow rule with command words matches, as a clause about "it"
    parts: tuple[Subject, ...] = ()  # of a composite command: its commands, and the files that they write
    part_text: str = ""  # of a part, for display: "git diff", "edit out.txt"
    cwd: Target | None = None
    environment: tuple[tuple[str, str], ...] = ()  # the variables that are set for it
    variables: tuple[tuple[str, str], ...] = ()  # those of `environment` that are not harmless
    sensitive_names: tuple[str, ...] = ()  # sensitive files that it names, secrets that it prints: clauses
    written: tuple[Target, ...] = ()  # the files that its output is redirected to
    writes_unknown: bool = False  # its output is also redirected to files whose names are computed
    dangerous: str | None = None  # why no rule and no policy may allow it, as a clause about "it"
    too_long: bool = False  # only its beginning was analysed
    parsed: CommandLine | None = field(default=None, compare=False, repr=False)

    # An MCP tool:
    server: str | None = None
    tool: str | None = None
    always_ask: str | None = None  # why no rule and no policy may allow it, as a clause about "it"
    mcp_call: McpCallKey | None = None  # as the agent named the call, or as it reached the bridge

    def evolve(self, **changes: Any) -> Subject:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    @property
    def certain(self) -> bool:
        """True if there is no doubt about what the request will do."""
        return self.doubt is None

    @property
    def paths(self) -> list[str]:
        """The paths of the files that the request is about, with all symlinks resolved if possible."""
        return [target.real for target in self.targets]

    @property
    def outside(self) -> list[str]:
        """The paths that are outside the workspace.

        A command's directory and the files that the command writes are checked as well.
        """
        places = [*self.targets, *([self.cwd] if self.cwd else []), *self.written]
        return [target.path for target in places if not target.inside]

    @property
    def sensitive(self) -> list[tuple[str, str]]:
        """The sensitive paths in `targets`, each with the reason why it is sensitive."""
        return [(target.path, target.sensitive) for target in self.targets if target.sensitive]

    @property
    def concerns(self) -> list[str]:
        """The reasons why no policy may allow the request: clauses such as "it is too long to be checked"."""
        found = [self.dangerous] if self.dangerous else []
        found += [f"{path} is outside the workspace" for path in self.outside]
        found += [f"{path} {why}" for path, why in self.sensitive]
        found += ["it is too long to be checked"] if self.too_long else []
        found += [self.always_ask] if self.always_ask else []
        return [*found, *self.sensitive_names, *self.input_concerns]


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
