"""The focus in the conversation: what marks it, and where typed text goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open


def marked(ui: ConversationUi) -> list[str]:
    """Return the lines beside which the cursor bar stands."""
    return [line.strip() for line in ui.lines() if line.startswith("▎")]


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
