"""Files and commands: through the client where it offers them, otherwise by the agent itself.

By itself the agent reads and writes only inside the session's folders. It lists and searches them with git.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import stat
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acp import RequestError

if TYPE_CHECKING:
    from acp import Client, schema

MAX_FILE_BYTES = 10_000_000
MAX_OUTPUT_BYTES = 60_000
"""How much output of a command is kept: half of it from the beginning, half from the end."""
MAX_FOUND_BYTES = 10_000_000
MAX_FOUND_LINES = 300
MAX_LINE = 300
"""The length at which a line that was found is cut."""
SEARCH_SECONDS = 30
KILL_GRACE_SECONDS = 2

_LIMIT_MEMORY = 'ulimit -v 4000000 2>/dev/null; exec "$@"'  # git loads whole files, also huge ones
_LIST = ("ls-files", "--others", "--exclude-standard")
_SEARCH = ("grep", "--untracked", "-n", "-I", "-E")


class ToolError(Exception):
    """Raised when a call of the model cannot be carried out. The message is a sentence for the model."""


class Workspace:
    """The folders of a session, the first of which is the working directory."""

    def __init__(
        self,
        client: Client,
        session_id: str,
        folders: Sequence[Path],
        capabilities: schema.ClientCapabilities,
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._folders = [Path(os.path.realpath(folder)) for folder in folders]
        self.cwd = folders[0]
        self._can_read = bool(capabilities.fs and capabilities.fs.read_text_file)
        self.client_writes = bool(capabilities.fs and capabilities.fs.write_text_file)
        self.client_runs = bool(capabilities.terminal)

    def path(self, name: str) -> Path:
        """Return the absolute path that a model means. Raises `ToolError`."""
        if "\0" in name:
            raise ToolError("A path cannot contain a zero byte.")
        return Path(os.path.normpath(self.cwd / name))

    def contains(self, path: Path) -> bool:
        """Return True if a path is inside the folders, also after following links."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(folder) for folder in self._folders)

    def require_inside(self, path: Path) -> None:
        """Raise `ToolError` if a path is outside the folders."""
        if not self.contains(path):
            raise ToolError(f"{path} is outside the folders of the session.")

    # ------------------------------------------------------------------ files

    async def read(self, path: Path) -> str:
        """Return the text of a file, with the line ends that it has. Raises `ToolError`."""
        if self._can_read:
            try:
                return (await self._client.read_text_file(self._session_id, str(path))).content
            except RequestError as error:
                raise ToolError(f"{path} could not be read: {_reason(error)}.") from None
        self.require_inside(path)
        data = read_regular_file(path)
        try:
            if b"\0" not in data:
                return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        raise ToolError(f"{path} is a binary file, or not in UTF-8.")

    async def write(self, path: Path, text: str) -> None:
        """Replace a file, or create it with its folders. Raises `ToolError`."""
        try:
            if self.client_writes:
                await self._client.write_text_file(self._session_id, str(path), text)
            else:
                self.require_inside(path)
                _replace_file(Path(os.path.realpath(path)), text)
        except (RequestError, OSError) as error:
            raise ToolError(f"{path} could not be written: {_reason(error)}.") from None

    # ------------------------------------------------------------------ listing and searching

    async def list_files(self, path: Path, glob: str) -> str:
        """Return the names in a folder, or all files below it that match a glob. Raises `ToolError`."""
        files = await self._git(path, _LIST, glob)
        if not glob:
            files = sorted({"".join(file.partition("/")[:2]) for file in files})
        return self._found(path, files)

    async def search(self, path: Path, pattern: str, glob: str) -> str:
        """Return the lines that match an extended regular expression. Raises `ToolError`."""
        words = [*_SEARCH, "-e", pattern]
        if path.is_file():
            words.append("--no-exclude-standard")  # the model has named it, so it may be ignored
        return self._found(path, await self._git(path, words, glob))

    async def _git(self, path: Path, words: Sequence[str], glob: str) -> list[str]:
        """Return the lines that git prints about a file or folder, without what it ignores."""
        self.require_inside(path)
        folder = _real_folder(path)
        places = [f":(literal){path.resolve().name}"] if path.is_file() else _pathspecs(glob)
        # The ignore rules of the whole repository apply, also if the session has only a part of it.
        top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
        _, code = await _run_git(["check-ignore", "-q", "."], folder, top)
        if code == 0:
            top = folder  # all of it is ignored, but the model has named it
        output, code = await _run_git([*words, "--", *places], folder, top)
        if code is None:
            raise ToolError(f"Stopped after {SEARCH_SECONDS} seconds. Look for something narrower.")
        if code not in (0, 1):
            raise ToolError(f"git has failed: {output.strip()[-MAX_LINE:]}")
        # Git also reports what it cannot open, for example the folder of another user.
        lines = output.strip("\n").split("\n") if output else []
        return [line for line in lines if not line.startswith(("warning: ", "error: "))]

    def _found(self, path: Path, lines: Sequence[str]) -> str:
        """Return the lines, which begin with a path in a folder, as the model reads them."""
        folder = _real_folder(path)
        if folder.is_relative_to(self._folders[0]):
            folder = folder.relative_to(self._folders[0])
        prefix = "" if folder == Path() else f"{folder}/"
        shown = [(prefix + line)[:MAX_LINE] for line in lines[:MAX_FOUND_LINES]]
        if len(lines) > MAX_FOUND_LINES:
            shown.append("[There is more. Name a subfolder, or look for something narrower.]")
        return "\n".join(shown) or "[nothing found]"

    # ------------------------------------------------------------------ commands

    async def run(
        self, command: str, timeout: float, on_terminal: Callable[[str], None]
    ) -> tuple[str, int | None]:
        """Run a command line in a shell. Cancelling ends it with all processes that it has started.

        Returns the output, and the exit code; None if the command was stopped, as after the timeout. If the
        client shows it in a terminal, `on_terminal` is called with its id.
        """
        if self.client_runs:
            try:
                return await self._run_in_terminal(command, timeout, on_terminal)
            except RequestError as error:
                raise ToolError(f"The command could not be run: {_reason(error)}.") from None
        return await _run_process(["/bin/sh", "-c", command], self.cwd, timeout, MAX_OUTPUT_BYTES)

    async def _run_in_terminal(
        self, command: str, timeout: float, on_terminal: Callable[[str], None]
    ) -> tuple[str, int | None]:
        client, session = self._client, self._session_id
        created = await client.create_terminal(
            session, "/bin/sh", ["-c", command], None, str(self.cwd), MAX_OUTPUT_BYTES
        )
        terminal, code = created.terminal_id, None
        try:
            on_terminal(terminal)
            try:
                async with asyncio.timeout(timeout):
                    code = (await client.wait_for_terminal_exit(session, terminal)).exit_code
            except TimeoutError:
                await client.kill_terminal(session, terminal)
            return (await client.terminal_output(session, terminal)).output, code
        finally:
            # This ends a command that is still running.
            with contextlib.suppress(RequestError, ConnectionError, TimeoutError):
                async with asyncio.timeout(KILL_GRACE_SECONDS):
                    await client.release_terminal(session, terminal)


# ------------------------------------------------------------------ files


def read_regular_file(path: Path) -> bytes:
    """Return the content of a file. Raises `ToolError`, also for what is no regular file, or is huge."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not block
    except OSError as error:
        raise ToolError(f"{path} could not be read: {_reason(error)}.") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path} is not a regular file.")
        if status.st_size > MAX_FILE_BYTES:
            raise ToolError(f"{path} is too large: {status.st_size:,} bytes.")
        return os.read(descriptor, MAX_FILE_BYTES)
    finally:
        os.close(descriptor)


def _replace_file(path: Path, text: str) -> None:
    """Write a file atomically, and keep the mode of the one that it replaces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", errors="replace", newline="") as file:
            if path.exists():
                shutil.copymode(path, temporary)
            file.write(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _real_folder(path: Path) -> Path:
    """Return a folder, or the folder of a file, without links."""
    real = Path(os.path.realpath(path))
    return real.parent if real.is_file() else real


def _reason(error: RequestError | OSError) -> str:
    data = error.data if isinstance(error, RequestError) else None
    details = data.get("details") if isinstance(data, dict) else None
    return str(details or error).strip().rstrip(".")


# ------------------------------------------------------------------ git


def _pathspecs(glob: str) -> list[str]:
    """Return a glob, which may contain one `{a,b}`, as git understands it. Raises `ToolError`."""
    if ".." in glob:
        raise ToolError("A glob cannot contain `..`. Name the folder with path.")
    if not glob:
        return []
    before, _, rest = glob.partition("{")
    inside, brace, after = rest.partition("}")
    globs = [f"{before}{each}{after}" for each in inside.split(",")] if brace else [glob]
    # Without a slash it is about the name of a file, in any folder.
    return [f":(glob){each.lstrip('/')}" if "/" in each else f":(glob)**/{each}" for each in globs]


async def _run_git(words: Sequence[str], folder: Path, top: Path) -> tuple[str, int | None]:
    """Run git in a folder, with an empty repository of our own whose files are below `top`.

    The repository in the folder may be hostile. Git does not look at it, so nothing in its configuration,
    which can name programs, has an effect. All files are untracked, and git tells apart those to ignore.
    """
    git = shutil.which("git")
    if git is None or not Path(git).is_absolute():  # a relative one may belong to the folder
        raise ToolError("Files cannot be listed or searched, because git is not installed.")
    with tempfile.TemporaryDirectory(prefix="acp-tui-") as own:
        Path(own, "objects").mkdir()
        Path(own, "refs").mkdir()
        Path(own, "HEAD").write_text("ref: refs/heads/none\n")
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_DIR": own, "GIT_WORK_TREE": str(top)}
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["/bin/sh", "-c", _LIMIT_MEMORY, "sh", git, "-c", "core.quotePath=false", *words]
        return await _run_process(command, folder, SEARCH_SECONDS, MAX_FOUND_BYTES, env)


# ------------------------------------------------------------------ processes


async def _run_process(
    command: Sequence[str], folder: Path, timeout: float, limit: int, env: Mapping[str, str] | None = None
) -> tuple[str, int | None]:
    """Run a program, and end it with all that it has started: after the timeout, or when cancelled.

    Returns the output, and the exit code; None after the timeout.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a zero byte
        raise ToolError(f"The program was not started: {error}.") from None
    assert process.stdout is not None
    output = bytearray()
    reader = asyncio.create_task(_collect(process.stdout, output, limit))
    code = None
    try:
        async with asyncio.timeout(timeout):
            code = await process.wait()
            # Processes in the background may keep the output open: they get a moment to finish.
            await asyncio.wait([reader], timeout=KILL_GRACE_SECONDS)
    except TimeoutError:
        pass
    finally:
        await _end_group(process)
        await asyncio.wait([reader], timeout=KILL_GRACE_SECONDS)
        reader.cancel()
    if len(output) == limit:
        output[limit // 2 : limit // 2] = "\n[… the middle was left out …]\n".encode()
    return output.decode("utf-8", "replace"), code


async def _end_group(process: asyncio.subprocess.Process) -> None:
    """End a process, and all of its group that are still running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), KILL_GRACE_SECONDS)


async def _collect(stream: asyncio.StreamReader, output: bytearray, limit: int) -> None:
    """Read an output of any length, and keep its beginning and its end."""
    while data := await stream.read(1 << 16):
        output += data
        if len(output) > limit:
            output[limit // 2 : -(limit // 2)] = b""
