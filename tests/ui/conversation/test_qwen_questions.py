"""Questions that Qwen Code asks in permission requests (see recordings of qwen-code 0.24.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.state import Permission
from tests.support.cli import answers as scripted_answers
from tests.support.cli import run, steps
from tests.support.conversation_ui import own_agent

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

QWEN = 'question_answers = "qwen"'
COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [
        {"label": "Red", "description": "The red one"},
        {"label": "Blue", "description": "The blue one"},
    ],
}
SIZES = {
    "question": "Which sizes?",
    "header": "Sizes",
    "multiSelect": True,
    "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}],
}


def question(*questions: dict[str, Any]) -> list[Any]:
    call = {
        "toolCallId": "call_7",
        "status": "pending",
        "title": f"Ask user {len(questions)} question",
        "kind": "think",
        "rawInput": {"questions": questions},
        "_meta": {
            "toolName": "ask_user_question",
            "qwenInteractionKind": "user_question",
            "qwenQuestions": questions,
        },
    }
    options = [
        {"optionId": "proceed_once", "name": "Submit", "kind": "allow_once"},
        {"optionId": "cancel", "name": "Cancel", "kind": "reject_once"},
    ]
    return ["ask", "session/request_permission", {"toolCall": call, "options": options}]


def answers(ui: ConversationUi) -> list[Any]:
    return scripted_answers({"text": "".join(ui.said())})


async def accepts_keys(ui: ConversationUi, *texts: str) -> None:
    await ui.until(lambda: "keys work once" not in ui.text() and all(text in ui.text() for text in texts))


async def test_a_question_is_a_form_and_its_answer_is_sent_beside_the_outcome(open_ui: Open) -> None:
    async with open_ui(settings=QWEN) as ui:
        await ui.send(question(COLOUR))
        await accepts_keys(ui, "Which colour?", "○ Blue", "The blue one", "Other")
        await ui.press("down", "space", "ctrl+s")
        await accepts_keys(ui, "Send this to", "Blue")
        await ui.press("enter")
        await ui.ready()
        (answer,) = answers(ui)
        assert answer == {
            "outcome": {"outcome": "selected", "optionId": "proceed_once"},
            "answers": {"0": "Blue"},
        }
        (permission,) = [entry for entry in ui.session.entries if isinstance(entry, Permission)]
        assert (permission.outcome, permission.by) == ("selected", "you")


async def test_several_questions_are_answered_by_number_and_own_words_replace_a_choice(open_ui: Open) -> None:
    async with open_ui(settings=QWEN) as ui:
        await ui.send(question(COLOUR, SIZES))
        await accepts_keys(ui, "2 questions", "Which colour?", "Which sizes?")
        await ui.press("tab", *"Green", "tab", "space", "down", "down", "space", "ctrl+s")
        await accepts_keys(ui, "Send this to", "Green")
        await ui.press("enter")
        await ui.ready()
        assert answers(ui)[0]["answers"] == {"0": "Green", "1": "S, L"}


async def test_a_declined_question_is_rejected_and_a_policy_does_not_answer_it(open_ui: Open) -> None:
    async with open_ui(settings=QWEN, options=("--policy", "yolo")) as ui:
        await ui.send(question(COLOUR))
        await accepts_keys(ui, "Which colour?")
        await ui.press("ctrl+n")
        await ui.ready()
        assert answers(ui) == [{"outcome": {"outcome": "selected", "optionId": "cancel"}}]


async def test_another_agent_gets_an_ordinary_permission_request_without_the_field(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(question(COLOUR))
        await ui.asked()
        await ui.press("a")
        await ui.ready()
        assert answers(ui) == [{"outcome": {"outcome": "selected", "optionId": "proceed_once"}}]


def test_exec_cannot_ask_and_declines(tmp_path: Path, home: Path) -> None:
    name = own_agent(home, QWEN, "script")
    ended = run("exec", name, steps(question(COLOUR)), "--policy", "yolo", "--output", "json", cwd=tmp_path)
    assert scripted_answers(ended.result) == [{"outcome": {"outcome": "selected", "optionId": "cancel"}}]
