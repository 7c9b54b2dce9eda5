"""Runs git on a private git directory. Of the user's git configuration, only the ignore file has an effect.

Hooks, filters, file system monitors, line end conversion and attributes do not affect what is stored, whether
the user, the system or the work tree defines them: the work tree is not trusted, and files must be restored
byte for byte. File contents are passed as bytes to `git fast-import`. It stores a large number of contents as
one pack, unless the contents are `removable`.
"""

from __future__ import annotations

import copy
import hashlib
import os
import select
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from acp_tui.config.paths import private_directory, write_private
from acp_tui.processes import ReaperClosedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from acp_tui.processes import Reaper

GIT_TIMEOUT_SECONDS = 60.0
"""The time limit of a git command. A command may hang on a pipe in the work tree or on a network disk."""
GIT_DIRECTORY = b".git"
_OPTIONS = {
    "core.bare": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
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
    "gc.auto": "0",
    "maintenance.auto": "false",
}
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


class PrivateGit:
    """Runs git on a bare repository in `directory`. Only acp-tui uses the repository.

    Calls that run git block. `reaper` ends git processes that are still running when acp-tui exits or is
    killed.
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
        self.run("init", "--quiet", "--bare", "--template=", str(self.directory))
        write_private(self.directory / "info" / "attributes", _ATTRIBUTES)

    def open(self) -> None:
        """Use the repository that an earlier acp-tui created. Raises `GitError`."""
        self._find_program()
        for lock in self.directory.glob("*.lock"):  # left by a killed command
            lock.unlink(missing_ok=True)
        self.tidy()
        self.run("rev-parse", "--git-dir")

    def _find_program(self) -> None:
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed")
        if self._stopped.is_set():
            raise GitError("it was stopped")
        self._program = str(Path(program).absolute())  # the work tree may contain another program named git
        self.ignore_file = _users_ignore_file(self._program, self._seconds)

    def with_objects(self, folder: Path) -> PrivateGit:
        """Return a `PrivateGit` that also reads the objects of another repository, from its `objects` folder.

        The two objects share the private repository and its commands.
        """
        other = copy.copy(self)
        other._more_objects = folder
        return other

    def stop(self) -> None:
        """End the commands that use the repository, and refuse new ones.

        Can be called from another thread.
        """
        self._stopped.set()
        for process in list(self._running):
            process.kill()

    def run(
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

    def records(
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

    def tidy(self) -> None:
        """Delete the pack files that killed commands left unfinished, because such files can be large."""
        for unfinished in self.directory.glob("objects/pack/tmp_*"):
            unfinished.unlink(missing_ok=True)

    def blob(self, name: str) -> bytes:
        """Return the content with this name. Raises `GitError` if the content is missing or damaged."""
        data = self.run("cat-file", "blob", name)
        if blob_name(data) != name:  # the file may be a hard link to the user's object
            raise GitError("the stored copy is damaged")
        return data

    def blobs(self, names: Collection[str]) -> dict[str, bytes]:
        """Return stored contents by name, without those that are missing or damaged."""
        wanted = "\n".join(names).encode()
        output = self.run("cat-file", "--batch", "--buffer", stdin=wanted) if names else b""
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
        output = self.run("cat-file", "--batch-check", "--buffer", stdin=b"\n".join(names)) if names else b""
        found = (line.split() for line in output.splitlines())
        return {words[0]: int(words[2]) for words in found if words[1:2] == [b"blob"]}

    @contextmanager
    def _start(
        self, words: Sequence[str], tree: GitWorkTree | None, stdin: int
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        settings = _OPTIONS | {"core.excludesFile": self.ignore_file}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        folder = self.directory if tree is None else tree.folder
        with tempfile.TemporaryFile() as errors:  # a pipe could fill up, because it is read only at the end
            try:
                process = subprocess.Popen(
                    [self._program, *options, *words],
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
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {
            "GIT_DIR": str(self.directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_DEFAULT_HASH": "sha1",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": str(self.directory),
            "XDG_CONFIG_HOME": str(self.directory),
            "LC_ALL": "C",
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
