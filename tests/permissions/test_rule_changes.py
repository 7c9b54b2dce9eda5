"""Editing rules, and undoing a change of the saved rules."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.permissions.rule_store import MAX_UNDO, RuleStore
from acp_tui.permissions.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

LS = Rule(decision="allow", kind="execute", command=("ls",), scope="everywhere")
GIT = Rule(decision="allow", kind="execute", command=("git", "status"), exact=True, scope="everywhere")
EDIT = Rule(decision="reject", kind="edit", path="src/**", scope="project", project="/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "permissions.json"


def test_an_edited_rule_keeps_its_id_and_place(path: Path) -> None:
    store = RuleStore(path)
    first, second, third = store.add(LS), store.add(GIT), store.add(EDIT)
    new = store.edit(second.id, second.evolve(exact=False, id="", created=0.0))
    assert new == second.evolve(exact=False)
    assert RuleStore(path).rules() == [first, new, third]


def test_a_rule_without_an_id_can_be_edited_and_revoked(path: Path) -> None:
    path.parent.mkdir()
    old = {"decision": "allow", "kind": "execute", "command": ["ls"], "scope": "everywhere"}
    path.write_text(json.dumps({"version": 1, "rules": [old]}))
    store = RuleStore(path)
    (rule,) = store.rules()
    assert store.revoke(rule) == rule
    assert store.undo() == rule
    assert store.edit(rule, rule.evolve(exact=True)).id


def test_a_rule_is_not_edited_to_equal_another_one(path: Path) -> None:
    store = RuleStore(path)
    kept = [store.add(LS), store.add(GIT)]
    with pytest.raises(UserError, match="There is already a rule"):
        store.edit(kept[1], LS)
    assert store.rules() == kept


def test_changes_are_undone_in_reverse_order(path: Path) -> None:
    store = RuleStore(path)
    before = [store.add(LS), store.add(GIT), store.add(EDIT)]
    store.revoke(2)
    store.edit(1, LS.evolve(exact=True))
    store.revoke(1)
    other = RuleStore(path)
    assert other.undo() == LS.evolve(exact=True, id=before[0].id, created=before[0].created)
    assert [other.undo(), other.undo()] == before[:2]
    assert store.rules() == before
    with pytest.raises(UserError, match="no rule change to undo"):
        store.undo()


def test_an_edit_without_a_difference_is_no_change(path: Path) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    assert store.edit(rule.id, LS) == rule
    with pytest.raises(UserError, match="to undo"):
        store.undo()


def test_a_limited_number_of_changes_is_kept(path: Path) -> None:
    store = RuleStore(path)
    for number in range(MAX_UNDO + 5):
        store.revoke(store.add(LS.evolve(command=("ls", str(number)))))
    undone = [store.undo().command for _ in range(MAX_UNDO)]
    assert undone[-1] == ("ls", "5")
    with pytest.raises(UserError, match="to undo"):
        store.undo()


@pytest.mark.parametrize(
    "changes", [None, 1, [1, {}, {"before": 2}, {"before": {"kind": "?"}, "index": "x"}]]
)
def test_damaged_changes_are_ignored(path: Path, changes: object) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "rules": [], "changes": changes}))
    store = RuleStore(path)
    with pytest.raises(UserError, match="to undo"):
        store.undo()
    rule = store.add(LS)
    store.revoke(rule)
    assert store.undo() == rule


CHANGER = """
import signal
import sys
from pathlib import Path
from acp_tui.permissions.rule_store import RuleStore
store = RuleStore(Path(sys.argv[1]))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))  # without a handler, the signal kills the process
while True:
    for rule in store.rules():
        store.edit(rule, rule.evolve(exact=not rule.exact))
        store.revoke(rule.id)
        store.undo()
        store.undo()
"""


def test_a_killed_process_leaves_the_old_or_the_new_rules(path: Path) -> None:
    store = RuleStore(path)
    rules = [store.add(LS), store.add(GIT)]
    # Every state that the changes go through, one after the other.
    states = []
    for index, rule in enumerate(rules):
        edited = [*rules[:index], rule.evolve(exact=not rule.exact), *rules[index + 1 :]]
        states += [rules, edited, [*rules[:index], *rules[index + 1 :]]]
    for number in range(12):
        seconds = 0.001 + number * 0.003
        assert subprocess.run([sys.executable, "-c", CHANGER, str(path), str(seconds)]).returncode < 0
        store = RuleStore(path)
        assert store.rules() in states
        assert store.notices == []
        while store.rules() != rules:
            store.undo()
