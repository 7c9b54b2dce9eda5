"""Changes that are collected for the next frame, or while a screen is not visible."""

from __future__ import annotations

from acp_tui.session.record import Change
from acp_tui.session.state import Session
from acp_tui.ui.conversation.session_screen import ChangeBatch


def test_one_change_of_each_kind_is_kept_per_entry_attribute_and_subagent() -> None:
    batch = ChangeBatch()
    one, other = Session(), Session()
    title, phase = Change("fact", fact="title"), Change("fact", fact="phase")
    in_one = Change("subagent", session=one, inner=phase)
    title_in_one = Change("subagent", session=one, inner=title)
    in_other = Change("subagent", session=other, inner=phase)
    batch.add([title, in_one, title, title_in_one, in_other, in_one])
    assert batch.take() == [title, in_one, title_in_one, in_other]
    assert batch.take() == []
