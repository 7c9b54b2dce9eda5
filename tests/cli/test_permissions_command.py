"""`acp-tui permissions`: list, revoke and explain."""

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


def output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["permissions", *words]) == 0
    return capsys.readouterr().out


def test_the_list_numbers_remembered_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys) == output(capsys, "list") == "No remembered answers.\n"
    for rule in (GIT, EDIT):
        RuleStore().add(rule)
    first, second = output(capsys, "list").splitlines()
    assert first.startswith("  1  always allow commands that begin with `git status` everywhere  (")
    assert second.startswith("  2  always reject editing src/** everywhere, for demo  (")


def test_an_unused_rule_is_marked_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
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
        output(capsys, "revoke", "1")
        == "Forgotten: always allow commands that begin with `git status` everywhere.\n"
    )
    assert "editing src/**" in output(capsys, "revoke", known.id)
    assert RuleStore().rules() == []


def test_revoking_an_unknown_rule_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["permissions", "revoke", "7"]) == 1
    assert capsys.readouterr().err.startswith("acp-tui: There is no rule 7")


def test_explain_shows_each_policys_answer_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    lines = output(capsys, "explain", "execute", "git status --short").splitlines()
    assert lines[0] == "Request: run `git status --short`"
    assert [line.split()[:2] for line in lines[1:6]] == [
        ["deny:", "reject"],
        ["read-only:", "reject"],
        ["ask:", "allow"],
        ["accept-edits:", "allow"],
        ["yolo:", "allow"],
    ]
    assert 'Allowed by rule "always allow commands that begin with `git status` everywhere"' in lines[3]


def test_explain_shows_why_a_rule_does_not_match(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    text = output(capsys, "explain", "execute", "git status; ls $X", "--policy", "ask")
    assert "no rule for its words can match: it contains an expansion (`$`)" in text
    assert text.splitlines()[2].split()[:2] == ["ask:", "ask"]


def test_explain_shows_the_parts_of_a_composite_command(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    text = output(capsys, "explain", "execute", "git status | head > src/x")
    assert 'ask:           ask     Policy "ask": commands need your OK; new: `head`, edit src/x' in text
    assert text.partition('Its parts under policy "ask":\n')[2].splitlines()[:6] == [
        "  git status",
        " " * 15 + 'allow   Allowed by rule "always allow commands that begin with `git status` everywhere"',
        "  head",
        "               ask     New",
        "  edit src/x",
        "               ask     New",
    ]


def test_explain_uses_the_given_workspace_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "more").mkdir()
    options = ("--policy", "accept-edits", "--cwd", str(tmp_path / "project"))
    path = str(tmp_path / "more" / "a")
    assert "is outside the workspace" in output(capsys, "explain", "edit", path, *options)
    assert 'Allowed by policy "accept-edits"' in output(
        capsys, "explain", "edit", path, *options, "--add-dir", str(tmp_path / "more")
    )
    assert "may contain passwords" in output(capsys, "explain", "read", ".env", *options)


def test_explain_accepts_rules_and_an_agent(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(EDIT)
    options = ("explain", "edit", "src/a", "--policy", "yolo")
    assert "allow" in output(capsys, *options).splitlines()[1].split()
    assert "reject" in output(capsys, *options, "--agent", "demo").splitlines()[1].split()
    assert "reject" in output(capsys, *options, "--reject", "edit").splitlines()[1].split()
    assert "`t` of the MCP server s" in output(
        capsys, "explain", "mcp", "s/t", "--policy", "deny", "--allow", "mcp:s/t"
    )
    assert "fetch" in output(capsys, "explain", "fetch")
    assert "search" in output(capsys, "explain", "search")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("explain", "execute"), "Name the command"),
        (("explain", "edit"), "Name the file"),
        (("explain", "mcp", "server"), "Name the tool"),
        (("explain", "edit", "x", "--allow", "dance"), '"dance" is not a kind of request'),
        (("explain", "edit", "x", "--cwd", "/no/such/folder"), "does not exist"),
    ],
)
def test_explain_requires_a_subject(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["permissions", *words]) == 2
    assert why in capsys.readouterr().err


def test_a_corrupt_rules_file_is_reported(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "state").mkdir(parents=True)
    (home / "state" / "permissions.json").write_text("{")
    assert main(["permissions"]) == 0
    assert "was corrupt; it was renamed to" in capsys.readouterr().err


def test_permissions_loads_neither_the_sdk_nor_textual() -> None:
    code = (
        "import sys; from acp_tui.cli import main; main(['permissions', 'explain', 'execute', 'ls']);"
        "sys.exit(str({'acp', 'textual', 'rich', 'pydantic', 'asyncio'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "\n")
