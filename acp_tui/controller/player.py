"""Replays a recorded session. The caller advances the time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp_tui.protocol.translator import Fold

if TYPE_CHECKING:
    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import Session


LONGEST_PAUSE = 2.0
"""The longest pause between two records, in seconds. Longer ones are shortened."""
INSTANT = float("inf")
"""The speed at which records are played without pauses."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, INSTANT)
BATCH = 500
"""The maximum number of records that `advance` plays per call, so that the screen is drawn in between."""


class Player:
    """Plays records at their recorded pace."""

    def __init__(
        self, records: Sequence[Record], *, title: str = "", cwd: str = "", speed: float = 1.0
    ) -> None:
        self.title = title
        """The title to show for the agent until a record that contains the agent's title has been played."""
        self.cwd = cwd
        self.speed = speed
        self._records = records
        self._due: list[float] = []  # when to play each record: seconds from the start, with shortened pauses
        self.skipped_seconds = 0.0
        """The total time in seconds by which pauses are shortened."""
        self._plan()
        self._prompts = [index for index, record in enumerate(records) if _is_prompt(record)]
        self.rewind()

    def _plan(self) -> None:
        due, before = 0.0, self._records[0].at if self._records else 0.0
        for record in self._records:
            pause = max(0.0, record.at - before)  # the clock may have been set back
            due += min(pause, LONGEST_PAUSE)
            self.skipped_seconds += max(0.0, pause - LONGEST_PAUSE)
            self._due.append(due)
            before = record.at

    # ------------------------------------------------------------------------- position

    @property
    def session(self) -> Session:
        """The current state, for reading only. `rewind` replaces the object."""
        return self._fold.session

    @property
    def total(self) -> int:
        """The number of records."""
        return len(self._records)

    @property
    def prompts(self) -> int:
        """The number of prompts that the user sent in the recording."""
        return len(self._prompts)

    @property
    def prompts_played(self) -> int:
        """The number of prompts that have been played."""
        return bisect_left(self._prompts, self.played)

    @property
    def length(self) -> float:
        """Seconds from the first record to the last, with shortened pauses."""
        return self._due[-1] if self._due else 0.0

    @property
    def ended(self) -> bool:
        """True if all records have been played."""
        return self.played == self.total

    @property
    def instant(self) -> bool:
        """True if the remaining records are played without pauses."""
        return self._instant_to_end or self.speed == INSTANT

    @property
    def recorded_time(self) -> float:
        """The recorded time at the current playback position, in seconds since the epoch."""
        if not self.played:
            return self._records[0].at if self._records else 0.0
        return self._records[self.played - 1].at + self.elapsed - self._due[self.played - 1]

    @property
    def shortened_pause(self) -> float | None:
        """The recorded length of the current pause, in seconds; None if the pause is not shortened."""
        if not self.played or self.ended:
            return None
        pause = self._records[self.played].at - self._records[self.played - 1].at
        return pause if pause > LONGEST_PAUSE else None

    # ------------------------------------------------------------------------- playing

    def rewind(self) -> None:
        """Return to the start."""
        self._fold = Fold()
        self._instant_to_end = False
        self.played = 0
        """The number of records that have been played."""
        self.elapsed = 0.0
        """Seconds since the first record, with shortened pauses."""

    def advance(self, seconds: float) -> list[Change]:
        """Advance by this much real time and return the changes."""
        aim = self.length if self.instant else self.elapsed + seconds * self.speed
        changes: list[Change] = []
        for _ in range(BATCH):
            if self.ended or self._due[self.played] > aim:
                self.elapsed = min(aim, self.length)
                break
            changes += self._play()
        return changes

    def step(self) -> list[Change]:
        """Play records until a record changes something, and return the record's changes."""
        changes: list[Change] = []
        while not changes and not self.ended:
            changes = self._play()
        return changes

    def play_instantly(self) -> None:
        """Play the rest without pauses on the next calls of `advance`."""
        self._instant_to_end = True

    def change_speed(self, step: int) -> None:
        """Change to the next speed: faster for 1, slower for -1."""
        if step > 0:
            self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)
        else:
            self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def _play(self) -> list[Change]:
        changes = self._fold.apply(self._records[self.played])
        self.elapsed = self._due[self.played]
        self.played += 1
        return changes


def _is_prompt(record: Record) -> bool:
    frame = record.frame
    return record.direction == "sent" and isinstance(frame, dict) and frame.get("method") == "session/prompt"
