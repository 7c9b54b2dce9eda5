from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.permissions.rule_store import Memory
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


def test_rules_are_remembered_in_order_by_the_next_process_too(path: Path) -> None:
    memory = Memory(path)
    assert memory.rules() == []
    first, second = memory.add(LS), memory.add(EDIT)
    assert first.id != second.id
    assert first.created > 0
    assert memory.rules() == Memory(path).rules() == [first, second]
    assert memory.notices == []


def test_files_are_private(path: Path) -> None:
    Memory(path).add(LS)
    assert mode(path.parent) == 0o700
    assert {mode(each) for each in path.parent.iterdir()} == {0o600}


def test_nothing_is_made_by_looking(path: Path) -> None:
    Memory(path).rules()
    assert not path.parent.exists()


def test_the_same_rule_is_remembered_once(path: Path) -> None:
    memory = Memory(path)
    first = memory.add(LS)
    assert memory.add(LS.but(origin="elsewhere")) == first
    assert memory.rules() == [first]


def test_rules_are_revoked_by_number_or_id(path: Path) -> None:
    memory = Memory(path)
    first, second = memory.add(LS), memory.add(EDIT)
    assert memory.revoke(2) == second
    assert memory.revoke(first.id) == first
    assert memory.rules() == []


@pytest.mark.parametrize("which", [0, -1, 2, "nobody", ""])
def test_revoking_what_is_not_there_says_so(path: Path, which: int | str) -> None:
    memory = Memory(path)
    kept = memory.add(LS)
    with pytest.raises(UserError, match="no remembered answer"):
        memory.revoke(which)
    assert memory.rules() == [kept]


def test_another_process_is_seen(path: Path) -> None:
    ours, theirs = Memory(path), Memory(path)
    assert ours.rules() == []
    rule = theirs.add(LS)
    assert ours.rules() == [rule]
    theirs.revoke(rule.id)
    assert ours.rules() == []


WRITER = """
import sys
from pathlib import Path
from acp_tui.permissions.rule_store import Memory
from acp_tui.permissions.rules import Rule
memory = Memory(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    command = (sys.argv[2], str(number))
    rule = memory.add(Rule(decision="allow", kind="execute", command=command, scope="everywhere"))
    if number % 2:
        memory.revoke(rule.id)
assert memory.notices == [], memory.notices
"""


def test_two_processes_that_write_at_once_lose_nothing(path: Path) -> None:
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
    found = {rule.command for rule in Memory(path).rules()}
    assert found == {(name, str(number)) for name in ("one", "two") for number in range(0, count, 2)}
    assert {each.name for each in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"rules": []}', b'{"version": 1}', b"\xff\xfe", b"[" * 100_000]
)
def test_a_corrupt_file_is_set_aside_with_a_notice(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    memory = Memory(path)
    assert memory.rules() == []
    (aside,) = [each for each in path.parent.iterdir() if "corrupt" in each.name]
    assert aside.read_bytes() == content
    assert memory.notices == [f"The remembered answers could not be understood; the file is now {aside}."]
    added = memory.add(LS)
    assert memory.rules() == [added]


def test_a_corrupt_file_does_not_keep_a_rule_from_being_remembered(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("{")
    memory = Memory(path)
    added = memory.add(LS)
    assert memory.rules() == [added]
    assert len(memory.notices) == 1


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    path.parent.mkdir(parents=True)
    content = '{"version": 2, "rules": [{"decision": "allow", "kind": "edit", "scope": "everywhere"}]}'
    path.write_text(content)
    memory = Memory(path)
    assert memory.rules() == []
    with pytest.raises(UserError, match="newer acp-tui"):
        memory.add(LS)
    assert path.read_text() == content
    assert "newer acp-tui" in memory.notices[0]


def test_what_is_not_understood_is_kept(path: Path) -> None:
    memory = Memory(path)
    memory.add(LS)
    told = json.loads(path.read_text())
    told["colour"] = "red"
    told["rules"][0]["shape"] = "round"
    told["rules"].append({"decision": "perhaps"})
    path.write_text(json.dumps(told))
    memory = Memory(path)
    memory.add(EDIT)
    assert [rule.kind for rule in memory.rules()] == ["execute", "edit"]
    assert "does not understand" in memory.notices[0]
    memory.revoke(2)
    assert json.loads(path.read_text()) == told


def test_a_directory_that_cannot_be_written_is_one_sentence(path: Path) -> None:
    path.parent.parent.joinpath("state").write_text("a file where a folder should be")
    memory = Memory(path)
    assert memory.rules() == []
    assert "cannot be read" in memory.notices[0]
    with pytest.raises(UserError, match="cannot be changed"):
        memory.add(LS)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_cannot_be_read_is_one_sentence(path: Path) -> None:
    Memory(path).add(LS)
    path.chmod(0)
    memory = Memory(path)
    assert memory.rules() == []
    assert "Permission denied" in memory.notices[0]


def test_the_memory_is_in_the_state_directory(home: Path) -> None:
    Memory().add(LS)
    assert (home / "state" / "permissions.json").exists()
