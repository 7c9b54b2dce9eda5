"""Messages and thoughts: their text and other content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    AnnotatedText,
    Annotations,
    Content,
    Message,
    Thought,
    UserMessage,
)
from acp_tui.ui.entries import messages
from tests.support.bodies import context, lines
from tests.support.looks import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.drawing.body import Body, DrawContext

FOR_AGENT = Annotations(audience=("assistant",))


def agent(*parts: GrowingText | Content) -> AgentMessage:
    return AgentMessage(id=1, at=100.0, parts=list(parts))


def said(*parts: GrowingText | Content) -> list[str]:
    return lines(settled(messages.agent_message_body(agent(*parts), context())))


def test_agent_messages_are_indented_markdown() -> None:
    assert said(GrowingText("# A\n- **b**")) == ["  A", "", "  • b"]


def test_user_messages_are_plain_text_beside_a_bar() -> None:
    entry = UserMessage(id=1, at=0.0, parts=[GrowingText("fix *this*\n\n  - now\n1. and\tthat")])
    assert lines(settled(messages.user_message_body(entry, context()))) == [
        "┃ fix *this*",
        "┃",
        "┃   - now",
        "┃ 1. and  that",
    ]


def test_attachments_follow_a_user_message_without_a_blank_line() -> None:
    image = Content("image", data="AAAA", mime="image/png", name="shot.png")
    entry = UserMessage(id=1, at=0.0, parts=[GrowingText("look"), image])
    assert lines(settled(messages.user_message_body(entry, context()))) == [
        "┃ look",
        "┃ ▣ shot.png  image  image/png  3 B",
    ]


def test_a_long_paste_is_drawn_on_demand() -> None:
    entry = UserMessage(id=1, at=0.0, parts=[GrowingText("".join(f"line {n}\n" for n in range(10_000)))])
    body = messages.user_message_body(entry, context())
    assert body.height == 10_000
    assert body.line(7_777).text == "┃ line 7777"


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (AgentMessage, messages.agent_message_body),
        (UserMessage, messages.user_message_body),
        (Thought, messages.ThoughtBody),
    ],
)
def test_a_body_draws_text_and_content_that_were_added(
    kind: type[Message], make: Callable[[Any, DrawContext], Body]
) -> None:
    text = GrowingText("one\n\n")
    entry = kind(id=1, at=0.0, parts=[text])
    body = make(entry, context())
    text.append("two")
    assert body.update()
    assert "two" in lines(settled(body))[-1]
    entry.parts.append(Content("image", name="x.png"))
    assert body.update()
    assert "x.png" in lines(settled(body))[-1]
    assert body.copy_text() == "one\n\ntwo"


def test_a_blank_line_separates_text_from_other_content() -> None:
    picture = Content("image", name="x.png")
    assert said(GrowingText("a"), picture, picture, GrowingText("b")) == [
        "  a", "", "  ▣ x.png  image", "  ▣ x.png  image", "", "  b",
    ]  # fmt: skip


def test_content_for_the_agent_only_is_one_line() -> None:
    text = AnnotatedText(FOR_AGENT)
    text.append("secret\nplan")
    hidden = Content("resource", text="x" * 1234, annotations=FOR_AGENT)
    assert said(text, hidden) == [
        "  ▸ text for the agent only, 11 characters",
        "  ▸ file for the agent only, 1,234 characters",
    ]


def test_growing_text_for_the_agent_only_updates_its_size() -> None:
    text = AnnotatedText(FOR_AGENT)
    text.append("one")
    body = messages.agent_message_body(agent(text), context())
    text.append("two")
    assert body.update()
    assert "6 characters" in body.line(0).text


def test_an_empty_message_has_no_height() -> None:
    assert messages.agent_message_body(agent(GrowingText("")), context()).height == 0


def test_code_blocks_of_all_parts_can_be_copied() -> None:
    fence = GrowingText("```py\nx = 1\n```\n")
    entry = agent(fence, Content("image"), GrowingText("- a\n\n      y\n"))
    assert messages.code_blocks(entry) == ["x = 1\n", "y\n"]


def test_a_position_in_a_message_leads_back_to_its_line() -> None:
    entry = agent(GrowingText("word " * 900 + "\n\n[a](b)"), Content("image"), GrowingText("- x\n" * 400))
    body = messages.agent_message_body(entry, context())
    settled(body)
    fresh = messages.agent_message_body(entry, context())
    assert hasattr(fresh, "position_at")
    for line in (0, 10, body.height - 300, body.height - 1):
        assert body.line_at(body.position_at(line)) == line  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------- thoughts


def thinking(
    folded: bool, ended_at: float | None = None, now: float | None = None, width: int = 60
) -> list[str]:
    entry = Thought(id=1, at=100.0, parts=[GrowingText("**Why**\n\nbecause")], ended_at=ended_at)
    clock = None if now is None else lambda: now
    return lines(settled(messages.ThoughtBody(entry, context(width=width, folded=folded, clock=clock))))


def test_a_folded_thought_is_one_line_with_its_duration() -> None:
    assert thinking(True, ended_at=104.4) == ["▸ thought for 4 s"]
    assert thinking(True, ended_at=100.2) == ["▸ thought for 1 s"]
    assert thinking(True, ended_at=175.0) == ["▸ thought for 1:15"]


def test_a_running_thought_shows_its_duration_so_far() -> None:
    assert thinking(True, now=107.0) == ["▸ thinking for 7 s"]
    assert thinking(True) == ["▸ thinking"]


def test_an_unfolded_thought_shows_its_text_beside_a_bar() -> None:
    assert thinking(False, ended_at=104.0) == ["▾ thought for 4 s", "│ Why", "│", "│ because"]


def test_the_end_of_a_thought_requires_a_new_body() -> None:
    entry = Thought(id=1, at=100.0, parts=[GrowingText("a")])
    body = messages.ThoughtBody(entry, context())
    assert body.update()
    entry.ended_at = 101.0
    assert not body.update()


def test_the_headline_of_a_thought_follows_the_clock() -> None:
    clock = [101.0]
    entry = Thought(id=1, at=100.0, parts=[GrowingText("a")])
    body = messages.ThoughtBody(entry, context(clock=lambda: clock[0]))
    assert body.line(0).text == "▾ thinking for 1 s"
    clock[0] = 163.0
    assert body.line(0).text == "▾ thinking for 1:03"
