"""An entry whose renderer fails is shown as raw text with a note."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli.recordings import transcript_lines
from acp_tui.entry_kinds.kind_table import KINDS
from acp_tui.export.as_html import as_html
from acp_tui.export.as_markdown import as_markdown
from acp_tui.export.document import SessionMetadata
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import AgentMessage, Diff, Session, ToolCall
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.entries.renderers import GuardedBody
from tests.support.bodies import context, lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import Entry
    from tests.support.conversation_ui import Open

NINES = "9" * 5000
CALL = ToolCall(id=1, at=0.0, call_id="call-7", title="Edit the basket")


def as_dark_html(session: Session, metadata: SessionMetadata) -> str:
    return as_html(session, metadata, "dark")


def as_text(session: Session, _: SessionMetadata) -> str:
    return "\n".join(transcript_lines(session))


class Failing(LinesBody):
    """Fails in one of its methods."""

    def __init__(self, method: str) -> None:
        super().__init__([], "")
        self._method = method

    def __getattribute__(self, name: str) -> Any:
        if name == object.__getattribute__(self, "_method"):
            raise ValueError("a mistake")
        return 3 if name == "height" else object.__getattribute__(self, name)


def failing_in(method: str) -> Callable[..., LinesBody]:
    def make(*_: object) -> LinesBody:
        if method == "make":
            raise ValueError("a mistake")
        return Failing(method)

    return make


def fail(monkeypatch: pytest.MonkeyPatch, entry_type: type[Entry], **functions: Any) -> None:
    """Replace functions in the row of a kind."""
    monkeypatch.setitem(KINDS, entry_type, dataclasses.replace(KINDS[entry_type], **functions))


@pytest.mark.parametrize("method", ["make", "height", "line", "copy_text"])
def test_a_failing_renderer_is_replaced_by_raw_text_and_a_note(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    fail(monkeypatch, ToolCall, renderer=failing_in(method))
    body = GuardedBody(CALL, context())
    if method == "line":
        body.line(0)
    body.copy_text()
    text = "\n".join(lines(body))
    assert "This entry (ToolCall) could not be drawn: ValueError: a mistake" in text
    assert "call_id: call-7" in text
    assert "title: Edit the basket" in body.copy_text()


def test_the_raw_text_is_limited_and_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, ToolCall, renderer=failing_in("make"))
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    call = ToolCall(
        id=1, at=0.0, call_id="c", title="\x1b]52;c;UFdO\x07" + "x" * 1_000_000, raw_input={"a": deep}
    )
    body = GuardedBody(call, context())
    assert body.height < 500
    assert "\x1b" not in "".join(lines(body))


def test_hunk_headers_with_absurd_numbers_are_read() -> None:
    diff = Diff("a.py", None, "", patch=f"@@ -{NINES},1 +{NINES},1 @@\n-a\n+b\n")
    call = ToolCall(id=1, at=0.0, call_id="c", title="Edit", kind="edit", content=[diff])
    text = "\n".join(lines(GuardedBody(call, context(Session()))))
    assert "could not be drawn" not in text
    assert "+ b" in text or "+b" in text


async def test_an_entry_that_fails_on_the_screen_leaves_the_rest_usable(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, ToolCall, renderer=failing_in("line"))
    async with open_ui() as one:
        await one.send(
            ["say", "before"],
            ["update", {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Run it"}],
            ["say", "afterwards"],
        )
        await one.sees("before", "could not be drawn", "title: Run it", "afterwards")


@pytest.mark.parametrize("write", [as_markdown, as_dark_html, as_text])
def test_an_entry_that_cannot_be_exported_is_exported_raw(
    monkeypatch: pytest.MonkeyPatch, write: Callable[..., str]
) -> None:
    session = Session(entries=[CALL, AgentMessage(id=2, at=0.0, parts=[GrowingText("afterwards")])])
    fail(monkeypatch, ToolCall, plain_text=failing_in("make"), blocks=failing_in("make"))
    text = write(session, SessionMetadata())
    assert "could not be drawn: ValueError: a mistake" in text
    assert "call-7" in text
    assert "afterwards" in text
