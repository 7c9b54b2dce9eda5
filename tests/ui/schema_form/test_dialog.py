"""The keys and the answers of the form."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from textual import events

from acp_tui.schema_form.values import FormAnswer
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.schema_form.dialog import SchemaFormDialog
from acp_tui.ui.schema_form.editors import ChoiceList
from acp_tui.ui.schema_form.form_pages import FormPages
from tests.support.waiting import until
from tests.ui.schema_form.sample_forms import BOOKING, NESTED, SECRETS, form_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.app import ComposeResult
    from textual.pilot import Pilot

TWO = {
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 1}},
    "required": ["name"],
}


@asynccontextmanager
async def shown(schema: Any, **more: Any) -> AsyncIterator[Pilot[None]]:
    async with form_app(schema, **more).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        yield pilot


def screen_text(pilot: Pilot[Any]) -> str:
    """Return the text on the screen."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


def pause_typing(pilot: Pilot[Any]) -> None:
    """Let enough time pass that the next key acts."""
    pilot.app.clock.now += 1  # type: ignore[attr-defined]


async def paste(pilot: Pilot[Any], text: str) -> None:
    """Paste a text, which is faster than typing it."""
    assert pilot.app.focused is not None
    pilot.app.focused.post_message(events.Paste(text))
    await pilot.pause()


async def send(pilot: Pilot[Any]) -> FormAnswer:
    """Review the form, send it, and return the answer."""
    await pilot.press("ctrl+s")
    pause_typing(pilot)
    await pilot.press("enter")
    return answer_of(pilot)


def answer_of(pilot: Pilot[Any]) -> FormAnswer:
    (answer,) = pilot.app.answers  # type: ignore[attr-defined]
    assert isinstance(answer, FormAnswer)
    return answer


async def test_filling_in_reviewing_and_sending() -> None:
    async with shown(BOOKING) as pilot:
        await pilot.press("A", "l", "enter")
        await paste(pilot, "al@example.com")
        await pilot.press("down", "down", "space", "enter", "backspace", "8", "tab", "up", "space", "tab")
        await pilot.press("space", "down", "down", "space", "tab", "B", "o", "ctrl+j", "E", "v", "up", "x")
        await pilot.press("tab", "tab", "shift+tab")
        await paste(pilot, "2026-01-31")
        answer = await send(pilot)
        assert answer == FormAnswer(
            "accept",
            {
                "name": "Al",
                "email": "al@example.com",
                "room": "b",
                "seats": 8,
                "catering": True,
                "extras": ["projector", "phone"],
                "guests": ["Box", "Ev"],
                "day": "2026-01-31",
            },
        )


async def test_a_form_is_not_laid_out_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    measure, measured = ChoiceList.get_content_height, []

    def count(self: ChoiceList, *sizes: Any) -> int:
        measured.append(self)
        return measure(self, *sizes)

    monkeypatch.setattr(ChoiceList, "get_content_height", count)
    async with shown(BOOKING) as pilot:
        await pilot.press("tab", "tab", "down", "space")
        for _ in range(5):
            await pilot.pause()
        before = len(measured)
        for _ in range(10):
            await pilot.pause()
        assert 0 < before == len(measured)


async def test_enter_after_the_last_field_reviews_but_does_not_send() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("x", "enter", "7", "enter", "enter", "enter")
        assert "Send this to" in screen_text(pilot)
        assert pilot.app.answers == []  # type: ignore[attr-defined]


async def test_problems_are_shown_while_typing() -> None:
    async with shown(TWO) as pilot:
        assert "Required" not in screen_text(pilot)
        await pilot.press("tab", "0")
        await pilot.pause()
        assert "Must be at least 1." in screen_text(pilot)
        await pilot.press("backspace", "5")
        await pilot.pause()
        assert "Must be at least 1." not in screen_text(pilot)


async def test_a_form_with_problems_is_not_sent() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("tab", "x", "ctrl+s")
        await pilot.pause()
        assert all(words in screen_text(pilot) for words in ("Required.", "2 fields need a correction."))
        await pilot.press("y")  # the first wrong field has the focus
        await pilot.press("tab", "backspace")
        assert await send(pilot) == FormAnswer("accept", {"name": "y"})


async def test_faults_that_only_the_whole_schema_shows() -> None:
    schema = TWO | {"properties": TWO["properties"] | {"more": {"type": "object", "maxProperties": 0}}}  # type: ignore[operator]
    async with shown(schema, values={"name": "x"}) as pilot:
        await pilot.press("shift+tab")
        await paste(pilot, '{"a": 1}')
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "more can have at most 0 fields." in screen_text(pilot)


@pytest.mark.parametrize(("key", "action"), [("escape", "cancel"), ("ctrl+n", "decline")])
async def test_closing_and_declining(key: str, action: str) -> None:
    async with shown(TWO, allow_decline=True) as pilot:
        await pilot.press(key)
        assert answer_of(pilot).action == action


async def test_declining_needs_somebody_who_understands_it() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("ctrl+n")
        assert pilot.app.answers == []  # type: ignore[attr-defined]


async def test_what_was_filled_in_is_not_lost_by_one_key() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("x", "escape", "enter")
        assert pilot.app.answers == []  # type: ignore[attr-defined]
        await pilot.press("escape", "down", "enter")
        assert answer_of(pilot).action == "cancel"


async def test_what_was_written_as_json_is_not_lost_by_one_key() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("ctrl+o", "f7")
        await paste(pilot, '{"name": "z"}')
        await pilot.press("ctrl+o")
        await pilot.pause()
        await pilot.press("escape", "enter")
        assert pilot.app.answers == []  # type: ignore[attr-defined]


async def test_editing_as_json_and_going_back() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("x", "tab", "y", "ctrl+o")
        await pilot.pause()
        assert '"age": "y"' in screen_text(pilot)
        await pilot.press("ctrl+o")  # unchanged: the fields are as they were
        await pilot.press("ctrl+o", "f7")
        await paste(pilot, '{"age": 3, "name": "z"}')
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert await send(pilot) == FormAnswer("accept", {"name": "z", "age": 3})


async def test_json_that_the_fields_cannot_show_stays_json() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("ctrl+o", "f7")
        await paste(pilot, '{"name": "z", "extra": 1}')
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert "There is no field for extra." in screen_text(pilot)
        assert await send(pilot) == FormAnswer("accept", {"name": "z", "extra": 1})


async def test_an_unusual_schema_is_edited_as_json() -> None:
    async with shown(NESTED) as pilot:
        assert "Edited as JSON because its schema combines several schemas" in screen_text(pilot)
        await pilot.press("f7")
        await paste(pilot, '{"path": 1')
        await pilot.press("enter", "}")
        assert "path must be text." in screen_text(pilot)
        await pilot.press("f7")
        await paste(pilot, '{"path": "x"}')
        assert await send(pilot) == FormAnswer("accept", {"path": "x"})


async def test_many_choices_open_a_list_with_a_filter() -> None:
    async with shown(SECRETS, values={"api_token": "x"}) as pilot:
        await pilot.press("shift+tab", "space", "2", "2", "2", "enter")
        await pilot.pause()
        assert await send(pilot) == FormAnswer("accept", {"api_token": "x", "country": "Country 222"})


async def test_passwords_are_masked() -> None:
    async with shown(SECRETS, values={"api_token": "x"}) as pilot:
        await pilot.press("tab", "h", "u", "n", "t", "ctrl+s")
        await pilot.pause()
        assert "hunt" not in screen_text(pilot)
        pause_typing(pilot)
        await pilot.press("enter")
        assert answer_of(pilot).content == {"api_token": "x", "password": "hunt"}


async def test_pasted_text_has_no_control_characters() -> None:
    async with shown(TWO) as pilot:
        await paste(pilot, "a\x1b[31m\u202eb")
        assert await send(pilot) == FormAnswer("accept", {"name": "ab"})


async def test_a_form_that_interrupts_waits_until_typing_pauses() -> None:
    async with shown(TWO, interrupts=True, allow_decline=True) as pilot:
        await pilot.press(*"xy", "enter", "ctrl+n", "escape")
        assert pilot.app.focused is None
        pause_typing(pilot)
        await until(lambda: pilot.app.focused is not None)
        await pilot.press("z")
        assert await send(pilot) == FormAnswer("accept", {"name": "z"})


async def test_a_form_without_fields() -> None:
    async with shown({}) as pilot:
        assert "There is nothing to fill in." in screen_text(pilot)
        await pilot.press("enter")
        pause_typing(pilot)
        await pilot.press("enter")
        assert answer_of(pilot) == FormAnswer("accept", {})


async def test_the_schema_can_be_read() -> None:
    async with shown(TWO) as pilot:
        await pilot.press("ctrl+r")
        assert isinstance(pilot.app.screen, DetailScreen)
        await pilot.press("escape", "q")
        assert await send(pilot) == FormAnswer("accept", {"name": "q"})


async def test_keys_keep_their_order() -> None:
    """They arrive in several parts, faster than they are handled."""
    async with shown(TWO) as pilot:
        for part in (("a", "tab"), ("7", "shift+tab"), ("b", "tab", "8"), ("shift+tab", "c")):
            for key in part:
                pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await asyncio.sleep(0)
        await pilot.pause()
        assert await send(pilot) == FormAnswer("accept", {"name": "abc", "age": 78})


async def test_a_huge_form_is_quick_enough_to_use() -> None:
    names = {f"field {number}": {"type": "string", "description": "x" * 5_000} for number in range(100)}
    async with shown({"properties": names}) as pilot:
        await pilot.press("shift+tab", "z", "tab", "a")
        assert await send(pilot) == FormAnswer("accept", {"field 0": "a", "field 99": "z"})


async def test_a_question_that_arrives_while_the_form_opens_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = FormPages.open
    app = form_app(TWO)

    async def open_late(pages: FormPages, values: dict[str, Any]) -> None:
        await opened(pages, values)
        app.screen.show_position((1, 2))  # type: ignore[attr-defined]

    monkeypatch.setattr(FormPages, "open", open_late)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: "1 of 2" in screen_text(pilot))


async def test_a_question_that_arrives_while_the_dialog_is_composed_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compose = SchemaFormDialog.compose

    def compose_during_another_question(dialog: SchemaFormDialog) -> ComposeResult:
        yield from compose(dialog)
        dialog.show_position((1, 2))

    monkeypatch.setattr(SchemaFormDialog, "compose", compose_during_another_question)
    async with shown(TWO) as pilot:
        assert "1 of 2" in screen_text(pilot)
