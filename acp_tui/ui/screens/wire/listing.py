"""The frames that the wire screen lists: all of a log, or those that match a filter."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from acp_tui.wire.frame_filter import FrameFilter
    from acp_tui.wire.frame_log import FrameLog, FrameRow
    from acp_tui.wire.schema_check import SchemaViolation


Value = TypeVar("Value")

MAX_CHECKED_BYTES = 256 * 1024
"""Frames up to this size are checked against the schema when the list shows them."""
MAX_CACHED = 2000
MAX_UNCHECKED = 200
STEP_BYTES = 256 * 1024
"""How much of the log is read at once: about 4 ms."""


class FrameListing:
    """The listed frames of a log, by index. The caller calls `update` and `scan` again and again."""

    def __init__(self, log: FrameLog) -> None:
        self.log = log
        self.filter: FrameFilter | None = None
        self.places: Callable[[], Collection[int]] | None = None
        """Returns the places (see `FrameRow.place`) of the only frames to list; None for all."""
        self._numbers: array[int] | None = None  # None: all rows of the log
        self._scan: Iterator[Collection[int]] | None = None
        self._changed_from: int | None = None  # the first row that has changed since the scan began
        self._summaries: dict[int, str] = {}
        self._deviations: dict[int, list[SchemaViolation]] = {}
        self._unchecked: dict[int, None] = {}  # the places of frames that `deviates` was asked about

    # ------------------------------------------------------------------------- listed frames

    def __len__(self) -> int:
        return len(self.log) if self._numbers is None else len(self._numbers)

    def number(self, index: int) -> int:
        """Return the number, in the log, of a listed frame."""
        return index if self._numbers is None else self._numbers[index]

    def index_of(self, number: int) -> int:
        """Return the index of a frame of the log or, if it is not listed, of the next one that is."""
        return number if self._numbers is None else bisect_left(self._numbers, number)

    def index_of_place(self, place: int) -> int:
        """Return the index of a frame or, if it is not listed, of one that is near; see `FrameRow.place`."""
        number = self.log.number_of(place)
        return self.index_of(number) if number is not None else len(self) - 1

    def is_listed(self, number: int) -> bool:
        """Return True if a frame of the log is listed."""
        index = self.index_of(number)
        return index < len(self) and self.number(index) == number

    def row(self, index: int) -> FrameRow:
        """Return a listed frame."""
        return self.log.row(self.number(index))

    def summary(self, number: int) -> str:
        """Return what a frame says, on one line; see `FrameLog.summary`."""
        return self._cached(self._summaries, number, self.log.summary)

    def deviations(self, number: int) -> list[SchemaViolation]:
        """Return the deviations of a frame from the schema; none of a very large frame."""
        if self.log.row(number).size > MAX_CHECKED_BYTES:
            return []
        return self._cached(self._deviations, number, self.log.deviations)

    def deviates(self, number: int) -> bool:
        """Return True if a frame is known to deviate from the schema; otherwise `check` will check it."""
        place = self.log.row(number).place
        if place not in self._deviations:
            if len(self._unchecked) >= MAX_UNCHECKED:
                self._unchecked.clear()
            self._unchecked[place] = None
        return bool(self._deviations.get(place))

    @property
    def has_unchecked(self) -> bool:
        """True if `check` has something to do."""
        return bool(self._unchecked)

    def check(self) -> bool:
        """Check one of the frames that `deviates` was asked about. Return True if it deviates."""
        place, _ = self._unchecked.popitem()
        number = self.log.number_of(place)
        if number is None:
            return False
        if not (found := self.deviations(number)):
            self._deviations.setdefault(place, found)
        return bool(found)

    def _cached(self, cache: dict[int, Value], number: int, read: Callable[[int], Value]) -> Value:
        place = self.log.row(number).place
        if place not in cache:
            if len(cache) >= MAX_CACHED:
                cache.clear()
            cache[place] = read(number)
        return cache[place]

    # ------------------------------------------------------------------------- filter

    @property
    def is_filtered(self) -> bool:
        """True if not all frames of the log are listed."""
        return self._numbers is not None

    def select(self, frame_filter: FrameFilter | None, places: Callable[[], Collection[int]] | None) -> None:
        """List only the frames that match a filter, and only those at some places. None: all."""
        self.filter, self.places = frame_filter, places
        self._numbers = None if frame_filter is None and places is None else array("q")
        self._scan, self._changed_from = self._matches(0), None

    @property
    def is_scanning(self) -> bool:
        """True while frames are searched that match the filter."""
        return self._scan is not None

    def scan(self) -> bool:
        """Search a bit further for frames that match the filter. Return False if all were looked at."""
        if self._scan is None:
            return False
        found = next(self._scan, None)
        if found is None:
            self._scan = None
            self._scan_changed()
        elif self._numbers is not None:
            self._numbers.extend(found)
        return self._scan is not None

    def _scan_changed(self) -> None:
        """Search again from the first row that has changed, unless the search goes on anyway."""
        if self._scan is None and self._changed_from is not None and self._numbers is not None:
            del self._numbers[bisect_left(self._numbers, self._changed_from) :]
            self._scan, self._changed_from = self._matches(self._changed_from), None

    def _matches(self, first: int) -> Iterator[Collection[int]] | None:
        """Return the numbers of the frames to list from the number `first` on, in steps; None for all."""
        if self._numbers is None:
            return None
        if self.places is None:
            assert self.filter is not None
            return iter(self.log.rows_matching(self.filter, first))
        numbers = (self.log.number_of(place) for place in self.places())
        wanted = sorted(number for number in numbers if number is not None and number >= first)
        if self.filter is None:
            return iter([wanted])
        only = set(wanted)
        return (
            [number for number in step if number in only]
            for step in self.log.rows_matching(self.filter, first)
        )

    def update(self) -> bool:
        """Read what was appended to the log. Return True if anything has changed.

        Frames keep their `FrameRow.place`, but not their index.
        """
        change = self.log.update(STEP_BYTES)
        if change.restarted:
            self._summaries.clear()
            self._deviations.clear()
            self._unchecked.clear()
        if change.restarted or change.prepended:
            self.select(self.filter, self.places)
            return True
        if change.first_changed is None:
            return False
        if change.first_changed < len(self.log):  # its line may not have been complete
            place = self.log.row(change.first_changed).place
            self._deviations.pop(place, None)
            self._summaries.pop(place, None)
        if self._numbers is not None:
            before = change.first_changed if self._changed_from is None else self._changed_from
            self._changed_from = min(before, change.first_changed)
            self._scan_changed()
        return True
