"""The log of `acp-tui tap`: cuts the bytes that have passed into frames, and records them like a session.

Runs in the process that watches the agent, see `wire.tap`. Imports little: the process must stay small.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acp_tui.config.own_files import MAX_RECORDING_BYTES, open_own
from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.errors import UserError
from acp_tui.protocol.json_rpc import NOT_JSON, decode, shortened_frame
from acp_tui.session.safe_text import escape_line
from acp_tui.store.locks import try_lock
from acp_tui.store.redaction import Redactor
from acp_tui.store.secret_patterns import redact_after
from acp_tui.store.session_folder import create_session_folder
from acp_tui.store.stderr_log import StderrLog
from acp_tui.store.stored_sessions import stderr_file
from acp_tui.store.wire_log import WireLog

if TYPE_CHECKING:
    from acp_tui.session.record import Direction

STDIN, STDERR = 0, 2
MAX_LINE_BYTES = 1_000_000
"""Of a longer line, only `KEPT_BYTES` and its size are recorded."""
KEPT_BYTES = 64 * 1024
TAIL_BYTES = 200
"""The end of a long line, in which the id of its frame may be."""
MAX_VALUE_BYTES = 8_000_000
"""The limit of what the values of a line may take in memory; a line with more is recorded like a long one."""
MAX_WIDE_LINE_BYTES = 700_000
"""The limit of a line with characters outside of the Basic Multilingual Plane, such as emoji."""
_WIDE = re.compile(rb"[\xf0-\xf4]")
STDERR_TAIL_BYTES, STDERR_TAIL_LINES = 4000, 10
MAX_REQUESTS = 1000
NO_PROMPT = "Tap without a prompt"
"""The title until the editor sends a prompt: sessions without a title are not listed."""
MAX_FIELD_CHARACTERS = 4096
OPENING_METHODS = ("session/new", "session/load", "session/resume", "session/fork")


class LineCutter:
    """Cuts the bytes of a stream into lines. Keeps at most `MAX_LINE_BYTES` of a line."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._tail = b""
        self._size = 0
        self._is_incomplete = False  # whether the beginning of the line is missing

    def lines(self, block: bytes) -> list[tuple[Any, str | None]]:
        """Return the frame of each line that this block completes, with the line's text if it is JSON."""
        *ended, rest = block.split(b"\n")
        found: list[tuple[Any, str | None]] = []
        for piece in ended:
            self._add(piece)
            found += self.rest()
        self._add(rest)
        return found

    def rest(self) -> list[tuple[Any, str | None]]:
        """Return the frame of the incomplete line, at the end of the stream; nothing for a blank line."""
        line, size, tail = bytes(self._line), self._size, self._tail
        if self._is_incomplete:
            line, size, self._is_incomplete = b"", 0, False
        self._line.clear()
        self._size, self._tail = 0, b""
        if size > len(line) or _takes_much_memory(line):
            return [(shortened_frame(line[:KEPT_BYTES], tail or line[-TAIL_BYTES:], size), None)]
        text = line.decode("utf-8", "replace")
        if not text.strip():
            return []
        frame = decode(text)
        return [(text, None) if frame is NOT_JSON else (frame, text)]

    def drop_line(self) -> None:
        """Leave out the current line, of which a part is missing."""
        self._is_incomplete = True

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= MAX_LINE_BYTES:
            self._line += piece
            return
        if len(self._line) < KEPT_BYTES:
            self._line += piece[: KEPT_BYTES - len(self._line)]
        self._tail = (self._tail + piece[-TAIL_BYTES:])[-TAIL_BYTES:]
        del self._line[KEPT_BYTES:]


def _takes_much_memory(line: bytes) -> bool:
    """Return True for a line that takes many times its size when it is decoded. Small lines do not matter."""
    if len(line) <= KEPT_BYTES:
        return False
    values = 150 * (line.count(b"{") + line.count(b"[")) + 70 * line.count(b",")
    # With a single emoji, each character takes four bytes.
    return values > MAX_VALUE_BYTES or (len(line) > MAX_WIDE_LINE_BYTES and _WIDE.search(line) is not None)


class Folder(Protocol):
    """Where a tap records: a session folder, or a `LogFile`."""

    on_notice: Callable[[str], None] | None
    log: WireLog

    def update_meta(self, **fields: Any) -> None: ...

    def stderr_sink(self, data: bytes | str) -> None: ...

    def close(self) -> None: ...


class LogFile:
    """The log that `--log` names. The agent's stderr is in a file beside it."""

    def __init__(
        self, path: Path, clock: BlockClock, is_sensitive: Callable[[str], object], max_bytes: int
    ) -> None:
        """Append to the log. Raises `UserError`."""
        self.on_notice: Callable[[str], None] | None = None
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        try:
            self._wire = open_own(path, flags, MAX_RECORDING_BYTES)
            if not try_lock(self._wire):
                raise UserError(f"Another acp-tui is recording to {path}.")
            self._stderr = open_own(stderr_file(path), flags, MAX_RECORDING_BYTES)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror or error}.") from error
        self._stderr_log = StderrLog(self._stderr, redact=redact_after, on_error=self._failed, clock=clock)
        self.log = WireLog(
            self._wire,
            redactor=Redactor(is_sensitive),
            on_error=self._failed,
            max_bytes=max_bytes,
            on_full=lambda: self._notify(f"Recording stopped: the log has reached {max_bytes / 1e6:,.0f} MB"),
        )

    def update_meta(self, **fields: Any) -> None:
        """Do nothing: a single file has no metadata."""

    def stderr_sink(self, data: bytes | str) -> None:
        self._stderr_log.write(data)

    def close(self) -> None:
        self._stderr_log.close()
        self.log.close()

    def _failed(self, error: OSError | None) -> None:
        if error is None:
            self._notify("Recording resumed; messages sent while it was paused are missing")
        else:
            self._notify(f"Recording paused: {error.strerror or error}")

    def _notify(self, sentence: str) -> None:
        if self.on_notice is not None:
            self.on_notice(f"{sentence} ({self._path}).")


class BlockClock:
    """The time at which the block that is being recorded has passed."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


class Start(NamedTuple):
    """When and where the agent was started, and its process id."""

    at: float
    cwd: str
    pid: int


class TapRecorder:
    """Records the frames of a tap, and what they tell about the session for the list of sessions."""

    def __init__(
        self,
        folder: Folder,
        clock: BlockClock,
        command: list[str],
        start: Start,
        notify: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._notify_user = notify
        self._cutters = (LineCutter(), LineCutter())
        self._requests: dict[Any, dict[str, Any]] = {}  # the editor's, whose answers tell about the session
        self._stderr_tail = b""
        self._has_prompt = False
        self._input_ended = False  # whether the editor has closed the agent's stdin
        folder.on_notice = self._on_notice
        folder.update_meta(tap=True, title=NO_PROMPT)
        event = {"event": "agent_started", "command": command, "cwd": start.cwd, "pid": start.pid}
        self._client(event)

    def exited(self, returncode: int | None) -> None:
        """Record the end, with the exit code or the negated signal number; None if the tap was killed."""
        self._clock.at = time.time()
        for stream, cutter in enumerate(self._cutters):
            self._frames(stream, cutter.rest())
        event: dict[str, Any] = {"event": "agent_exited"}
        if returncode is None:
            event |= {"expected": True, "reason": "The tap was killed, and so the agent was ended"}
        elif returncode >= 0:
            event["exit_code"] = returncode
            if self._input_ended and returncode == 0:
                event["expected"] = True
        else:
            from signal import Signals

            with suppress(ValueError):
                event["signal"] = Signals(-returncode).name
        tail = self._stderr_tail.decode("utf-8", "replace").splitlines()[-STDERR_TAIL_LINES:]
        if lines := [escape_line(line) for line in tail if line.strip()]:
            event["stderr_tail"] = lines
        self._client(event)
        self._folder.close()

    def block(self, stream: int, at: float, data: bytes) -> None:
        """Record a block of one of the streams, or the end of a stream if it has no bytes."""
        self._clock.at = at
        if not data:
            self._input_ended = self._input_ended or stream == STDIN
            return
        if stream == STDERR:
            self._folder.stderr_sink(data)
            self._stderr_tail = (self._stderr_tail + data)[-STDERR_TAIL_BYTES:]
        else:
            self._frames(stream, self._cutters[stream].lines(data))

    def gap(self, stream: int, at: float, size: int) -> None:
        """Record that bytes of a stream are missing, because the log could not be written fast enough."""
        self._clock.at = at
        whose = ("the editor", "the agent", "the agent's stderr")[stream]
        if stream != STDERR:
            self._cutters[stream].drop_line()
        self._note(f"The log could not keep up: more than {size:,} bytes of {whose} are missing here.")

    def _frames(self, stream: int, found: list[tuple[Any, str | None]]) -> None:
        direction: Direction = "sent" if stream == STDIN else "received"
        for frame, line in found:
            self._folder.log.append(self._clock.at, direction, frame, line)
            if isinstance(frame, dict):
                self._learn(direction, frame)

    def _learn(self, direction: Direction, frame: dict[str, Any]) -> None:
        """Save in the metadata what a frame tells about the session."""
        number, method, params = frame.get("id"), frame.get("method"), frame.get("params")
        params = params if isinstance(params, dict) else {}
        if direction == "sent":
            if method == "session/prompt" and not self._has_prompt:
                self._has_prompt = True
                self._folder.update_meta(title=None)  # the list shows the prompt
            known = method in ("initialize", "session/prompt") or method in OPENING_METHODS
            if known and isinstance(number, int | str) and len(self._requests) < MAX_REQUESTS:
                self._requests[number] = {
                    "method": method,
                    "cwd": params.get("cwd"),
                    "session_id": params.get("sessionId"),
                }
        elif method == "session/update":
            update = params.get("update")
            if isinstance(update, dict) and update.get("sessionUpdate") == "session_info_update":
                self._save(title=update.get("title"))
        elif method is None and isinstance(number, int | str):
            request, result = self._requests.pop(number, None), frame.get("result")
            if request is not None and isinstance(result, dict):
                self._answered(request, result)

    def _answered(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        if request["method"] == "initialize":
            info = result.get("agentInfo")
            if isinstance(info, dict):
                self._save(agent_title=info.get("title") or info.get("name"))
        elif request["method"] == "session/prompt":
            self._save(stop=result.get("stopReason"))
        else:
            self._save(cwd=request["cwd"], session_id=result.get("sessionId") or request["session_id"])

    def _save(self, **fields: Any) -> None:
        texts = {name: value for name, value in fields.items() if isinstance(value, str) and value}
        if texts:
            self._folder.update_meta(**{name: text[:MAX_FIELD_CHARACTERS] for name, text in texts.items()})

    def _on_notice(self, sentence: str) -> None:
        self._note(sentence)
        self._notify_user(sentence)

    def _note(self, sentence: str) -> None:
        self._client({"event": "noticed", "level": "warning", "text": sentence})

    def _client(self, event: dict[str, Any]) -> None:
        self._folder.log.append(self._clock.at, "client", event)


def record_blocks(
    blocks: Iterable[tuple[int, float, bytes, int]],
    options: Mapping[str, Any],
    start: Start,
    *,
    returncode: Callable[[], int | None],
    notify: Callable[[str], None],
) -> None:
    """Record what has passed until its end. Never raises.

    Args:
        blocks: For each block the stream, the time, the bytes, and how many bytes are missing before them.
            A block without bytes is the end of its stream.
        options: `TapOptions`.
        start: The start of the agent.
        returncode: Returns the agent's exit code, or the negated signal number; None if it was not reported.
        notify: Called with a sentence for the user if something cannot be recorded.
    """

    def report(sentence: str) -> None:
        notify(escape_line(f"{sentence} Messages are still passed on."))

    try:
        clock = BlockClock(start.at)
        folder = _open_folder(options, clock, start.cwd)
        recorder = TapRecorder(folder, clock, options["command"], start, report)
        if sys.platform == "linux":
            os.nice(15)  # of this thread: passing on comes first
        for stream, at, data, missing in blocks:
            if missing:
                recorder.gap(stream, at, missing)
            else:
                recorder.block(stream, at, data)
        recorder.exited(returncode())
    except UserError as error:
        report(str(error))
    except Exception as error:  # whatever it is: messages must still be passed on
        report(f"The session cannot be recorded: {error}.")
    for _ in blocks:  # an error has left them
        pass


def _open_folder(options: Mapping[str, Any], clock: BlockClock, cwd: str) -> Folder:
    patterns = tuple(options["sensitive"])

    def is_sensitive(path: str) -> bool:
        real = path
        with suppress(OSError, ValueError):  # an agent may send any text as a path
            real = os.path.realpath(os.path.join(cwd, path))  # noqa: PTH118  # `/` raises for some texts
        return any(holds_secrets(name, patterns) for name in {path, real})

    if options["log"] is not None:
        return LogFile(Path(options["log"]), clock, is_sensitive, options["max_bytes"])
    return create_session_folder(
        Path(options["data"]),
        agent=options["agent"],
        title=options["title"],
        cwd=cwd,
        command=options["command"],
        ad_hoc=options["ad_hoc"],
        clock=clock,
        is_sensitive=is_sensitive,
        max_bytes=options["max_bytes"],
    )
