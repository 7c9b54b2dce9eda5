"""Which option of the agent is chosen for an answer, and which rules are remembered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.rule_book import RuleBook
from acp_tui.controller.user_questions import Question
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import AgentIdentity, Rule
from acp_tui.permissions.subject_reader import subject_of_call
from acp_tui.session.state import PermissionOption
from acp_tui.store.locks import file_lock
from tests.support.permissions import PLACE, PROJECT, call_of
from tests.support.scripted_conversation import RememberingUser, ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

EDIT: dict[str, Any] = {"title": "Edit", "kind": "edit", "locations": [{"path": f"{PROJECT}/src/app.py"}]}
UNCERTAIN: dict[str, Any] = {"title": "Something", "kind": "edit"}


def option(kind: str, name: str = "") -> PermissionOption:
    return PermissionOption(name or kind, name or kind, kind)


def question(frame: dict[str, Any], *options: PermissionOption) -> Question:
    call = call_of(frame)
    return Question("p1", "permission", subject_of_call(call, PLACE), list(options), why="", call=call)


def gate(user: ScriptedUser) -> tuple[PermissionGate, list[Any]]:
    events: list[Any] = []
    permission_gate = PermissionGate(
        "ask",
        lambda: AgentIdentity("claude-code"),
        PROJECT,
        events.append,
        lambda: 0.0,
        question_handler=user,
    )
    return permission_gate, events


@pytest.mark.parametrize("word", ["allow", "reject"])
async def test_always_is_remembered_as_a_rule_and_sent_as_once(word: str) -> None:
    user = RememberingUser(f"{word}_always")
    asked = question(EDIT, option("allow_always"), option("allow_once"), option("reject_once"))
    asked.options.append(option("reject_always"))
    permission_gate, _ = gate(user)
    verdict = await permission_gate.answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == f"{word}_once"
    assert verdict.allowed is (word == "allow")
    assert [(rule.decision, rule.path) for rule in permission_gate.session_rules] == [(word, "src/app.py")]


@pytest.mark.parametrize(
    "offered",
    [
        [option("allow_always"), option("reject_once")],
        [option("allow_once", "one"), option("allow_once", "two"), option("allow_always")],
    ],
)
async def test_always_is_sent_if_there_is_no_single_option_for_once(
    offered: list[PermissionOption],
) -> None:
    asked = question(EDIT, *offered)
    verdict = await gate(RememberingUser("allow_always"))[0].answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == "allow_always"


async def test_always_is_sent_if_no_rule_can_remember_it() -> None:
    asked = question(UNCERTAIN, option("allow_once"), option("allow_always"))
    permission_gate, _ = gate(RememberingUser("allow_always"))
    verdict = await permission_gate.answer(asked)
    assert verdict.option is not None
    assert verdict.option.kind == "allow_always"
    assert permission_gate.session_rules == []


async def test_the_event_loop_goes_on_while_another_process_changes_the_rules() -> None:
    permission_gate, _ = gate(RememberingUser("allow_always"))
    store = permission_gate.rule_store = RuleStore()
    asked = question(EDIT, option("allow_once"), option("allow_always"))
    store.path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(store.path.with_name(f"{store.path.name}.lock"), timeout=0):
        answer = asyncio.ensure_future(permission_gate.answer(asked))
        await until(lambda: asked.offer is not None)
        assert not answer.done()
    await answer
    assert [rule.path for rule in store.rules()] == ["src/app.py"]


async def test_in_a_worktree_rules_are_saved_for_the_project_and_apply(
    tmp_path: Path,
) -> None:
    checkout = "/ws/checkout"
    permission_gate, _ = gate(RememberingUser("allow_always"))
    permission_gate.rule_store = RuleStore(tmp_path / "rules.json")
    permission_gate.project, permission_gate.folder = checkout, PROJECT
    options = [option("allow_always"), option("allow_once"), option("reject_once")]
    assert (await permission_gate.answer(question(EDIT, *options))).why.startswith("you answered")
    [saved] = permission_gate.rule_store.rules()
    assert (saved.project, saved.path) == (checkout, "src/app.py")
    permission_gate.question_handler = None
    assert (await permission_gate.answer(question(EDIT, *options))).allowed


async def test_what_the_project_rejects_is_rejected_in_the_checkout_too(tmp_path: Path) -> None:
    permission_gate, _ = gate(ScriptedUser())
    permission_gate.rule_store = RuleStore(tmp_path / "rules.json")
    permission_gate.project, permission_gate.folder, permission_gate.policy = "/ws/checkout", PROJECT, "yolo"
    rule = Rule(decision="reject", kind="edit", path="src/**", scope="project", project="/ws/checkout")
    permission_gate.rule_store.add(rule)
    for path in (f"{PROJECT}/src/app.py", "/ws/checkout/src/app.py"):
        frame = {"title": "Edit", "kind": "edit", "locations": [{"path": path}]}
        assert (await permission_gate.answer(question(frame, option("reject_once")))).allowed is False


# --------------------------------------------------------------------------- several questions


ASKED_TWICE = [option("allow_always"), option("allow_once"), option("reject_once")]


async def test_a_new_rule_decides_the_questions_that_wait_in_all_conversations_of_the_project() -> None:
    store, user = RuleStore(), RememberingUser(thinking=asyncio.Event())
    first, of_first = gate(user)
    second, of_second = gate(ScriptedUser(thinking=asyncio.Event()))
    first.rule_store = second.rule_store = store
    waiting = [first, first, second]
    answers = [asyncio.ensure_future(one.answer(question(EDIT, *ASKED_TWICE))) for one in waiting]
    await until(lambda: len(user.asked) == 2)
    user.answer_next("allow_always")
    await until(lambda: all(answer.done() for answer in answers))
    verdicts = await asyncio.gather(*answers)
    assert [verdict.allowed for verdict in verdicts] == [True] * 3
    assert sorted(event.by for event in (*of_first, *of_second)) == ["rule", "rule", "you"]
    assert "allowed by rule" in of_second[0].why


async def test_a_rule_of_the_session_decides_the_questions_that_wait() -> None:
    user = RememberingUser(thinking=asyncio.Event())
    permission_gate, events = gate(user)
    answers = [asyncio.ensure_future(permission_gate.answer(question(EDIT, *ASKED_TWICE))) for _ in "12"]
    await until(lambda: len(user.asked) == 2)
    user.answer_next("allow_always")
    await until(lambda: all(answer.done() for answer in answers))
    assert [event.by for event in events] == ["you", "rule"]


async def test_a_changed_rule_decides_the_questions_that_wait() -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    permission_gate, events = gate(user)
    narrow = Rule(decision="allow", kind="edit", path="other.py", scope="session")
    permission_gate.session_rules.append(narrow)
    answer = asyncio.ensure_future(permission_gate.answer(question(EDIT, *ASKED_TWICE)))
    await until(lambda: user.asked)
    RuleBook(permission_gate).edit(narrow, narrow.evolve(path="src/**"))
    await until(answer.done)
    assert (await answer).allowed
    assert [event.by for event in events] == ["rule"]


# --------------------------------------------------------------------------- what the agent gets


@pytest.mark.parametrize("chosen", ["allow_once", "reject_once"])
async def test_an_id_that_stands_for_different_answers_is_not_sent(chosen: str) -> None:
    options = [PermissionOption("same", kind, kind) for kind in ("allow_once", "reject_once")]
    permission_gate, _ = gate(ScriptedUser(chosen))
    verdict = await permission_gate.answer(question(EDIT, *options))
    assert verdict.option is None
    assert not verdict.allowed
    assert "one id for different options" in verdict.why
