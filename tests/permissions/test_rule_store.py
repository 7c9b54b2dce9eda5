from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

LS = Rule(decision="allow", kind="execute", command=("ls",), scope="everywhere", origin="dialog")
EDIT = Rule(decision="reject", kind="edit", path="src/**", scope="project", project="/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "permissions.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_rules_are_stored_in_order(path: Path) -> None:
    store = RuleStore(path)
    assert store.rules() == []
    first, second = store.add(LS), store.add(EDIT)
    assert first.id != second.id
    assert first.created > 0
    assert store.rules() == RuleStore(path).rules() == [first, second]
    assert store.notices == []


def test_the_files_of_the_rule_store_are_private(path: Path) -> None:
    RuleStore(path).add(LS)
    assert mode(path.parent) == 0o700
    assert {mode(each) for each in path.parent.iterdir()} == {0o600}


def test_reading_rules_creates_no_files(path: Path) -> None:
    RuleStore(path).rules()
    assert not path.parent.exists()


def test_the_same_rule_is_stored_once(path: Path) -> None:
    store = RuleStore(path)
    first = store.add(LS)
    assert store.add(LS.evolve(origin="elsewhere")) == first
    assert store.rules() == [first]


def test_rules_are_revoked_by_number_or_id(path: Path) -> None:
    store = RuleStore(path)
    first, second = store.add(LS), store.add(EDIT)
    assert store.revoke(2) == second
    assert store.revoke(first.id) == first
    assert store.rules() == []


@pytest.mark.parametrize("which", [0, -1, 2, "nobody", ""])
def test_revoking_an_unknown_rule_is_an_error(path: Path, which: int | str) -> None:
    store = RuleStore(path)
    kept = store.add(LS)
    with pytest.raises(UserError, match="There is no rule"):
        store.revoke(which)
    assert store.rules() == [kept]


def test_changes_by_another_process_are_read(path: Path) -> None:
    ours, theirs = RuleStore(path), RuleStore(path)
    assert ours.rules() == []
    rule = theirs.add(LS)
    assert ours.rules() == [rule]
    theirs.revoke(rule.id)
    assert ours.rules() == []


WRITER = """
import sys
from pathlib import Path
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule
store = RuleStore(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    command = (sys.argv[2], str(number))
    rule = store.add(Rule(decision="allow", kind="execute", command=command, scope="everywhere"))
    if number % 2:
        store.revoke(rule.id)
assert store.notices == [], store.notices
"""


def test_two_concurrent_processes_lose_no_rules(path: Path) -> None:
    count = 40
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)], stdin=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    assert [writer.wait() for writer in writers] == [0, 0]
    found = {rule.command for rule in RuleStore(path).rules()}
    assert found == {(name, str(number)) for name in ("one", "two") for number in range(0, count, 2)}
    assert {each.name for each in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"rules": []}', b'{"version": 1}', b"\xff\xfe", b"[" * 100_000]
)
def test_a_corrupt_file_is_renamed_with_a_notice(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    store = RuleStore(path)
    assert store.rules() == []
    (renamed,) = [each for each in path.parent.iterdir() if "corrupt" in each.name]
    assert renamed.read_bytes() == content
    assert store.notices == [f"The file of remembered rules was corrupt; it was renamed to {renamed}."]
    added = store.add(LS)
    assert store.rules() == [added]


def test_a_rule_can_be_added_to_a_corrupt_file(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("{")
    store = RuleStore(path)
    added = store.add(LS)
    assert store.rules() == [added]
    assert len(store.notices) == 1


def test_a_file_of_a_newer_version_is_not_changed(path: Path) -> None:
    path.parent.mkdir(parents=True)
    content = '{"version": 2, "rules": [{"decision": "allow", "kind": "edit", "scope": "everywhere"}]}'
    path.write_text(content)
    store = RuleStore(path)
    assert store.rules() == []
    with pytest.raises(UserError, match="newer version of acp-tui"):
        store.add(LS)
    assert path.read_text() == content
    assert "newer version of acp-tui" in store.notices[0]


def test_unknown_fields_and_rules_are_kept(path: Path) -> None:
    store = RuleStore(path)
    store.add(LS)
    stored = json.loads(path.read_text())
    stored["colour"] = "red"
    stored["rules"][0]["shape"] = "round"
    stored["rules"].append({"decision": "perhaps"})
    path.write_text(json.dumps(stored))
    store = RuleStore(path)
    store.add(EDIT)
    assert [rule.kind for rule in store.rules()] == ["execute", "edit"]
    assert "does not understand" in store.notices[0]
    store.revoke(2)
    left = json.loads(path.read_text())
    del left["changes"]
    assert left == stored


def test_a_directory_that_cannot_be_written_is_reported(path: Path) -> None:
    path.parent.parent.joinpath("state").write_text("a file where a folder should be")
    store = RuleStore(path)
    assert store.rules() == []
    assert "cannot be read" in store.notices[0]
    with pytest.raises(UserError, match="cannot be changed"):
        store.add(LS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_reported(path: Path) -> None:
    RuleStore(path).add(LS)
    path.chmod(0)
    store = RuleStore(path)
    assert store.rules() == []
    assert "Permission denied" in store.notices[0]


def test_rules_are_stored_in_the_state_directory(home: Path) -> None:
    RuleStore().add(LS)
    assert (home / "state" / "permissions.json").exists()
