"""One command as it will really run: out of its `sh -c`, in the directory it changes to."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.arguments import reservations
from acp_tui.permissions.commands.named_files import sensitive_files
from acp_tui.permissions.commands.plain import NotPlainError, is_plain_argv, plain_words
from acp_tui.permissions.commands.wrappers import shell_script
from acp_tui.permissions.danger.dangerous_commands import dangerous, dangerous_argv
from acp_tui.permissions.environment import significant
from acp_tui.permissions.request import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_tui.permissions.request import PathContext

_DEEPEST = 8
_CHANGING_DIRECTORY = re.compile(
    r"""\s*cd[ \t]+(?:--[ \t]+)?(?!-)
        (?:'(?P<single>[^'\n]+)'|"(?P<double>[^"$`\\!\n]+)"|(?P<bare>[\w@%+:,./][\w@%+=:,./-]*))
        [ \t]*&&(?!&)\s*(?P<rest>\S.*)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command, read."""

    line: str | None  # for a shell; None with `argv`
    argv: tuple[str, ...] | None  # for no shell
    words: tuple[str, ...] | None  # when it is plain
    composite: str | None  # why it is not
    cwd: Target
    run: str | tuple[str, ...]  # what is to be run in that directory
    environment: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()  # those of them that are not harmless
    reservations: tuple[tuple[int, str], ...] = ()  # of its words: see `arguments`
    names: tuple[str, ...] = ()  # sensitive files, as sentences about "it"
    dangerous: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two ways to say the same."""
        return (self.words or self.line or self.argv, self.cwd.real)


_BACKGROUND = re.compile(r"(?<![&>])&(?![&>])")
"""After `cd x && a & b`, `b` runs where the line began."""


def read_command(
    given: str | tuple[str, ...],
    place: PathContext,
    *,
    cwd: str | Target | None = None,
    env: Mapping[str, str] | None = None,
    shell_free: bool = False,
    follow_cd: bool = True,
) -> Command:
    """Read a line for the shell, or a program with its arguments.

    `shell_free`: we start it ourselves, so its arguments reach no shell whatever they hold. Of an agent
    that gives a list this is not known. `follow_cd`: a leading `cd` may be taken as the directory.
    """
    directory = place.folder(cwd or place.cwd) if not isinstance(cwd, Target) else cwd
    danger = _danger(given, directory.real)
    inner, directory, run = _unwrapped(given, directory, place, follow_cd=follow_cd)
    if inner != given and not danger:
        danger = _danger(inner, directory.real)
    words, composite = _plain(inner, shell_free=shell_free)
    return Command(
        line=inner if isinstance(inner, str) else None,
        argv=inner if isinstance(inner, tuple) else None,
        words=words,
        composite=composite,
        cwd=directory,
        run=run,
        environment=tuple((env or {}).items()),
        reservations=tuple(reservations(words, directory, place)) if words else (),
        variables=significant(env or {}, place.base_environment),
        names=tuple(sensitive_files(inner, directory, place)),
        dangerous=danger,
    )


def _danger(given: str | tuple[str, ...], cwd: str) -> str | None:
    return dangerous(given, cwd=cwd) if isinstance(given, str) else dangerous_argv(given, cwd=cwd)


def _unwrapped(
    given: str | tuple[str, ...], directory: Target, place: PathContext, *, follow_cd: bool
) -> tuple[str | tuple[str, ...], Target, str | tuple[str, ...]]:
    """Without `sh -c` around it and `cd INSIDE &&` before it, as often as there are any.

    Returns the command, its directory, and what to run there: the shells stay, a `cd` is left out, because
    the directory it leads to may be another one when the shell gets there.
    """
    original = given
    shells: list[tuple[str, ...]] = []  # from the outside in, each without its script
    changed = False
    for _ in range(_DEEPEST):
        if isinstance(given, tuple):
            words = given if shell_script(given) is not None else None
        elif changing := _CHANGING_DIRECTORY.fullmatch(given) if follow_cd else None:
            path = changing["single"] or changing["double"] or changing["bare"]
            target = place.folder(path, directory.path)
            if not target.inside or _BACKGROUND.search(changing["rest"]):
                break
            given, directory, changed = changing["rest"].strip(), target, True
            continue
        else:
            words = _words_of_shell(given)
        if words is None:
            break
        script = shell_script(words)
        assert script is not None
        shells.append(words[:-1])
        given = script.strip()
    inner = given.strip() if isinstance(given, str) else given
    return inner, directory, _rewrapped(inner, shells, isinstance(original, str)) if changed else original


def _rewrapped(
    inner: str | tuple[str, ...], shells: Sequence[tuple[str, ...]], outermost_is_line: bool
) -> str | tuple[str, ...]:
    """The command in its shells again."""
    for depth, shell in reversed(list(enumerate(shells))):
        words = (*shell, inner if isinstance(inner, str) else shlex.join(inner))
        inner = shlex.join(words) if depth or outermost_is_line else words
    return inner


def _words_of_shell(line: str) -> tuple[str, ...] | None:
    """The words of a line that is exactly `sh -c SCRIPT`."""
    try:
        words = plain_words(line)
    except NotPlainError:
        return None
    return words if shell_script(words) is not None else None


def _plain(given: str | tuple[str, ...], *, shell_free: bool) -> tuple[tuple[str, ...] | None, str | None]:
    """The words, or why there are none."""
    if isinstance(given, tuple):
        if shell_free or is_plain_argv(given):
            return given, None
        return None, "its arguments would be a different command in a shell"
    try:
        return plain_words(given), None
    except NotPlainError as reason:
        return None, str(reason)
