"""Every git command that acp-tui runs. No other module starts git.

A repository can make git run programs: hooks (files, and with git 2.54 or newer also settings), filters, file
system monitors, external diffs, text conversions, credential helpers and transports. Its settings can depend
on the branch and on the folder, and a submodule or another nested repository brings settings of its own.

The commands are methods of two classes:

- `PrivateGit` works on a repository of acp-tui, with the user's folder as the work tree. No setting and no
  program of the folder or the user has an effect, except the user's global ignore file.
- `UserGit` works on the user's repository, for a worktree. Its commands run no program of the repository,
  unless the user trusts it. The commands that commit and merge, which the user has chosen, are the exception:
  they run as if the user had typed them. Their names end in `_as_user`.

Nothing runs in a submodule or in a nested repository. `tests/workspace/test_git_commands.py` calls each
method in a hostile repository. It finds the methods and fills in arguments by parameter name.
"""

from __future__ import annotations

import copy
import hashlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from acp_tui.config.paths import private_directory, write_private
from acp_tui.errors import UserError
from acp_tui.processes.reaper import Reaper, ReaperClosedError
from acp_tui.session.safe_text import escape_controls
from acp_tui.workspace.git.repository import find_worktree_git_dir, is_git_directory

GIT_TIMEOUT_SECONDS = 60.0
"""The time limit of a private command. It may hang on a pipe in the work tree or on a network disk."""
GIT_SECONDS = 600.0
"""The time limit of a command in the user's repository. Checking out a large repository, or the hooks of a
commit, can be slow."""
MAX_ERROR_BYTES = 20_000
"""The maximum size of the command output in an error, because a hook can print any amount."""
GIT_DIRECTORY = b".git"
_NO_PROGRAMS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "credential.helper": "",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "log.showSignature": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
"""The settings that keep git from running programs, where a setting without a name of its own can do so."""
_NO_PROGRAMS_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # no fetching of missing files: a transport is a program, too
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_SUBMODULES = "--ignore-submodules=all"
"""Without this option, git runs `status` in submodules, with the settings of each. A setting is not enough:
`.gitmodules` would override it."""
_HEADS_OF_SUBMODULES = "--ignore-submodules=dirty"
"""Like `_NO_SUBMODULES`, but lists submodules in which another commit is checked out. Git only reads their
HEAD."""
_PRIVATE_OPTIONS = _NO_PROGRAMS | {
    "core.bare": "false",
    "core.attributesFile": os.devnull,
    "core.untrackedCache": "false",
    "core.autocrlf": "false",
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.ignoreCase": "false",
    "core.precomposeUnicode": "false",
    "core.protectHFS": "false",  # names are only listed, never checked out
    "core.protectNTFS": "false",
    "core.compression": "1",
    "core.preloadIndex": "true",
}
_CONFIGURATION_VARIABLES = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"),
)
"""The beginnings of the variables that hold or name the user's own settings."""
# These outrank any .gitattributes in the folder.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n"


class GitError(Exception):
    """Raised if git fails or is stopped, or if a repository is not as expected. The message says why."""


@dataclass(frozen=True, slots=True)
class GitWorkTree:
    """The work tree and the index that a git command uses."""

    top: Path
    folder: Path  # the current directory, at or below `top`; listings cover only this folder
    index: Path


# --------------------------------------------------------------------------- acp-tui's own repository


class PrivateGit:
    """Runs git on a bare repository in `directory`. Only acp-tui uses the repository.

    Hooks, filters, file system monitors, line end conversion and attributes do not affect what is stored,
    whether the user, the system or the work tree defines them: the work tree is not trusted, and files must
    be restored byte for byte. File contents are passed as bytes to `git fast-import`. It stores a large
    number of contents as one pack, unless the contents are `removable`.

    Names of files are bytes, relative to `GitWorkTree.top` unless stated otherwise. Calls that run git block.
    `reaper` ends git processes that are still running when acp-tui exits or is killed.
    """

    def __init__(
        self, directory: Path, reaper: Reaper | None = None, *, seconds: float = GIT_TIMEOUT_SECONDS
    ) -> None:
        self.directory = directory
        self._reaper = reaper
        self._seconds = seconds
        self._program = ""  # found by `create`
        self.ignore_file = os.devnull
        """The user's global ignore file, found by `create`; the null device if there is none."""
        self._more_objects: Path | None = None
        self._stopped = threading.Event()
        self._running: set[subprocess.Popen[bytes]] = set()

    def nested(self, name: str) -> PrivateGit:
        """Return a `PrivateGit` for the subfolder `name` of `directory`.

        The caller must call `create` of the new object. The two objects share a reaper, and `stop` of either
        object ends the commands of both objects.
        """
        other = PrivateGit(self.directory / name, self._reaper, seconds=self._seconds)
        other._stopped, other._running = self._stopped, self._running
        return other

    def create(self) -> None:
        """Create the repository. Deletes the previous content of the directory. Raises `GitError`."""
        self._find_program()
        shutil.rmtree(self.directory, ignore_errors=True)
        private_directory(self.directory)
        self._run("init", "--quiet", "--bare", "--template=", str(self.directory))
        write_private(self.directory / "info" / "attributes", _ATTRIBUTES)

    def open(self) -> None:
        """Use the repository that an earlier acp-tui created. Raises `GitError`."""
        self._find_program()
        for lock in self.directory.glob("*.lock"):  # left by a killed command
            lock.unlink(missing_ok=True)
        self.tidy()
        self._run("rev-parse", "--git-dir")

    def with_objects(self, objects: Path) -> PrivateGit:
        """Return a `PrivateGit` that also reads the objects of another repository, from its `objects` folder.

        The two objects share the private repository and its commands.
        """
        other = copy.copy(self)
        other._more_objects = objects
        return other

    def _find_program(self) -> None:
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed")
        if self._stopped.is_set():
            raise GitError("it was stopped")
        self._program = str(Path(program).absolute())  # the work tree may contain another program named git
        self.ignore_file = _users_ignore_file(self._program, self._seconds)

    def stop(self) -> None:
        """End the commands that use the repository, and refuse new ones.

        Can be called from another thread.
        """
        self._stopped.set()
        for process in list(self._running):
            process.kill()

    # ---- the files of a work tree

    def ignores(self, tree: GitWorkTree, path: str) -> bool:
        """Return True if ignore files exclude a path, which is relative to the folder of `tree`."""
        words = ["check-ignore", "--no-index", "--", path]
        return bool(self._run(*words, tree=tree, ok=(0, 1)))

    def untracked(
        self, tree: GitWorkTree, ignore: Sequence[str], *, seconds: float | None = None
    ) -> Iterator[bytes]:
        """Yield the names of the untracked files, and of nested repositories with a slash at the end.

        `ignore` are options that say what to ignore. The command runs for at most `seconds`.
        """
        words = ["ls-files", "--others", "--full-name", *ignore]
        return self._records(*words, tree=tree, seconds=seconds)

    def ignored(self, tree: GitWorkTree, ignore: Sequence[str]) -> Iterator[bytes]:
        """Yield the names of untracked files and folders that the options `ignore` exclude."""
        words = ["ls-files", "--others", "--ignored", "--directory", "--full-name", *ignore]
        return self._records(*words, tree=tree)

    def tracked(self, tree: GitWorkTree) -> Iterator[bytes]:
        """Yield the names in the index."""
        return self._records("ls-files", "--cached", "--full-name", tree=tree)

    def tracked_though_ignored(self, tree: GitWorkTree, ignore: Sequence[str]) -> Iterator[bytes]:
        """Yield the names in the index that the options `ignore` exclude."""
        words = ["ls-files", "--cached", "--ignored", "--full-name", *ignore]
        return self._records(*words, tree=tree)

    def modified_or_deleted(self, tree: GitWorkTree) -> Iterator[bytes]:
        """Yield the tracked files that differ from the index: `R` or `C`, a space, and the name.

        `R` stands for a deleted file. It is listed a second time with `C`.
        """
        return self._records("ls-files", "-t", "--modified", "--deleted", "--full-name", tree=tree)

    def changed_names(self, tree: GitWorkTree) -> Iterator[bytes]:
        """Yield the names of the tracked files that differ from the index. Submodules do not count."""
        return self._records("diff-files", "--name-only", _NO_SUBMODULES, tree=tree)

    def changed_entries(self, tree: GitWorkTree) -> Iterator[bytes]:
        """Yield two records for each tracked file that differs from the index: the entry and the name.

        The entry has the format of `git diff-files --raw --no-abbrev`. Submodules do not count.
        """
        return self._records("diff-files", "--raw", "--no-abbrev", _NO_SUBMODULES, tree=tree)

    def attributes(self, tree: GitWorkTree, attributes: Sequence[str], names: Sequence[bytes]) -> list[bytes]:
        """Return the values of attributes of files: for each file and attribute a name, an attribute, a
        value.

        The attributes of this repository, which `create` writes, override those in the work tree.
        """
        words = ["check-attr", "-z", "--stdin", *attributes]
        return self._run(*words, tree=tree, stdin=b"\0".join(names)).split(b"\0")

    # ---- the index of a work tree

    def index_entries(self, tree: GitWorkTree, names: Sequence[bytes] = ()) -> Iterator[bytes]:
        """Yield the entries of the index as `git ls-files --stage` prints them.

        If there are `names`, yield only the entries with these names, and those below folders with these
        names.
        """
        patterns = [f":(literal){os.fsdecode(name)}" for name in names]
        words = ["ls-files", "--stage", "--full-name", *(["--", *patterns] if patterns else ())]
        return self._records(*words, tree=tree)

    def flagged_entries(self, tree: GitWorkTree) -> Iterator[bytes]:
        """Yield the entries of the index as `git ls-files -v --stage` prints them, with a letter for
        flags."""
        return self._records("ls-files", "-v", "--stage", "--full-name", tree=tree)

    def update_index(self, tree: GitWorkTree, entries: bytes) -> None:
        """Add, replace and remove entries of the index, in the format of `git update-index -z
        --index-info`."""
        self._run("update-index", "-z", "--index-info", tree=tree, stdin=entries)

    def refresh_index(self, tree: GitWorkTree) -> None:
        """Update the timestamps in the index of files whose content has not changed."""
        self._run("update-index", "-q", "--refresh", tree=tree, ok=(0, 1))

    # ---- settings

    def settings_of(self, file: Path) -> Iterator[tuple[bytes, bytes]]:
        """Yield the settings in a file as pairs of key and value. Included files are not read."""
        for setting in self._run("config", "--null", "--list", "--file", str(file)).split(b"\0"):
            key, _, value = setting.partition(b"\n")
            yield key, value

    # ---- contents

    @contextmanager
    def storing(self, *, removable: bool = False) -> Iterator[BlobWriter]:
        """Yield a writer for file contents. The contents can be read after the `with` block.

        Contents stored as `removable` are separate files, so that they can be deleted again.
        """
        loose = ["-c", f"fastimport.unpackLimit={2**31 - 1}"] if removable else []
        words = [*loose, "fast-import", "--quiet", "--depth=0"]
        with self._start(words, None, subprocess.PIPE) as (process, errors):
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # git's error is reported below
                yield BlobWriter(process.stdin.fileno(), self, self._seconds)
                process.stdin.close()
            try:
                process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                raise GitError(f"git took longer than {self._seconds:g} seconds") from None
            if process.returncode != 0:
                raise self._failure(process, errors)

    def files_of_commit(self, commit: str) -> Iterator[bytes]:
        """Yield the files of a commit as `git ls-tree -r` prints them. `with_objects` gives access to it."""
        return self._records("ls-tree", "-r", "--full-tree", commit)

    def tidy(self) -> None:
        """Delete the pack files that killed commands left unfinished, because such files can be large."""
        for unfinished in self.directory.glob("objects/pack/tmp_*"):
            unfinished.unlink(missing_ok=True)

    def blob(self, name: str) -> bytes:
        """Return the content with this name. Raises `GitError` if the content is missing or damaged."""
        data = self._run("cat-file", "blob", name)
        if blob_name(data) != name:  # the file may be a hard link to the user's object
            raise GitError("the stored copy is damaged")
        return data

    def blobs(self, names: Collection[str]) -> dict[str, bytes]:
        """Return stored contents by name, without those that are missing or damaged."""
        wanted = "\n".join(names).encode()
        output = self._run("cat-file", "--batch", "--buffer", stdin=wanted) if names else b""
        found: dict[str, bytes] = {}
        at = 0
        while at < len(output):
            end = output.index(b"\n", at)
            words = output[at:end].split()
            at = end + 1
            if words[1:2] == [b"blob"]:
                size = int(words[2])
                found[words[0].decode()] = output[at : at + size]
                at += size + 1
        return {name: data for name, data in found.items() if blob_name(data) == name}

    def loose_file(self, blob: str) -> Path:
        """Return the path that a loose object with this name has. Contents in a pack have no file there."""
        return self.directory / "objects" / blob[:2] / blob[2:]

    def present(self, names: Sequence[str]) -> set[str]:
        """Return those of `names` whose content is stored."""
        return {name.decode() for name in self.blob_sizes([name.encode() for name in names])}

    def blob_sizes(self, names: Sequence[bytes]) -> dict[bytes, int]:
        """Return the sizes, in bytes, of stored contents by name. Missing contents are left out."""
        output = self._run("cat-file", "--batch-check", "--buffer", stdin=b"\n".join(names)) if names else b""
        found = (line.split() for line in output.splitlines())
        return {words[0]: int(words[2]) for words in found if words[1:2] == [b"blob"]}

    # ---- running

    def _run(
        self, *words: str, tree: GitWorkTree | None = None, stdin: bytes = b"", ok: Sequence[int] = (0,)
    ) -> bytes:
        """Run a command and return its output. `ok` are the exit codes that mean success."""
        with self._start(words, tree, subprocess.PIPE) as (process, errors):
            try:
                output, _ = process.communicate(stdin, self._seconds)
            except subprocess.TimeoutExpired:
                raise GitError(f"git took longer than {self._seconds:g} seconds") from None
            if process.returncode not in ok:
                raise self._failure(process, errors)
            return output

    def _records(
        self, *words: str, tree: GitWorkTree | None = None, seconds: float | None = None
    ) -> Iterator[bytes]:
        """Run a command with `-z`, for at most `seconds`. Yield NUL-separated records as git prints them."""
        seconds = self._seconds if seconds is None else seconds
        with (
            self._start([words[0], "-z", *words[1:]], tree, subprocess.DEVNULL) as (process, errors),
            _killed_after(seconds, process) as late,
        ):
            assert process.stdout is not None
            rest = b""
            while chunk := os.read(process.stdout.fileno(), 1 << 16):
                *found, rest = (rest + chunk).split(b"\0")
                yield from found
            if process.wait() != 0 and late.is_set():
                raise GitError(f"git took longer than {seconds:g} seconds")
            if process.returncode != 0:
                raise self._failure(process, errors)

    @contextmanager
    def _start(
        self, words: Sequence[str], tree: GitWorkTree | None, stdin: int
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        settings = _PRIVATE_OPTIONS | {"core.excludesFile": self.ignore_file}
        folder = self.directory if tree is None else tree.folder
        with tempfile.TemporaryFile() as errors:  # a pipe could fill up, because it is read only at the end
            try:
                process = subprocess.Popen(
                    [self._program, *_options(settings), *words],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=folder,
                    env=self._environment(tree),
                    umask=0o077,
                    start_new_session=True,  # so that Ctrl+C in the terminal does not reach it
                )
            except OSError as error:
                raise GitError(f"git cannot be started: {error.strerror}") from None
            self._running.add(process)
            try:
                with self._watched(process):
                    if self._stopped.is_set():
                        raise GitError("it was stopped")
                    yield process, errors
            finally:
                self._running.discard(process)
                _end(process)

    @contextmanager
    def _watched(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        if self._reaper is None:
            yield
            return
        try:
            self._reaper.register(process.pid)
        except ReaperClosedError:
            raise GitError("it was stopped") from None
        try:
            yield
        finally:
            _end(process)
            self._reaper.unregister(process.pid)

    def _environment(self, tree: GitWorkTree | None) -> dict[str, str]:
        """Return acp-tui's environment with git's variables replaced, and a home without configuration."""
        environment = _without_git_variables() | _NO_PROGRAMS_ENVIRONMENT
        environment |= {
            "GIT_DIR": str(self.directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_DEFAULT_HASH": "sha1",
            "HOME": str(self.directory),
            "XDG_CONFIG_HOME": str(self.directory),
        }
        if self._more_objects is not None:
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(self._more_objects)
        if self._reaper is not None:
            environment |= self._reaper.environment
        if tree is not None:
            environment |= {"GIT_WORK_TREE": str(tree.top), "GIT_INDEX_FILE": str(tree.index)}
        return environment

    def _failure(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> GitError:
        if self._stopped.is_set():
            return GitError("it was stopped")
        errors.seek(0)
        output = errors.read().decode(errors="replace").strip()
        return GitError(output.splitlines()[-1] if output else f"git exited with code {process.returncode}")


class BlobWriter:
    """Passes file contents to git. Git stores identical contents only once."""

    def __init__(self, pipe: int, git: PrivateGit, seconds: float) -> None:
        """`pipe` is the standard input of git, which must read some of it within `seconds`."""
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._ready = select.poll()
        self._ready.register(pipe, select.POLLOUT)
        self._git = git
        self._seconds = seconds

    def add(self, data: bytes) -> str:
        """Store the content of a file, and return the name (object id) of the content.

        Raises `GitError` if git hangs.
        """
        name = blob_name(data)
        if self._git.loose_file(name).exists():  # git would change its mtime, also in the user's repository
            return name
        rest = memoryview(b"blob\ndata %d\n%b\n" % (len(data), data))
        while rest:
            if not self._ready.poll(self._seconds * 1000):
                raise GitError(f"git took longer than {self._seconds:g} seconds")
            rest = rest[os.write(self._pipe, rest) :]
        return name


def _quoted(folder: Path) -> str:
    """Return a folder as an entry of a list in which git separates folders by colons."""
    escaped = str(folder).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def blob_name(data: bytes) -> str:
    """Return the object id that git gives this content."""
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def _options(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]


def _without_git_variables(kept: tuple[str, ...] = ()) -> dict[str, str]:
    """Return acp-tui's environment without git's variables, except those that begin with one of `kept`."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(kept)
    }


def _users_ignore_file(program: str, seconds: float) -> str:
    """Return the path of the user's global ignore file; the null device if there is none.

    Other parts of the user's git configuration have no effect on `PrivateGit`. `program` is the path of git.
    """
    home = os.environ.get("XDG_CONFIG_HOME")
    path = (Path(home) if home else Path.home() / ".config") / "git" / "ignore"
    command = [program, "config", "--global", "--includes", "--path", "--get", "core.excludesFile"]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            cwd="/",
            env=_without_git_variables(_CONFIGURATION_VARIABLES) | _NO_PROGRAMS_ENVIRONMENT,
            timeout=seconds,
            start_new_session=True,  # so that Ctrl+C in the terminal does not reach it
        )
        path = Path(os.fsdecode(found.stdout.removesuffix(b"\n")))
    return str(path) if path.is_absolute() and path.is_file() else os.devnull


@contextmanager
def _killed_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[threading.Event]:
    """Kill the process and set the yielded event if the `with` block takes longer than `seconds`."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process if it is still running, and close its pipes. Can be called more than once."""
    if process.poll() is None:
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):  # closing flushes what was not written
                stream.close()
    process.wait()


# --------------------------------------------------------------------------- the user's repository

_FILTER_PROGRAMS = ("clean", "smudge", "process")
_IDENTITY_VARIABLES = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_REPOSITORY_VARIABLES = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"),
    *("GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_CEILING_DIRECTORIES"),
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    "GIT_TRACE",
)
"""The beginnings of variables that point git to another repository, change how git reads paths, or make git
print more. No command of `UserGit` gets them."""


class GitCommandError(UserError):
    """A git command failed. `output` is the end of what git and its hooks printed."""

    def __init__(self, sentence: str, output: str = "") -> None:
        super().__init__(sentence)
        self.output = output


@dataclass(frozen=True, slots=True)
class _Settings:
    """Settings of a repository that name programs."""

    own_filters: list[str]  # defined or changed by the repository's own configuration, such as `git-crypt`
    hooks: list[str]  # hooks that are defined by settings, whoever defined them


class UserGit:
    """Runs git commands in the top folder of the user's repository or of a worktree. All calls block.

    Unless stated otherwise, a method raises `GitCommandError` if git fails, and runs no program of an
    untrusted repository. Filters of the user's own configuration, such as Git LFS, always run.
    """

    def __init__(self, folder: Path, *, trusted: bool = False, git_dir: Path | None = None) -> None:
        """Use the repository of `folder`, or the git directory `git_dir` with `folder` as its work tree.

        If `trusted`, hooks and filters of the repository may run.
        """
        self.folder = folder
        self.git_dir = git_dir
        self._trusted = trusted

    @classmethod
    def of_worktree(cls, path: Path, repository: Path, *, trusted: bool = False) -> UserGit | None:
        """Return an object for a worktree of the repository with the top folder `repository`.

        Return None if the repository has no worktree in `path`. The file `.git` in the worktree is not read:
        an agent could have replaced it, with the name of a repository of its own.
        """
        git_dir = find_worktree_git_dir(repository, path)
        return cls(path, trusted=trusted, git_dir=git_dir) if git_dir is not None else None

    # ---- the repository

    def own_filters(self) -> list[str]:
        """Return the filters whose programs the repository's configuration adds or changes.

        Settings can depend on the folder and the branch, so a worktree can have others than its repository.
        """
        return self._settings().own_filters

    def top_folder(self) -> Path:
        return Path(self._line("rev-parse", "--show-toplevel"))

    def is_submodule(self) -> bool:
        """Return True if the work tree is a submodule of another repository."""
        return bool(self._line("rev-parse", "--show-superproject-working-tree"))

    def current_branch(self) -> str:
        """Return the name of the branch that is checked out; an empty string if HEAD is detached."""
        name = os.fsdecode(self._guarded("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))).strip()
        return name.removeprefix("refs/heads/")

    def commit_id(self, name: str) -> str:
        """Return the id of the commit that a name refers to; an empty string if there is no such commit."""
        words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return self._line(*words) if self._succeeds(*words) else ""

    def branch_commit(self, branch: str) -> str:
        """Return the id of the commit that a branch points to; an empty string if there is no such branch."""
        return self.commit_id(f"refs/heads/{branch}")

    def has_folder(self, commit: str, folder: str) -> bool:
        """Return True if a commit contains the folder."""
        return self._guarded("cat-file", "-t", f"{commit}:{folder}", ok=(0, 128)) == b"tree\n"

    def has_submodules(self) -> bool:
        return self._succeeds("cat-file", "-e", "HEAD:.gitmodules")

    def commits(self, heads: Sequence[str], without: str, limit: int) -> list[bytes]:
        """Return short ids and titles of the commits that `heads` have and `without` lacks, newest first."""
        words = ["log", f"--max-count={limit}", "--no-show-signature", "--no-notes", "--format=%h %s"]
        return self._guarded(*words, *heads, f"^{without}").splitlines()

    def count_commits(self, head: str, without: str) -> int:
        """Return the number of commits that `head` has and `without` lacks."""
        return int(self._line("rev-list", "--count", head, f"^{without}"))

    def is_ancestor_of_head(self, branch: str) -> bool:
        """Return True if HEAD contains all commits of a branch."""
        return self._succeeds("merge-base", "--is-ancestor", f"refs/heads/{branch}", "HEAD")

    # ---- branches

    def is_branch_name(self, branch: str) -> bool:
        """Return True if git allows the name for a branch."""
        return not branch.startswith("-") and self._succeeds("check-ref-format", f"refs/heads/{branch}")

    def has_branch(self, branch: str) -> bool:
        return self._succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")

    def create_branch(self, new_branch: str, commit: str) -> None:
        """Create a branch that points to a commit."""
        self._guarded("branch", "--quiet", "--no-track", new_branch, commit)

    def delete_branch(self, branch: str) -> None:
        """Delete a branch, merged or not."""
        self._guarded("branch", "--delete", "--force", branch)

    # ---- worktrees

    def add_worktree(self, new_folder: Path, branch: str) -> None:
        """Create a worktree on a branch. Its files are written only if the repository is trusted.

        For an untrusted repository, `check_out_files` of the worktree writes the files, once `own_filters`
        has been checked there.
        """
        option = [] if self._trusted else ["--no-checkout"]
        self._guarded("worktree", "add", "--quiet", *option, str(new_folder), branch)

    def check_out_files(self) -> None:
        """Write all files of HEAD. Raises `GitCommandError` also if an untrusted repository defines
        filters."""
        if not self._trusted and self.own_filters():
            raise GitCommandError("the repository defines filters that run programs.")
        self._guarded("reset", "--hard", "--quiet", "--no-recurse-submodules")

    def remove_worktree(self, worktree: Path) -> None:
        """Delete a worktree with everything in it."""
        self._guarded("worktree", "remove", "--force", "--force", str(worktree))

    def prune_worktrees(self) -> None:
        """Forget the worktrees whose folders are gone."""
        self._guarded("worktree", "prune")

    def checkout_of(self, branch: str) -> Path | None:
        """Return the folder in which a branch is checked out; None if there is no such folder."""
        folder = None
        for line in self._guarded("worktree", "list", "--porcelain").splitlines():
            if line.startswith(b"worktree "):
                folder = Path(os.fsdecode(line.removeprefix(b"worktree ")))
            elif line == b"branch refs/heads/" + os.fsencode(branch):
                return folder
        return None

    # ---- the files

    def status(self, *, folders: bool = False) -> list[tuple[bytes, str]]:
        """Return two letters and the name of each file that is changed, untracked (`??`) or ignored (`!!`).

        With `folders`, untracked and ignored folders are listed instead of the files in them.
        """
        files = ["--untracked-files=normal", "--ignored"] if folders else []
        files = files or ["--untracked-files=all", "--ignored=matching"]
        words = ["status", "--porcelain", "-z", "--no-renames", _HEADS_OF_SUBMODULES, *files]
        records = self._guarded(*words).split(b"\0")
        return [(record[:2], os.fsdecode(record[3:])) for record in records if record]

    def files_changed_since(self, commit: str) -> set[str]:
        """Return the names of the files that differ from a commit, committed or not, and of untracked files.

        If HEAD does not descend from the commit, the files are compared with the last common ancestor.
        """
        words = [
            *("diff", "--merge-base", "--name-only", "-z", "--no-renames", "--no-ext-diff"),
            "--no-textconv",
        ]
        changed = self._guarded(*words, _HEADS_OF_SUBMODULES, commit)
        untracked = self._guarded("ls-files", "--others", "--exclude-standard", "-z")
        return {os.fsdecode(name) for name in (changed + untracked).split(b"\0") if name}

    def merge_base(self, commit: str) -> str:
        """Return the id of the last common ancestor of HEAD and a commit, or an empty string."""
        return os.fsdecode(self._guarded("merge-base", "HEAD", commit, ok=(0, 1))).strip()

    def embedded_repositories(self) -> list[str]:
        """Return the names of the submodules that contain a repository."""
        return [
            name
            for name in self._submodules()
            if os.path.lexists(self.folder / name / ".git") or is_git_directory(self.folder / name)
        ]

    def conflicting_files(self) -> list[str]:
        words = ["diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff", "--no-textconv"]
        return [os.fsdecode(name) for name in self._guarded(*words, _NO_SUBMODULES).split(b"\0") if name]

    def has_staged_changes(self) -> bool:
        """Return True if the index differs from HEAD."""
        words = ["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", _HEADS_OF_SUBMODULES]
        return not self._succeeds(*words)

    def unstage_all(self) -> None:
        """Make the index equal to HEAD, and keep the files."""
        self._guarded("reset", "--quiet", "--no-recurse-submodules")

    def move_head(self, commit: str) -> None:
        """Make the checked out branch point to a commit, and keep the files."""
        self._guarded("reset", "--quiet", "--no-recurse-submodules", commit)

    def switch_back(self, branch: str) -> None:
        """Check out a branch. Changes of tracked files are lost."""
        self._guarded("checkout", "--quiet", "--force", "--no-recurse-submodules", branch)

    def reset_branch(self, branch: str) -> None:
        """Make a branch point to HEAD, and check it out."""
        self._guarded("checkout", "--quiet", "--no-recurse-submodules", "-B", branch)

    # ---- commit and merge, as the user would

    def stage_all_as_user(self) -> None:
        """Stage everything that is not ignored, except commits in submodules."""
        submodules = self._submodules()
        present = [name for name in submodules if (self.folder / name).is_dir()]
        if removed := set(submodules) - {*present}:
            # `add` would do it, but would run `status` in a repository that appears there meanwhile.
            lines = b"\0".join(map(os.fsencode, sorted(removed)))
            self._guarded("update-index", "--force-remove", "-z", "--stdin", stdin=lines)
        if not present:
            self._as_user("add", "--all")
            return
        patterns = [":/", *(f":(top,exclude,literal){name}" for name in present)]
        words = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"]
        self._as_user(*words, stdin=b"\0".join(map(os.fsencode, patterns)))

    def commit_as_user(self, message: str) -> None:
        """Commit what is staged."""
        self._as_user("commit", "--quiet", "--cleanup=whitespace", "--file=-", stdin=message.encode())

    def commit_without_hooks_as_user(self, message: str) -> None:
        """Commit what is staged, for a moment: without hooks and signature."""
        words = ["commit", "--quiet", "--no-gpg-sign", "--no-verify", f"--message={message}"]
        self._as_user(*words, hooks=False)

    def detach_as_user(self, branch: str) -> None:
        """Check out the commit of a branch, without hooks. Git overwrites no ignored files."""
        words = ["checkout", "--quiet", "--no-overwrite-ignore", "--detach", f"refs/heads/{branch}"]
        self._as_user(*words, hooks=False)

    def squash_as_user(self, branch: str) -> None:
        """Stage all changes of a branch, without hooks."""
        self._as_user("merge", "--squash", "--quiet", f"refs/heads/{branch}", hooks=False)

    def move_branch_as_user(self, branch: str, commit: str) -> None:
        """Make a branch that is not checked out point to a commit."""
        self._as_user("branch", "--force", branch, commit)

    def fast_forward_as_user(self, commit: str) -> None:
        """Fast-forward the branch that is checked out, and its files."""
        self._as_user("merge", "--ff-only", "--no-overwrite-ignore", "--quiet", commit)

    # ---- running

    def _guarded(self, *words: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        """Run a command and return its output. Programs of an untrusted repository do not run.

        Raises `GitCommandError` if the exit code is not in `ok`.
        """
        if self._trusted:
            return self._run([*words], self._users_environment() | {"LC_ALL": "C"}, stdin, ok)
        found = self._settings()
        settings = _NO_PROGRAMS | _disabled(found.hooks)
        settings |= {f"filter.{name}.{key}": "" for name in found.own_filters for key in _FILTER_PROGRAMS}
        settings |= {f"filter.{name}.required": "false" for name in found.own_filters}
        if any("=" in name for name in (*found.own_filters, *found.hooks)):
            raise GitCommandError(  # `git -c` splits its argument at the first `=`
                "acp-tui cannot turn off one of the repository's filters or hooks: its name contains `=`."
            )
        return self._run([*_options(settings), *words], self._guarded_environment(), stdin, ok)

    def _as_user(self, *words: str, stdin: bytes = b"", hooks: bool = True) -> bytes:
        """Run a command as the user would, but git cannot ask for input and does not run `gc` by itself.

        Return the output. Without `hooks`, the command runs no hooks. Raises `GitCommandError`.
        """
        settings = {"gc.auto": "0", "maintenance.auto": "false"}
        if self.git_dir is not None:  # a worktree, in which submodules are empty unless the agent filled them
            settings["submodule.recurse"] = "false"
        if not hooks:
            settings |= {"core.hooksPath": os.devnull} | _disabled(self._settings().hooks)
        return self._run([*_options(settings), *words], self._users_environment(), stdin, (0,))

    def _succeeds(self, *words: str) -> bool:
        """Return True if a guarded command ends with exit code 0."""
        try:
            self._guarded(*words)
        except GitCommandError:
            return False
        return True

    def _line(self, *words: str) -> str:
        """Return the output of a guarded command that prints one line, without the line break."""
        return os.fsdecode(self._guarded(*words).removesuffix(b"\n"))

    def _submodules(self) -> list[str]:
        """Return the names of the submodules in the index, populated or not."""
        entries = self._guarded("ls-files", "--stage", "-z").split(b"\0")
        return sorted({os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry[:6] == b"160000"})

    def _settings(self) -> _Settings:
        """Return the settings that name programs, as they are at this moment, in this folder, on this branch.

        No guard is needed: `git config` runs no program.
        """
        words = ["config", "--null", "--show-scope", "--list"]
        output = self._run(words, self._guarded_environment(), b"", (0,))
        fields = [os.fsdecode(field) for field in output.split(b"\0")]
        own: set[tuple[str, str]] = set()
        users: set[tuple[str, str]] = set()
        hooks: set[str] = set()
        for scope, setting in zip(fields[::2], fields[1::2], strict=False):
            key, _, value = setting.partition("\n")
            section, _, rest = key.partition(".")
            name, _, last = rest.rpartition(".")
            if section == "filter" and name and last in _FILTER_PROGRAMS:
                (own if scope in ("local", "worktree") else users).add((key, value))
            elif section == "hook" and name:
                hooks.add(name)
        names = {key.removeprefix("filter.").rpartition(".")[0] for key, _ in own - users}
        return _Settings(sorted(names), sorted(hooks))

    def _guarded_environment(self) -> dict[str, str]:
        kept = _CONFIGURATION_VARIABLES + _IDENTITY_VARIABLES
        return self._with_git_dir(_without_git_variables(kept) | _NO_PROGRAMS_ENVIRONMENT)

    def _users_environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "GIT_CONFIG"}
        for name in os.environ:
            if name.startswith(_REPOSITORY_VARIABLES):
                del kept[name]
        return self._with_git_dir(kept | {"GIT_TERMINAL_PROMPT": "0"})

    def _with_git_dir(self, environment: dict[str, str]) -> dict[str, str]:
        return environment | ({"GIT_DIR": str(self.git_dir)} if self.git_dir is not None else {})

    def _run(self, words: list[str], environment: dict[str, str], stdin: bytes, ok: Sequence[int]) -> bytes:
        program = shutil.which("git")
        if program is None:
            raise GitCommandError("git is not installed.")
        command = [str(Path(program).absolute()), *words]  # the folder may contain another program named git
        # Files, because a process that a hook leaves running would keep pipes open.
        with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as errors:
            given.write(stdin)
            given.seek(0)
            code = _exit_code(command, self.folder, environment, given, output, errors)
            output.seek(0)
            if code not in ok:
                raise _failure(code, output, errors)
            return output.read()


def _disabled(hooks: Iterable[str]) -> dict[str, str]:
    """Return settings that disable hooks. `core.hooksPath` does not affect hooks defined by settings.

    `hook.EVENT.enabled` would not be enough: a setting such as `hook.EVENT.parallel` makes git ignore it.
    """
    return {f"hook.{name}.enabled": "false" for name in hooks}


def _exit_code(
    command: list[str],
    folder: Path,
    environment: dict[str, str],
    stdin: IO[bytes],
    output: IO[bytes],
    errors: IO[bytes],
) -> int:
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
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
    return escape_controls(file.read().decode(errors="replace")).strip()
