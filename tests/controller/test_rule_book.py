"""Changing the rules of a conversation, wherever they are kept."""

from __future__ import annotations

import errno

import pytest

from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.rule_book import RuleBook
from acp_tui.errors import UserError
from acp_tui.permissions import rule_store
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import AgentIdentity, Rule, Scope

PROJECT = "/project"
RULES: dict[Scope, Rule] = {
    "run": Rule(decision="reject", kind="fetch", scope="run", id="run"),
    "session": Rule(decision="allow", kind="execute", command=("ls",), scope="session", id="session"),
    "project": Rule(decision="allow", kind="edit", path="a", scope="project", project=PROJECT, id="project"),
    "everywhere": Rule(decision="allow", kind="execute", command=("git",), scope="everywhere", id="git"),
}


@pytest.fixture
def book() -> RuleBook:
    store = RuleStore()
    for scope in ("project", "everywhere"):
        store.add(RULES[scope].evolve(created=1.0))
    return RuleBook(
        PermissionGate(
            "ask",
            lambda: AgentIdentity("demo"),
            PROJECT,
            lambda _: None,
            lambda: 0.0,
            rule_store=store,
            run_rules=[RULES["run"]],
            session_rules=[RULES["session"]],
        )
    )


def where(book: RuleBook) -> dict[str, str]:
    """Return where each rule is kept, by its id."""
    return {
        **dict.fromkeys((rule.id for rule in book.gate.run_rules), "run"),
        **dict.fromkeys((rule.id for rule in book.gate.session_rules), "session"),
        **dict.fromkeys((rule.id for rule in RuleStore().rules()), "disk"),
    }


def rule_of(book: RuleBook, scope: Scope) -> Rule:
    return next(each.rule for each in book.rules() if each.rule.scope == scope)


@pytest.mark.parametrize(
    ("scope", "to", "kept"),
    [
        ("session", "session", "session"),
        ("session", "project", "disk"),
        ("session", "everywhere", "disk"),
        ("project", "everywhere", "disk"),
        ("project", "session", "session"),
        ("everywhere", "session", "session"),
        ("run", "everywhere", "disk"),
        ("run", "session", "session"),
    ],
)
def test_an_edited_rule_is_kept_where_its_scope_says_and_can_be_restored(
    book: RuleBook, scope: Scope, to: Scope, kept: str
) -> None:
    before = [each.rule for each in book.rules()]
    rule = rule_of(book, scope)
    project = PROJECT if to == "project" else None
    new = book.edit(rule, rule.evolve(scope=to, project=project, agent="demo", id="", created=0.0))
    assert (new.id, new.scope, new.agent) == (rule.id, to, "demo")
    assert new in [each.rule for each in book.rules()]
    assert len(book.rules()) == len(before)
    assert where(book)[rule.id] == kept
    assert book.undo() == rule
    assert [each.rule for each in book.rules()] == before
    with pytest.raises(UserError, match="no rule change to undo"):
        book.undo()


def test_an_edit_that_changes_nothing_is_not_undone(book: RuleBook) -> None:
    rule = rule_of(book, "session")
    assert book.edit(rule, rule) == rule
    with pytest.raises(UserError, match="no rule change"):
        book.undo()


def test_a_rule_that_is_saved_already_stays_when_an_equal_one_is_undone(book: RuleBook) -> None:
    rule = rule_of(book, "session")
    RuleStore().add(rule.evolve(scope="everywhere", id="equal"))
    book.edit(rule, rule.evolve(scope="everywhere"))
    assert "session" not in where(book)
    book.undo()
    assert where(book) == {
        "run": "run",
        "session": "session",
        "project": "disk",
        "git": "disk",
        "equal": "disk",
    }


def test_an_undo_that_fails_loses_no_rule_and_can_be_repeated(
    book: RuleBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [each.rule for each in book.rules()]
    rule = rule_of(book, "project")
    book.edit(rule, rule.evolve(scope="session", project=None))

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(rule_store, "write_private", fail)
        with pytest.raises(UserError, match="No space left"):
            book.undo()
    assert len(book.rules()) == len(before)
    assert book.undo() == rule
    assert [each.rule for each in book.rules()] == before


def test_it_is_known_which_rules_apply(book: RuleBook) -> None:
    RuleStore().add(RULES["project"].evolve(project="/elsewhere", id="elsewhere"))
    RuleStore().add(RULES["everywhere"].evolve(agent="another", id="another"))
    assert {each.rule.id for each in book.rules() if not each.applies} == {"elsewhere", "another"}
