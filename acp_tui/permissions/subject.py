"""The data of a request: its subject, and the paths it is about. `subject` builds them."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from acp_tui.config.sensitive_files import sensitive_reason as is_sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
"""The protocol's kinds of tool calls, and ours for the tools of MCP servers."""

MAX_PATH = 4096
"""Characters of a path, as on Linux."""
PATH_KINDS = frozenset({"read", "search", "edit", "delete", "move"})
_ELSEWHERE = re.compile(r"~|[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Target:
    """One path that is asked for."""

    path: str  # absolute, as the agent wrote it
    real: str  # where it leads through symlinks
    inside: bool  # in one of the roots
    sensitive: str | None = None  # why it deserves a question, in words that follow its name
    identity: tuple[int, int] | None = None  # device and inode, of a folder that commands run in


@dataclass(frozen=True, slots=True)
class PathContext:
    """The folders of a conversation, used to classify paths."""

    cwd: str
    roots: Sequence[str]
    resolve: Callable[[str], str]  # through symlinks: `os.path.realpath`
    sensitive: Callable[[str], str | None] = is_sensitive
    base_environment: Mapping[str, str] = field(default_factory=dict)  # what a command would get anyway
    identify: Callable[[str], tuple[int, int] | None] = lambda _: None  # device and inode of a folder
    repository_of: Callable[[str], str | None] = lambda _folder: None  # the git repository a folder is in

    def target(self, path: str, base: str | None = None) -> Target:
        """The path judged; a relative one counts from `base`, else from the working directory."""
        if len(path) > MAX_PATH:  # it cannot exist, and following it would take long
            return Target(path, path, inside=False)
        if _ELSEWHERE.match(path):  # who reads `~/x` may mean the home directory or a folder named ~
            return Target(path, path, inside=False, sensitive=self.sensitive(path))
        absolute = posixpath.join(base or self.cwd, path)
        try:
            real = posixpath.normpath(self.resolve(absolute))
            inside = any(_within(real, posixpath.normpath(self.resolve(root))) for root in self.roots)
        except (OSError, ValueError):
            real, inside = posixpath.normpath(absolute), False
        return Target(absolute, real, inside, self.sensitive(absolute) or self.sensitive(real))

    def folder(self, path: str, base: str | None = None) -> Target:
        """The folder that a command runs in, judged."""
        target = self.target(path, base)
        return replace(target, identity=self.identify(target.real))

    def shown(self, target: Target) -> str:
        """The path as a person would say it: relative when it is below the working directory."""
        base = self.cwd.rstrip("/") + "/"
        return (target.path[len(base) :] or ".") if target.path.startswith(base) else target.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a request is about."""

    kind: str  # one of `KINDS`
    words: str  # what it does, for a person: "run `pytest -q` in src"; may hold any character
    doubt: str | None = None  # why it is not certain, in words
    served: bool = False  # asked by us, because we would do it: fs/* and terminal/*
    targets: tuple[Target, ...] = ()
    command: str | None = None  # the line for a shell, unwrapped; None with `argv`
    argv: tuple[str, ...] | None = None  # a program and its arguments, run without a shell
    command_text: str | None = None  # either of them as one line, to be shown
    run: str | tuple[str, ...] | None = None  # what runs in `cwd`: with its shell, without a leading `cd`
    command_words: tuple[str, ...] | None = None  # of a plain command; only these match an allow rule
    reservations: tuple[tuple[int, str], ...] = ()  # what a rule has to name: position among the words, why
    composite: str | None = None  # why the command is not plain, in words
    cwd: Target | None = None  # of a command
    environment: tuple[tuple[str, str], ...] = ()  # all that is set for the command
    variables: tuple[tuple[str, str], ...] = ()  # those of them that can change what it does
    contents: tuple[tuple[str, str], ...] = ()  # what files will hold, by real path, where that is known
    names: tuple[str, ...] = ()  # the sensitive files that a command names, as sentences about "it"
    dangerous: str | None = None  # why no rule and no policy may allow it
    too_long: bool = False  # a command of which only the beginning was analysed
    parsed: CommandLine | None = field(default=None, compare=False, repr=False)  # the command
    server: str | None = None  # of an MCP tool
    tool: str | None = None

    def evolve(self, **changes: Any) -> Subject:
        """The same with some fields changed."""
        return replace(self, **changes)

    @property
    def certain(self) -> bool:
        """True if it is known exactly what is asked."""
        return self.doubt is None

    @property
    def paths(self) -> list[str]:
        """The files it is about, through symlinks."""
        return [target.real for target in self.targets]

    @property
    def outside(self) -> list[str]:
        """The paths that lie outside the roots, a command's directory among them."""
        places = [*self.targets, *([self.cwd] if self.cwd else [])]
        return [target.path for target in places if not target.inside]

    @property
    def sensitive(self) -> list[tuple[str, str]]:
        """Sensitive files, each with the reason."""
        return [(target.path, target.sensitive) for target in self.targets if target.sensitive]

    @property
    def concerns(self) -> list[str]:
        """Everything that makes it be asked whatever the policy, as clauses about "it"."""
        found = [self.dangerous] if self.dangerous else []
        found += [f"{path} is outside the workspace" for path in self.outside]
        found += [f"{path} {why}" for path, why in self.sensitive]
        found += ["it is too long to be checked"] if self.too_long else []
        return [*found, *self.names]


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
