"""Who answers a question, and which of the agent's options the answer becomes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.requests.permission_gate import PermissionGate
from acp_tui.controller.requests.user_questions import Answer, Question
from acp_tui.permissions.agent_identity import AgentIdentity
from acp_tui.permissions.subject_reader import subject_of_call
from acp_tui.session.state import PermissionOption
from tests.support.permissions import PLACE, PROJECT, call_of
from tests.support.scripted_conversation import ScriptedUser

if TYPE_CHECKING:
    from acp_tui.session.events import Event

EDIT: dict[str, Any] = {"title": "Edit", "kind": "edit", "locations": [{"path": f"{PROJECT}/src/app.py"}]}
UNCERTAIN: dict[str, Any] = {"title": "Something", "kind": "edit"}


def option(kind: str, name: str = "") -> PermissionOption:
    return PermissionOption(name or kind, name or kind, kind)


def question(frame: dict[str, Any], *options: PermissionOption) -> Question:
    call = call_of(frame)
    return Question("p1", "permission", subject_of_call(call, PLACE), list(options), why="", call=call)


class Always(ScriptedUser):
    """Says "always", to be remembered."""

    async def ask(self, question: Question) -> Answer:
        return dataclasses.replace(await super().ask(question), remember=True)


def gate(person: ScriptedUser) -> tuple[PermissionGate, list[Event]]:
    noted: list[Event] = []
    made = PermissionGate(
        "ask",
        lambda: AgentIdentity("claude-code"),
        PROJECT,
        noted.append,
        lambda: 0.0,
        question_handler=person,
    )
    return made, noted


@pytest.mark.parametrize("word", ["allow", "reject"])
async def test_always_is_remembered_by_us_and_sent_to_the_agent_as_once(word: str) -> None:
    person = Always(f"{word}_always")
    asked = question(EDIT, option("allow_always"), option("allow_once"), option("reject_once"))
    asked.options.append(option("reject_always"))
    made, _ = gate(person)
    verdict = await made.answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == f"{word}_once"
    assert verdict.allowed is (word == "allow")
    assert [(rule.decision, rule.path) for rule in made.session_rules] == [(word, "src/app.py")]


@pytest.mark.parametrize(
    "offered",
    [
        [option("allow_always"), option("reject_once")],
        [option("allow_once", "one"), option("allow_once", "two"), option("allow_always")],
    ],
)
async def test_an_agent_that_offers_no_single_once_gets_its_always(
    offered: list[PermissionOption],
) -> None:
    asked = question(EDIT, *offered)
    verdict = await gate(Always("allow_always"))[0].answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == "allow_always"


async def test_an_always_that_no_rule_of_ours_can_remember_goes_to_the_agent_as_it_is() -> None:
    asked = question(UNCERTAIN, option("allow_once"), option("allow_always"))
    made, _ = gate(Always("allow_always"))
    verdict = await made.answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == "allow_always"
    assert made.session_rules == []
