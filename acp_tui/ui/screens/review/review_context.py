"""What the review screen needs from its conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.state import Session


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """The session whose changes are reviewed, and functions that act on its conversation."""

    session: Session
    cwd: str
    prompts: Callable[[], Sequence[str]]
    edit_file: Callable[[str, int | None], None]
    save_comments: Callable[[], None]
    send: Callable[[str], None]
