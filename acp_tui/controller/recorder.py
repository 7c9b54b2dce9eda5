"""Passes records on: to the log, then to the state, then to the listeners."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from acp_tui.protocol.client_records import to_record
from acp_tui.protocol.translator import Fold
from acp_tui.session.events import AgentExited, Event, Noticed, QueuePaused, TerminalExited, TerminalOutput
from acp_tui.session.record import Change, Record
from acp_tui.session.terminal_text import MAX_KEPT_PER_END

if TYPE_CHECKING:
    from acp_tui.session.state import Session
    from acp_tui.store.session_folder import NullFolder, SessionFolder

    Listener = Callable[[Record, Sequence[Event], Sequence[Change]], None]

INTERRUPTED = "acp-tui ended during this turn. What the agent did afterwards is not recorded."
"""The reason shown for a turn whose end is missing in the log."""

TITLE_SECONDS = 1.0
"""The minimum time between two saves of titles that an agent sets."""


class Recorder:
    """Writes the records of one conversation to its log, and applies them to its state."""

    def __init__(
        self,
        folder: SessionFolder | NullFolder,
        past: Iterable[Record] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._log = folder.log
        self.clock = clock
        self._fold = Fold()
        self._listeners: list[Listener] = []
        self._saved_title: str | None = None
        self._title_saved_at = 0.0
        folder.on_notice = lambda sentence: self.note(Noticed("warning", sentence))
        self.continued_at: float | None = None
        """The time of the last record of the earlier run, if there was one."""
        self._continue(past)
        self._saved_title = self.session.title

    @property
    def session(self) -> Session:
        """The session's state, which callers must not change."""
        return self._fold.session

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each record applied from now on, its events and what they changed."""
        self._listeners.append(listener)

    def observe(self, record: Record, line: str | None = None) -> None:
        """Log a record, and apply it to the state. `line` is the text of the message as sent or received."""
        self._log.append(record.at, record.direction, record.frame, line)
        self._apply(record)

    def note(self, event: Event) -> None:
        """Record an event of the client itself."""
        self.observe(self._record(event))

    def terminal_output(self, terminal_id: str, text: str) -> None:
        """Record output of a terminal. All of it is applied to the state.

        The log gets only the beginning. `terminal_exited` adds the end.
        """
        record = self._record(TerminalOutput(terminal_id, text))
        known = self.session.terminals.get(terminal_id)
        room = MAX_KEPT_PER_END - (known.output.total if known is not None else 0)
        if room > 0:
            head = to_record(TerminalOutput(terminal_id, text[:room]))
            self._log.append(record.at, record.direction, head)
        self._apply(record)

    def terminal_exited(self, terminal_id: str, exit_code: int | None, signal: str | None) -> None:
        """Record that a command has ended. Log the end of its output if the log does not contain that yet."""
        known = self.session.terminals.get(terminal_id)
        if known is not None and known.output.tail:
            output = known.output
            tail = self._record(TerminalOutput(terminal_id, output.tail, skipped=output.skipped))
            self._log.append(tail.at, tail.direction, tail.frame)
        self.note(TerminalExited(terminal_id, exit_code, signal))

    def _continue(self, past: Iterable[Record]) -> None:
        """Apply the records of an earlier run. Record that its terminals and its agent have ended.

        Pause the queue, so that prompts of an earlier run are not sent before the user resumes the queue.
        """
        at = 0.0
        for record in past:
            self._fold.apply(record)
            at = self.continued_at = record.at
        for terminal in self.session.terminals.values():
            if terminal.owner != "agent" and terminal.ended_at is None:
                self.observe(Record(at, "client", to_record(TerminalExited(terminal.terminal_id))))
        session = self.session
        if session.process is not None and session.phase != "dead":
            ended = AgentExited(expected=not session.working, reason=INTERRUPTED, found_later=True)
            self.observe(Record(at, "client", to_record(ended)))
        if not all(prompt.paused for prompt in session.queue):
            self.observe(Record(at, "client", to_record(QueuePaused(True))))

    def _record(self, event: Event) -> Record:
        return Record(self.clock(), "client", to_record(event))

    def _apply(self, record: Record) -> None:
        changes = self._fold.apply(record)
        if self.session.title != self._saved_title:
            self._save_title(record)
        for listener in self._listeners:
            listener(record, self._fold.events, changes)

    def _save_title(self, record: Record) -> None:
        """Save the session's title in the metadata file; during an agent's messages, at most once a second.

        A title that was not saved is saved with a later record, at the latest with the client's next record,
        such as that of the agent's exit.
        """
        if record.direction == "client" or record.at - self._title_saved_at >= TITLE_SECONDS:
            self._saved_title, self._title_saved_at = self.session.title, record.at
            self._folder.update_meta(title=self._saved_title)
