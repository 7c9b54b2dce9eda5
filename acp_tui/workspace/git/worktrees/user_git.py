"""Runs git in the user's repository, for operations that the user has requested.

A repository can make git run programs: its hooks, and the filters, file system monitors and transports named
in its configuration. `guarded` commands run none of these programs unless the user trusts the repository.
`as_user` commands are what the user would type: hooks and settings apply.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

GIT_SECONDS = 600.0
"""The time limit of a git command. Checking out a large repository, or the hooks of a commit, can be slow."""
MAX_ERROR_BYTES = 20_000
"""The maximum size of the command output in an error, because a hook can print any amount."""
_REPOSITORY_VARIABLES = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"),
        *(
            "GIT_CONFIG",
            "GIT_GRAFT_FILE",
            "GIT_SHALLOW_FILE",
            "GIT_QUARANTINE_PATH",
            "GIT_CEILING_DIRECTORIES",
        ),
        *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    }
)
"""Environment variables that point git to another repository, or change how git reads paths."""
_GUARD = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_GUARDED_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # no fetching of missing files: a transport is a program, too
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_FILTER_PROGRAMS = ("clean", "smudge", "process")


class GitCommandError(UserError):
    """A git command failed. `output` is the end of what git and its hooks printed."""

    def __init__(self, sentence: str, output: str = "") -> None:
        super().__init__(sentence)
        self.output = output


class UserGit:
    """Runs git commands in one folder of a repository. All calls block. Nothing is passed to a shell."""

    def __init__(self, folder: Path, *, trusted: bool = False) -> None:
        """Use the repository of `folder`.

        If `trusted`, guarded commands may run the repository's hooks and filters.
        """
        self._folder = folder
        self._trusted = trusted

    def guarded(self, *words: str, ok: Sequence[int] = (0,)) -> bytes:
        """Run a command and return its output. Hooks and filters of an untrusted repository do not run.

        Raises `GitCommandError` if the exit code is not in `ok`.
        """
        if self._trusted:
            return self._run([*words], {"LC_ALL": "C"}, b"", ok)
        if any("=" in name for name in self.own_filters):  # `git -c` splits its argument at the first `=`
            raise GitCommandError(
                "acp-tui cannot turn off one of the repository's filters: its name contains `=`."
            )
        settings = _GUARD | {
            f"filter.{name}.{key}": "" for name in self.own_filters for key in _FILTER_PROGRAMS
        }
        settings |= {f"filter.{name}.required": "false" for name in self.own_filters}
        return self._run([*_options(settings), *words], _GUARDED_ENVIRONMENT, b"", ok)

    def as_user(self, *words: str, stdin: bytes = b"", hooks: bool = True) -> bytes:
        """Run a command as the user would, but git cannot ask for input and does not run `gc` by itself.

        Return the output. Without `hooks`, the command runs no hooks. Raises `GitCommandError`.
        """
        settings = {"gc.auto": "0"} if hooks else {"gc.auto": "0", "core.hooksPath": os.devnull}
        return self._run([*_options(settings), *words], {}, stdin, (0,))

    def succeeds(self, *words: str) -> bool:
        """Return True if a guarded command ends with exit code 0."""
        try:
            self.guarded(*words)
        except GitCommandError:
            return False
        return True

    def line(self, *words: str) -> str:
        """Return the output of a guarded command that prints one line, without the line break."""
        return os.fsdecode(self.guarded(*words).removesuffix(b"\n"))

    @cached_property
    def own_filters(self) -> list[str]:
        """The filters whose programs the repository's configuration adds or changes, such as `git-crypt`."""
        users = self._filter_settings("--global") | self._filter_settings("--system")
        own = (self._filter_settings("--local") | self._filter_settings("--worktree")) - users
        return sorted({key.removeprefix("filter.").rpartition(".")[0] for key, _ in own})

    def _filter_settings(self, scope: str) -> set[tuple[str, str]]:
        """Return the settings that name filter programs. No guard is needed: `git config` runs no program."""
        pattern = rf"^filter\..*\.({'|'.join(_FILTER_PROGRAMS)})$"
        words = ["config", scope, "--includes", "--null", "--get-regexp", pattern]
        try:
            output = self._run(words, _GUARDED_ENVIRONMENT, b"", (0, 1))
        except GitCommandError:
            return set()  # there is no configuration for this scope
        pairs = (os.fsdecode(record).partition("\n") for record in output.split(b"\0") if record)
        return {(key, value) for key, _, value in pairs}

    def _run(self, words: list[str], variables: dict[str, str], stdin: bytes, ok: Sequence[int]) -> bytes:
        program = shutil.which("git")
        if program is None:
            raise GitCommandError("git is not installed.")
        command = [str(Path(program).absolute()), *words]  # the folder may contain another program named git
        # Files, because a process that a hook leaves running would keep pipes open.
        with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as errors:
            given.write(stdin)
            given.seek(0)
            code = _exit_code(command, self._folder, variables, given, output, errors)
            output.seek(0)
            if code not in ok:
                raise _failure(code, output, errors)
            return output.read()


def _exit_code(
    command: list[str],
    folder: Path,
    variables: dict[str, str],
    stdin: IO[bytes],
    output: IO[bytes],
    errors: IO[bytes],
) -> int:
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment() | variables,
            stdin=stdin,
            stdout=output,
            stderr=errors,
            start_new_session=True,  # hooks cannot read from the terminal, which shows acp-tui
        )
    except OSError as error:
        raise GitCommandError(f"git cannot run in {folder}: {error.strerror}.") from error
    try:
        return process.wait(GIT_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise GitCommandError(f"git took longer than {GIT_SECONDS:g} seconds.") from None


def _options(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]


def _environment() -> dict[str, str]:
    """Return acp-tui's environment. `_REPOSITORY_VARIABLES` and `GIT_TRACE…` are left out."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _REPOSITORY_VARIABLES and not name.startswith("GIT_TRACE")
    }
    return kept | {"GIT_TERMINAL_PROMPT": "0"}


def _failure(code: int, output: IO[bytes], errors: IO[bytes]) -> GitCommandError:
    text = _end_of(errors) or _end_of(output)
    lines = text.splitlines()
    reasons = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    reason = reasons[0] if reasons else f"git exited with code {code}"
    reason = reason.removeprefix("fatal: ").removeprefix("error: ")
    return GitCommandError(f"{reason.rstrip('.:')}.", text)


def _end_of(file: IO[bytes]) -> str:
    """Return the end of a file, safe to display."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MAX_ERROR_BYTES))
    return visible(file.read().decode(errors="replace")).strip()
