"""A git directory of our own, and git run on it so that no configuration but ours has a say.

Hooks, filters, file system monitors, line end conversion and attributes of the user, of the system or of
the folder never run: the folder is not trusted, and a file must come back byte for byte. Contents are
therefore handed to git as bytes (`fast-import`), which also packs them at once.
"""

from __future__ import annotations

import hashlib
import os
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
    from collections.abc import Iterator, Sequence

    from acp_tui.processes import Reaper

GIT_TIMEOUT_SECONDS = 60.0
"""Seconds one command may take. It can hang for ever: on a pipe in the work tree, or a network disk."""
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
    """git could not do it: its last line, or what the system said."""


@dataclass(frozen=True, slots=True)
class GitContext:
    """A work tree as one git command sees it."""

    top: Path
    folder: Path  # where it runs: the top or a folder below, to which listings are confined
    index: Path


class PrivateGit:
    """Objects and index files below a directory that nobody else uses. All calls block.

    No git process outlives us: `reaper` ends those that run when acp-tui is gone.
    """

    def __init__(
        self, directory: Path, reaper: Reaper | None = None, *, seconds: float = GIT_TIMEOUT_SECONDS
    ) -> None:
        self.directory = directory
        self._reaper = reaper
        self._seconds = seconds
        self._program = ""  # found by `create`
        self._stopped = threading.Event()
        self._running: set[subprocess.Popen[bytes]] = set()

    def create(self) -> None:
        """Make it; what was in the directory is gone."""
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed")
        if self._stopped.is_set():
            raise GitError("it was stopped")
        self._program = str(Path(program).absolute())  # it runs in folders that may hold a `git` of their own
        shutil.rmtree(self.directory, ignore_errors=True)
        private_directory(self.directory)
        self.run("init", "--quiet", "--bare", "--template=", str(self.directory))
        write_private(self.directory / "info" / "attributes", _ATTRIBUTES)

    def stop(self) -> None:
        """End what runs, and run nothing any more; callable from another thread."""
        self._stopped.set()
        for process in list(self._running):
            process.kill()

    def run(
        self, *words: str, tree: GitContext | None = None, stdin: bytes = b"", ok: Sequence[int] = (0,)
    ) -> bytes:
        """Run one command to its end; its output."""
        with self._start(words, tree, subprocess.PIPE) as (process, errors):
            try:
                output, _ = process.communicate(stdin, self._seconds)
            except subprocess.TimeoutExpired:
                raise GitError(f"git took longer than {self._seconds:g} seconds") from None
            if process.returncode not in ok:
                raise self._failure(process, errors)
            return output

    def records(
        self, *words: str, tree: GitContext | None = None, seconds: float | None = None
    ) -> Iterator[bytes]:
        """The records of a command with `-z`, while it runs; it is given up after so many seconds."""
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
    def storing(self) -> Iterator[BlobWriter]:
        """Store contents; they are there when the context ends."""
        words = ["fast-import", "--quiet", "--depth=0"]
        with self._start(words, None, subprocess.PIPE) as (process, errors):
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it says why below
                yield BlobWriter(process.stdin)
                process.stdin.close()
            try:
                process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                raise GitError(f"git took longer than {self._seconds:g} seconds") from None
            if process.returncode != 0:
                raise self._failure(process, errors)

    def tidy(self) -> None:
        """Delete what commands that were ended early left half-written; it may be large."""
        for unfinished in self.directory.glob("objects/pack/tmp_*"):
            unfinished.unlink(missing_ok=True)

    def blob(self, name: str) -> bytes:
        """A stored content."""
        return self.run("cat-file", "blob", name)

    def present(self, names: Sequence[str]) -> set[str]:
        """Which of these contents are stored?"""
        if not names:
            return set()
        output = self.run("cat-file", "--batch-check", stdin="\n".join(names).encode())
        found = (line.split() for line in output.decode().splitlines())
        return {words[0] for words in found if words[-1] != "missing"}

    @contextmanager
    def _start(
        self, words: Sequence[str], tree: GitContext | None, stdin: int
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        settings = _OPTIONS | {"core.excludesFile": str(users_ignore_file())}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        folder = self.directory if tree is None else tree.folder
        with tempfile.TemporaryFile() as errors:  # a pipe that nobody reads meanwhile could fill up
            try:
                process = subprocess.Popen(
                    [self._program, *options, *words],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=folder,
                    env=self._environment(tree),
                    umask=0o077,
                    start_new_session=True,  # Ctrl+C in the terminal is meant for us
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

    def _environment(self, tree: GitContext | None) -> dict[str, str]:
        """Ours, without anything that steers git, and with a home that holds no configuration."""
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
        if self._reaper is not None:
            environment |= self._reaper.environment
        if tree is not None:
            environment |= {"GIT_WORK_TREE": str(tree.top), "GIT_INDEX_FILE": str(tree.index)}
        return environment

    def _failure(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> GitError:
        if self._stopped.is_set():
            return GitError("it was stopped")
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
        return GitError(said.splitlines()[-1] if said else f"git ended with {process.returncode}")


class BlobWriter:
    """Hands contents to git, which stores each of them once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def add(self, data: bytes) -> str:
        """Store a content; its name."""
        self._stream.write(b"blob\ndata %d\n" % len(data))
        self._stream.write(data)
        self._stream.write(b"\n")
        return blob_name(data)


def blob_name(data: bytes) -> str:
    """The name git gives a content."""
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def users_ignore_file() -> Path:
    """The only thing taken from the user's settings: what they want ignored everywhere."""
    home = os.environ.get("XDG_CONFIG_HOME")
    path = (Path(home) if home else Path.home() / ".config") / "git" / "ignore"
    return path if path.is_file() else Path(os.devnull)


@contextmanager
def _killed_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[threading.Event]:
    """End the process when it is late; the event says that it was."""
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
    """Whatever happened: no process, no pipe is left. Calling it again does nothing."""
    if process.poll() is None:
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):  # what was not yet written
                stream.close()
    process.wait()
