"""One command as it will really run: out of its `sh -c`, in the directory it changes to."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.permissions.dangerous import dangerous, dangerous_argv
from acp_tui.permissions.environment import significant
from acp_tui.permissions.plain import NotPlainError, is_plain_argv, plain_words
from acp_tui.permissions.shell import take_apart, take_apart_argv
from acp_tui.permissions.wrappers import shell_script

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acp_tui.permissions.asked import Place, Target

_DEEPEST = 8
_LONGEST_PATH = 4096
_MOST_WORDS = 1000  # that are looked at
_CHANGING_DIRECTORY = re.compile(
    r"""\s*cd[ \t]+(?:--[ \t]+)?(?!-)
        (?:'(?P<single>[^'\n]+)'|"(?P<double>[^"$`\\!\n]+)"|(?P<bare>[\w@%+:,./][\w@%+=:,./-]*))
        [ \t]*&&(?!&)\s*(?P<rest>\S.*)""",
    re.VERBOSE | re.DOTALL,
)

_LEAVING_OUT = re.compile(r"--?\w*(?:exclude|ignore)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command, read."""

    line: str | None  # for a shell; None with `argv`
    argv: tuple[str, ...] | None  # for no shell
    words: tuple[str, ...] | None  # when it is plain
    composite: str | None  # why it is not
    cwd: Target
    environment: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()  # those of them that are not harmless
    names: tuple[str, ...] = ()  # sensitive files, as sentences about "it"
    dangerous: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two ways to say the same."""
        return (self.words or self.line or self.argv, self.cwd.real)


def read_command(
    given: str | tuple[str, ...],
    place: Place,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    shell_free: bool = False,
) -> Command:
    """Read a line for the shell, or a program with its arguments.

    `shell_free`: we start it ourselves, so its arguments reach no shell whatever they hold. Of an agent
    that gives a list this is not known.
    """
    directory = place.target(cwd or place.cwd)
    danger = _danger(given, directory.real)
    inner, directory = _unwrapped(given, directory, place)
    if inner != given and not danger:
        danger = _danger(inner, directory.real)
    words, composite = _plain(inner, shell_free=shell_free)
    return Command(
        line=inner if isinstance(inner, str) else None,
        argv=inner if isinstance(inner, tuple) else None,
        words=words,
        composite=composite,
        cwd=directory,
        environment=tuple((env or {}).items()),
        variables=significant(env or {}, place.environment),
        names=tuple(_sensitive_files(inner, directory, place)),
        dangerous=danger,
    )


def _sensitive_files(given: str | tuple[str, ...], directory: Target, place: Place) -> Iterator[str]:
    """Those among its words. What a command makes up or finds by itself is not seen: this is no wall."""
    line = take_apart(given) if isinstance(given, str) else take_apart_argv(given)
    words = dict.fromkeys(
        word.text
        for part in line.parts
        for word in (*part.words, *(redirection.target for redirection in part.redirections))
    )
    for word in islice(words, _MOST_WORDS):
        for path in _paths_in(word):
            if why := place.target(path, directory.path).sensitive:
                yield f"it names {path}, which {why}"
                break


def _paths_in(word: str) -> Iterator[str]:
    """`FILE`, `@FILE` and `name=FILE` may name a file; what is left out of something does not."""
    if word.startswith("!") or _LEAVING_OUT.match(word) or len(word) > _LONGEST_PATH or "\n" in word:
        return
    for path in (word.partition("=")[2], word.removeprefix("@")):
        if path and not path.startswith("-") and posixpath.basename(path) != ".git":
            yield path


def _danger(given: str | tuple[str, ...], cwd: str) -> str | None:
    return dangerous(given, cwd=cwd) if isinstance(given, str) else dangerous_argv(given, cwd=cwd)


def _unwrapped(
    given: str | tuple[str, ...], directory: Target, place: Place
) -> tuple[str | tuple[str, ...], Target]:
    """Without `sh -c` around it and `cd INSIDE &&` before it, as often as there are any."""
    for _ in range(_DEEPEST):
        script: str | None = None
        if isinstance(given, tuple):
            script = shell_script(given)
        elif changing := _CHANGING_DIRECTORY.fullmatch(given):
            path = changing["single"] or changing["double"] or changing["bare"]
            target = place.target(path, directory.path)
            if target.inside:
                script, directory = changing["rest"], target
        else:
            script = _script_of_line(given)
        if script is None:
            break
        given = script.strip()
    return (given.strip() if isinstance(given, str) else given), directory


def _script_of_line(line: str) -> str | None:
    try:
        return shell_script(plain_words(line))
    except NotPlainError:
        return None


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
