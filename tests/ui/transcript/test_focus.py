"""The focus in the conversation: what marks it, and where typed text goes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open


def marked(ui: ConversationUi) -> list[str]:
    """Return the lines beside which the cursor bar stands."""
    return [line.strip() for line in ui.lines() if line.startswith("▎")]


def _is_marked(ui: ConversationUi, entry: str) -> bool:
    return any(entry in line for line in marked(ui))


def _offers_fold(ui: ConversationUi, offered: bool) -> bool:
    return ("fold" in ui.lines()[-1].split()) == offered


async def test_the_focus_marks_an_entry_at_once_and_dims_the_sign_of_the_prompt(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "The answer."])
        await ui.ready()
        await ui.sees("The answer.")
        sign = ui.prompt.query_one(".prompt--marker", Static)
        before = sign.styles.color
        assert marked(ui) == []
        await ui.press("tab")
        await ui.until(lambda: ui.transcript.has_focus)
        assert any("The answer." in line for line in marked(ui))
        assert sign.styles.color != before
        await ui.press("c")
        await ui.until(lambda: ui.app.clipboard.strip() == "The answer.")
        await ui.press("i")
        await ui.until(lambda: not ui.transcript.has_focus)
        assert marked(ui) == []
        assert sign.styles.color == before


async def test_text_that_is_no_key_of_the_conversation_goes_to_the_prompt_unless_that_is_turned_off(
    open_ui: Open, home: Path
) -> None:
    async with open_ui() as ui:
        await ui.press("tab", *"was")
        await ui.until(lambda: ui.prompt.text == "was")
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "config.toml").write_text("type_to_prompt = false\n")
    async with open_ui() as ui:
        await ui.press("tab", "w")
        await ui.pilot.pause()
        assert ui.transcript.has_focus
        assert ui.prompt.text == ""


async def test_the_footer_offers_folding_only_on_what_can_be_folded(open_ui: Open) -> None:
    async with open_ui() as ui:
        call = {"sessionUpdate": "tool_call", "kind": "read", "status": "completed"}
        content = [{"type": "content", "content": {"type": "text", "text": "found"}}]
        thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}}
        await ui.send(
            ["update", thought],
            ["update", {**call, "toolCallId": "1", "title": "Read one", "content": content}],
            ["update", {**call, "toolCallId": "2", "title": "Read two"}],
            ["say", "The answer."],
        )
        await ui.ready()
        await ui.sees("The answer.")
        await ui.press("tab")
        for entry, offered in (
            ("The answer.", False),
            ("Read two", False),
            ("Read one", True),
            ("thought", True),
        ):
            await ui.until(partial(_is_marked, ui, entry))
            await ui.until(partial(_offers_fold, ui, offered))
            await ui.press("K")


async def test_folding_is_offered_once_the_entry_at_the_cursor_has_something_to_fold(
    open_ui: Open, tmp_path: Path
) -> None:
    async with open_ui() as ui:
        call = {"toolCallId": "1", "title": "Read one", "kind": "read", "status": "in_progress"}
        content = [{"type": "content", "content": {"type": "text", "text": "found"}}]
        await ui.send(
            ["update", {"sessionUpdate": "tool_call", **call}],
            ["wait_for_file", str(tmp_path / "go")],
            ["update", {"sessionUpdate": "tool_call_update", **call, "content": content}],
        )
        await ui.sees("Read one")
        await ui.press("tab")
        await ui.until(lambda: _is_marked(ui, "Read one"))
        assert _offers_fold(ui, False)
        (tmp_path / "go").touch()
        await ui.until(lambda: _offers_fold(ui, True))
