"""Replays a recorded session. It has no clock of its own: the caller advances the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.protocol.fold import Fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.record import Record
    from acp_tui.session.state import Session

LONGEST_PAUSE = 2.0
"""Seconds without any record; what is longer than that is made so long."""
AT_ONCE = float("inf")
"""The speed that knows no pauses."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, AT_ONCE)
BATCH = 500
"""Records taken in at a time, so that whoever shows them can show something in between."""


class Player:
    """Folds records one after the other, with the pauses between them."""

    def __init__(
        self, records: Sequence[Record], *, title: str = "", cwd: str = "", speed: float = 1.0
    ) -> None:
        self.title = title
        """Of the agent, as far as it is known without the records."""
        self.cwd = cwd
        self.speed = speed
        self._records = records
        self._due: list[float] = []  # when each is played, in seconds from the beginning, pauses shortened
        self.left_out = 0.0
        """Seconds of pauses that are not waited for."""
        self._plan()
        self.rewind()

    def _plan(self) -> None:
        due, before = 0.0, self._records[0].at if self._records else 0.0
        for record in self._records:
            pause = max(0.0, record.at - before)  # a clock may have been set back
            due += min(pause, LONGEST_PAUSE)
            self.left_out += max(0.0, pause - LONGEST_PAUSE)
            self._due.append(due)
            before = record.at

    # ------------------------------------------------------------------------- where it is

    @property
    def session(self) -> Session:
        """The state now; another object after `rewind`. Only to be read."""
        return self._fold.session

    @property
    def total(self) -> int:
        """How many records there are."""
        return len(self._records)

    @property
    def length(self) -> float:
        """Seconds from the first to the last."""
        return self._due[-1] if self._due else 0.0

    @property
    def ended(self) -> bool:
        """Has everything been played?"""
        return self.played == self.total

    @property
    def at_once(self) -> bool:
        """Is what is left played without pauses?"""
        return self._hurrying or self.speed == AT_ONCE

    @property
    def moment(self) -> float:
        """What time it was then, in seconds since the epoch."""
        if not self.played:
            return self._records[0].at if self._records else 0.0
        return self._records[self.played - 1].at + self.elapsed - self._due[self.played - 1]

    @property
    def shortened(self) -> float | None:
        """How long the pause was that is going on, if it is a shortened one."""
        if not self.played or self.ended:
            return None
        pause = self._records[self.played].at - self._records[self.played - 1].at
        return pause if pause > LONGEST_PAUSE else None

    # ------------------------------------------------------------------------- going on

    def rewind(self) -> None:
        """Go back to before the first record."""
        self._fold = Fold()
        self._hurrying = False
        self.played = 0
        """Records that have been played."""
        self.elapsed = 0.0
        """Seconds since the first, with shortened pauses."""

    def advance(self, seconds: float) -> list[Change]:
        """Advance by this much real time and return the changes."""
        aim = self.length if self.at_once else self.elapsed + seconds * self.speed
        changes: list[Change] = []
        for _ in range(BATCH):
            if self.ended or self._due[self.played] > aim:
                self.elapsed = min(aim, self.length)
                break
            changes += self._play()
        return changes

    def step(self) -> list[Change]:
        """Play up to the next record that changes something."""
        changes: list[Change] = []
        while not changes and not self.ended:
            changes = self._play()
        return changes

    def hurry(self) -> None:
        """Play the rest without pauses on the next calls of `advance`."""
        self._hurrying = True

    def faster(self, by: int) -> None:
        """One speed up (1) or down (-1)."""
        if by > 0:
            self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)
        else:
            self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def _play(self) -> list[Change]:
        changes = self._fold.apply(self._records[self.played])
        self.elapsed = self._due[self.played]
        self.played += 1
        return changes
