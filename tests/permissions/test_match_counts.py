"""How often rules have answered, in memory and on disk."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.permissions import match_counts
from acp_tui.permissions.match_counts import Matches
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

LS = Rule(decision="allow", kind="execute", command=("ls",), scope="everywhere")
EDIT = Rule(decision="reject", kind="edit", path="src/**", scope="project", project="/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "permissions.json"


def test_matches_are_counted_in_memory_until_they_are_written(path: Path) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    store.matches.add([rule], 100.0)
    store.matches.add([rule], 90.0)
    assert store.matches.read() == {rule.id: Matches(2, 100.0)}
    assert RuleStore(path).matches.read() == {}
    store.matches.write()
    assert store.matches.read() == RuleStore(path).matches.read() == {rule.id: Matches(2, 100.0)}
    (file,) = path.parent.glob("permission-matches.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_matches_are_written_in_the_background(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_counts, "WRITE_SECONDS", 0.01)
    store = RuleStore(path)
    rule = store.add(LS)
    for number in range(3):
        store.matches.add([rule], float(number))
        expected = {rule.id: Matches(number + 1, float(number))}
        wait_until(lambda: RuleStore(path).matches.read() == expected)  # noqa: B023  # called at once


def test_only_the_matches_of_saved_rules_are_written(path: Path) -> None:
    store = RuleStore(path)
    kept, revoked = store.add(LS), store.add(EDIT)
    of_session = LS.evolve(scope="session", id="session1")
    store.matches.add([kept, revoked, of_session, LS], 5.0)
    store.revoke(revoked)
    store.matches.write()
    assert set(RuleStore(path).matches.read()) == {kept.id, revoked.id}, "the revoked one can be restored"
    assert store.matches.read()["session1"] == Matches(1, 5.0)


def test_no_file_is_made_for_rules_of_a_session(path: Path) -> None:
    store = RuleStore(path)
    store.matches.add([LS.evolve(scope="session", id="session1")], 5.0)
    store.matches.write()
    assert not path.with_name("permission-matches.json").exists()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"matches": 3}', '{"matches": {"x": [1], "y": ["1", 2]}}']
)
def test_a_damaged_file_of_matches_is_replaced(path: Path, content: str) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    path.with_name("permission-matches.json").write_text(content)
    assert store.matches.read() == {}
    store.matches.add([rule], 5.0)
    store.matches.write()
    assert RuleStore(path).matches.read() == {rule.id: Matches(1, 5.0)}


def test_a_file_of_matches_of_a_newer_version_is_not_changed(path: Path) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    file = path.with_name("permission-matches.json")
    file.write_text(json.dumps({"version": 2, "matches": {rule.id: [1, 2]}}))
    store.matches.add([rule], 5.0)
    store.matches.write()
    assert store.matches.read() == {rule.id: Matches(1, 5.0)}
    assert json.loads(file.read_text())["version"] == 2


def test_matches_are_kept_if_they_cannot_be_written(path: Path) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    rules = path.read_text()
    path.write_text("{")  # which ids are in use is unknown
    store.matches.add([rule], 5.0)
    store.matches.write()
    path.write_text(rules)
    store.matches.write()
    assert RuleStore(path).matches.read() == {rule.id: Matches(1, 5.0)}


def test_matches_that_cannot_be_read_are_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RuleStore(path)
    rule = store.add(LS)
    store.matches.add([rule], 5.0)
    store.matches.write()
    store.matches.add([rule], 6.0)
    real_open = os.open

    def fail(file: Path, *options: int) -> int:
        if str(file).endswith("permission-matches.json"):
            raise OSError(errno.EMFILE, "Too many open files")
        return real_open(file, *options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fail)
        store.matches.write()
    store.matches.write()
    assert RuleStore(path).matches.read() == {rule.id: Matches(2, 6.0)}


COUNTER = """
import sys
from pathlib import Path
from acp_tui.permissions.rule_store import RuleStore
store = RuleStore(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    store.matches.add(store.rules(), float(number))
    store.matches.write()
"""


def test_two_concurrent_processes_lose_no_matches(path: Path) -> None:
    rule = RuleStore(path).add(LS)
    command = [sys.executable, "-c", COUNTER, str(path), "50"]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait() for process in processes] == [0, 0]
    assert RuleStore(path).matches.read() == {rule.id: Matches(100, 49.0)}


KILLED = """
import signal
import sys
from pathlib import Path
from acp_tui.permissions.rule_store import RuleStore
store = RuleStore(Path(sys.argv[1]))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))  # without a handler, the signal kills the process
while True:
    store.matches.add(store.rules(), 1.0)
    store.matches.write()
"""


def test_a_killed_process_leaves_valid_matches(path: Path) -> None:
    rule = RuleStore(path).add(LS)
    count = 0
    for number in range(12):
        seconds = 0.001 + number * 0.003
        assert subprocess.run([sys.executable, "-c", KILLED, str(path), str(seconds)]).returncode < 0
        now = RuleStore(path).matches.read().get(rule.id, Matches()).count
        assert now >= count
        count = now
    assert count > 0
