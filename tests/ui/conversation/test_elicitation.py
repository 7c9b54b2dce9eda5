"""Questions of the agent: forms to fill in and pages to open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui import web_browser
from acp_tui.session.state import Elicitation
from tests.support.cli import answers as scripted_answers

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open

COLOURS = {
    "type": "object",
    "properties": {"colour": {"type": "string", "title": "Colour", "enum": ["Red", "Blue"]}},
    "required": ["colour"],
}
KEY = {"type": "object", "properties": {"key": {"type": "string", "title": "API key"}}}
URL = "https://xn--pple-43d.com/sign-in?state=1"


def form(schema: dict[str, Any], message: str = "Which one?", **more: Any) -> list[Any]:
    return [
        "ask",
        "elicitation/create",
        {"mode": "form", "message": message, "requestedSchema": schema, **more},
    ]


def page(url: str) -> list[Any]:
    return [
        "request",
        "elicitation/create",
        {"mode": "url", "message": "Sign in", "url": url, "elicitationId": "web"},
        "e1",
    ]


def question(ui: ConversationUi) -> Elicitation:
    (entry,) = [entry for entry in ui.session.entries if isinstance(entry, Elicitation)]
    return entry


def answers(ui: ConversationUi) -> list[Any]:
    return scripted_answers({"text": "".join(ui.said())})


def answers_of_last(ui: ConversationUi) -> list[Any]:
    """Return the answers that the agent received during the last turn."""
    return scripted_answers({"text": ui.said()[-1]})


async def accepts_keys(ui: ConversationUi, *texts: str) -> None:
    await ui.until(lambda: "keys work once" not in ui.text() and all(text in ui.text() for text in texts))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that were opened in the browser."""
    pages: list[str] = []

    def open_page(url: str) -> bool:
        pages.append(url)
        return True

    monkeypatch.setattr(web_browser, "has_browser", lambda: True)
    monkeypatch.setattr(web_browser, "open_page", open_page)
    return pages


async def test_a_form_of_the_agent_is_filled_in_and_its_answer_stays_out_of_the_log(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["report_params", "initialize"], form(COLOURS, sessionId=None, requestId=1))
        await accepts_keys(ui, "Question", "scripted", "Which one?", "○ Blue")
        assert "waiting for your answer" in ui.status()
        await ui.press("down", "enter")
        await ui.sees("Send this to scripted?", "Blue")
        await accepts_keys(ui)
        await ui.press("enter")
        await ui.ready()
        initialize, answer = answers(ui)
        assert initialize["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}
        assert answer == {"action": "accept", "content": {"colour": "Blue"}}
        assert question(ui).outcome == "accept"
        await ui.sees("the agent asks: Which one?", "fields: Colour", "answered")
        sent = [line for line in wire_log(ui) if '"action"' in line and "accept" in line]
        assert sent
        assert not any('"colour": "Blue"' in line for line in sent)


def wire_log(ui: ConversationUi) -> list[str]:
    conversation = ui.screen.runner.conversation
    assert conversation is not None
    assert conversation.folder.path is not None
    return (conversation.folder.path / "wire.jsonl").read_text().splitlines()


async def test_closing_and_declining_differ_and_stopping_the_turn_closes_the_question(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(form(KEY, "First?"), form(KEY, "Second?"), form(COLOURS), ["wait_for_cancel"])
        for message, key in (("First?", "escape"), ("Second?", "ctrl+n")):
            await accepts_keys(ui, message, "API key", "Seems to ask for a secret")
            await ui.press(key)
        await accepts_keys(ui, "○ Blue")
        await ui.screen.runner.conversation.cancel()  # type: ignore[union-attr]
        await ui.ready()
        assert answers(ui) == [{"action": "cancel"}, {"action": "decline"}, {"action": "cancel"}]
        assert ui.app.screen is ui.screen
        await ui.sees("dismissed without an answer")


async def test_questions_wait_in_line_with_permission_requests(open_ui: Open) -> None:
    odd = {"type": "object", "properties": {"place": {"type": "_map"}}, "oneOf": [{}]}
    async with open_ui() as ui:
        await ui.send(
            ["request", *form(odd)[1:], "e1"], ["permission", {"title": "A call"}], ["answer_to", "e1"]
        )
        await accepts_keys(ui, "Edited as JSON")
        assert ui.dialog is None
        await ui.press("ctrl+n")
        await ui.asked()
        await ui.press("a")
        await ui.ready()
        assert answers(ui)[1] == {"action": "decline"}


async def test_a_page_is_opened_after_consent_only(open_ui: Open, opened: list[str]) -> None:
    async with open_ui() as ui:
        await ui.send(page(URL), ["answer_to", "e1"], ["complete", "other"], ["complete", "web"])
        await ui.sees(
            "scripted asks you to open a page",
            "host         xn--pple-43d.com",
            f"address      {URL}",
            "may imitate",
        )
        await accepts_keys(ui, "Decline", "Esc close")
        assert opened == []
        await ui.press("down", "enter")
        await ui.ready()
        assert opened == [URL]
        assert answers(ui) == [{"action": "accept"}]
        await ui.sees("completed on the web page")


async def test_a_page_is_closed_declined_or_completed_without_being_opened(
    open_ui: Open, opened: list[str]
) -> None:
    async with open_ui() as ui:
        for key, action in (("escape", "cancel"), ("enter", "decline")):
            await ui.send(page("http://example.org/\x1b[2J"), ["answer_to", "e1"])
            await accepts_keys(ui, "http://example.org/␛[2J", "does not open this address")
            assert "in the browser" not in ui.text()
            await ui.press(key)
            await ui.ready()
            assert answers_of_last(ui) == [{"action": action}]
        await ui.send(page(URL), ["complete", "web"], ["answer_to", "e1"])
        await ui.ready()
        await ui.until(lambda: ui.app.screen is ui.screen)
        assert (answers_of_last(ui), opened) == ([{"action": "accept"}], [])


async def test_a_question_names_the_session_that_asks_its_tool_call_and_its_place_in_the_line(
    open_ui: Open,
) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Deploy the site"}
    first = ["request", *form(COLOURS, toolCallId="c1")[1:], "e1"]
    second = ["request", *form(COLOURS, "And which now?", sessionId="child")[1:], "e2"]
    async with open_ui() as ui:
        await ui.send(["update", call], first, second, ["answer_to", "e1"], ["answer_to", "e2"])
        await accepts_keys(ui, "For tool call: Deploy the site", "scripted  1 of 2")
        await ui.press("ctrl+n")
        await accepts_keys(ui, "And which now?", "scripted (session child)  2 of 2")
        await ui.press("escape")
        await ui.ready()
        assert answers(ui) == [{"action": "decline"}, {"action": "cancel"}]
        await ui.sees("the session child asks: And which now?")


async def test_a_question_names_the_subagent_that_asks(open_ui: Open) -> None:
    state = {"title": "Look around", "state": {"state": "running"}}
    announced = {"sessionUpdate": "subagent_update", "sessionId": "child", **state}
    started = {"sessionUpdate": "tool_call", "toolCallId": "task", "title": "Write tests"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Deploy the site"}
    call["_meta"] = {"claudeCode": {"parentToolUseId": "task"}}  # type: ignore[assignment]
    asked = [form(COLOURS, sessionId="child"), form(COLOURS, toolCallId="c1")]
    async with open_ui() as ui:
        await ui.send(*(["update", update] for update in (announced, started, call)), *asked)
        await accepts_keys(ui, "scripted (subagent: Look around)")
        await ui.press("ctrl+n")
        await accepts_keys(ui, "scripted (subagent: Write tests)", "For tool call: Deploy the site")
        await ui.press("ctrl+n")
        await ui.ready()
        await ui.sees("the subagent Look around asks:", "the subagent Write tests asks:")


async def test_a_question_of_an_unknown_kind_is_refused_and_shown_as_it_was_sent(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["ask", "elicitation/create", {"mode": "_voice", "message": "Say it", "pitch": 440}])
        await ui.ready()
        assert answers(ui)[0]["code"] == -32602
        await ui.sees("unknown type _voice", '"pitch": 440', "answered with an error")


KINDS = {
    "type": "object",
    "properties": {
        "site": {"type": "string", "title": "Site", "format": "uri"},
        "at": {"type": "string", "title": "Time", "format": "date-time"},
        "colour": {"type": "string", "title": "Colour", "oneOf": [{"const": "r", "title": "Red"}]},
        "weight": {"type": "number", "title": "Weight"},
        "extras": {"type": "array", "title": "Extras", "items": {"anyOf": [{"const": "c", "title": "Card"}]}},
        "place": {"type": "_map", "title": "Place"},
    },
}


async def test_a_form_with_kinds_of_fields_that_few_agents_use_is_filled_in(open_ui: Open) -> None:
    site, time = "https://b.eu", "2026-11-22T10:00:00Z"
    async with open_ui() as ui:
        await ui.send(form(KINDS))
        await accepts_keys(ui, "Site", "Colour")
        for text in (site, time):
            await ui.paste(text)
            await ui.press("tab")
        await ui.press("space", "tab", "2", ".", "5", "tab", "space", "tab", "7", "tab", "ctrl+s")
        await accepts_keys(ui, "Send this to scripted?")
        await ui.press("enter")
        await ui.ready()
        (answer,) = answers(ui)
        values = {"site": site, "at": time, "colour": "r", "weight": 2.5, "extras": ["c"], "place": 7}
        assert answer["content"] == values


async def test_a_form_does_not_repeat_its_question_as_the_title_of_the_call(open_ui: Open) -> None:
    """Claude Code titles the call with the question."""
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Which one?", "status": "pending"}
    async with open_ui() as ui:
        await ui.send(["update", call], form(COLOURS, toolCallId="c"))
        await accepts_keys(ui, "Which one?", "○ Blue")
        assert "tool call:" not in ui.text()
        await ui.press("ctrl+n")
        await ui.ready()
