from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

GIT = Rule(decision="allow", kind="execute", command=("git", "status"), scope="everywhere")
EDIT = Rule(decision="reject", kind="edit", path="src/**", scope="everywhere", agent="demo")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["permissions", *words]) == 0
    return capsys.readouterr().out


def test_the_list_numbers_what_is_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys) == said(capsys, "list") == "No remembered answers.\n"
    for rule in (GIT, EDIT):
        RuleStore().add(rule)
    first, second = said(capsys, "list").splitlines()
    assert first.startswith("  1  always allow commands that begin with `git status` everywhere  (")
    assert second.startswith("  2  always reject editing src/** everywhere, for demo  (")


def test_an_old_rule_that_is_not_used_is_marked_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT.evolve(agent="launch.py"))
    assert main(["permissions", "list"]) == 0
    out, err = capsys.readouterr()
    assert "for launch.py" in out
    assert "unused: its agent cannot be identified" in out
    assert "is no longer used: several commands start launch.py" in err


def test_a_rule_is_revoked_by_its_number_or_id(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    known = RuleStore().add(EDIT)
    assert (
        said(capsys, "revoke", "1")
        == "Forgotten: always allow commands that begin with `git status` everywhere.\n"
    )
    assert "editing src/**" in said(capsys, "revoke", known.id)
    assert RuleStore().rules() == []


def test_revoking_nothing_fails_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["permissions", "revoke", "7"]) == 1
    assert capsys.readouterr().err.startswith("acp-tui: There is no remembered answer 7")


def test_explain_says_each_policys_answer_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    lines = said(capsys, "explain", "execute", "git status --short").splitlines()
    assert lines[0] == "Asked:  run `git status --short`"
    assert [line.split()[:2] for line in lines[1:6]] == [
        ["deny:", "reject"],
        ["read-only:", "reject"],
        ["ask:", "allow"],
        ["accept-edits:", "allow"],
        ["yolo:", "allow"],
    ]
    assert 'allowed by rule "always allow commands that begin with `git status` everywhere"' in lines[3]


def test_explain_says_why_a_command_is_not_matched(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    text = said(capsys, "explain", "execute", "git status; ls", "--policy", "ask")
    assert "it joins commands with `;`" in text
    assert text.splitlines()[-1].split()[:2] == ["ask:", "ask"]


def test_explain_judges_paths_in_the_given_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "more").mkdir()
    told = ("--policy", "accept-edits", "--cwd", str(tmp_path / "project"))
    path = str(tmp_path / "more" / "a")
    assert "is outside the workspace" in said(capsys, "explain", "edit", path, *told)
    assert 'allowed by policy "accept-edits"' in said(
        capsys, "explain", "edit", path, *told, "--add-dir", str(tmp_path / "more")
    )
    assert "may contain passwords" in said(capsys, "explain", "read", ".env", *told)


def test_explain_takes_rules_of_a_run_and_an_agent(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(EDIT)
    told = ("explain", "edit", "src/a", "--policy", "yolo")
    assert "allow" in said(capsys, *told).splitlines()[1].split()
    assert "reject" in said(capsys, *told, "--agent", "demo").splitlines()[1].split()
    assert "reject" in said(capsys, *told, "--reject", "edit").splitlines()[1].split()
    assert "`t` of the MCP server s" in said(
        capsys, "explain", "mcp", "s/t", "--policy", "deny", "--allow", "mcp:s/t"
    )
    assert "fetch" in said(capsys, "explain", "fetch")
    assert "search" in said(capsys, "explain", "search")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("explain", "execute"), "name the command"),
        (("explain", "edit"), "name the file"),
        (("explain", "mcp", "server"), "name the tool"),
        (("explain", "edit", "x", "--allow", "dance"), "'dance' is no kind of request"),
        (("explain", "edit", "x", "--cwd", "/no/such/folder"), "does not exist"),
    ],
)
def test_a_question_that_says_too_little_is_refused(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["permissions", *words]) == 2
    assert why in capsys.readouterr().err


def test_a_corrupt_memory_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "state").mkdir(parents=True)
    (home / "state" / "permissions.json").write_text("{")
    assert main(["permissions"]) == 0
    assert "could not be understood; the file is now" in capsys.readouterr().err


def test_it_needs_neither_the_sdk_nor_the_screen() -> None:
    code = (
        "import sys; from acp_tui.cli import main; main(['permissions', 'explain', 'execute', 'ls']);"
        "sys.exit(str({'acp', 'textual', 'rich', 'pydantic', 'asyncio'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "\n")
