"""`acp-tui permissions`: list, revoke and explain."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.settings import config_file
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


@pytest.mark.parametrize("time", ["1e400", "NaN", "1e30"])
def test_a_rule_with_an_impossible_time_is_listed(time: str, capsys: pytest.CaptureFixture[str]) -> None:
    rule = RuleStore().add(GIT.evolve(created=1.0))
    file = RuleStore().path
    file.write_text(file.read_text().replace("1.0", time))
    matches = f'{{"version": 1, "matches": {{"{rule.id}": [1, {time}]}}}}'
    file.with_name("permission-matches.json").write_text(matches)
    assert "1970-01-01, no match yet)" in output(capsys, "list")


def test_an_unused_rule_is_marked_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT.evolve(agent="launch.py"))
    assert main(["permissions", "list"]) == 0
    out, err = capsys.readouterr()
    assert "for launch.py" in out
    assert "no longer used: its agent cannot be identified" in out
    assert "is no longer used: acp-tui cannot tell which agent launch.py stands for" in err


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


def listed_rule(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    rules: list[dict[str, Any]] = json.loads(output(capsys, "list", "--json"))["rules"]
    assert len(rules) == 1
    return rules[0]


def test_the_list_shows_how_often_a_rule_has_matched(capsys: pytest.CaptureFixture[str]) -> None:
    store = RuleStore()
    rule = store.add(GIT)
    assert output(capsys, "list").endswith(", no match yet)\n")
    store.matches.add([rule, rule], time.mktime((2026, 11, 22, 9, 5, 0, 0, 0, -1)))
    store.matches.write()
    assert output(capsys, "list").endswith(", 2 matches, last 2026-11-22 09:05)\n")


def test_the_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(output(capsys, "list", "--json")) == {"rules": []}
    store = RuleStore()
    rule = store.add(EDIT.evolve(created=86400.0))
    store.matches.add([rule], 86460.0)
    store.matches.write()
    assert listed_rule(capsys) == {
        "id": rule.id,
        "text": "always reject editing src/** everywhere, for demo",
        "decision": "reject",
        "kind": "edit",
        "command": None,
        "exact": False,
        "path": "src/**",
        "server": None,
        "tool": None,
        "scope": "everywhere",
        "project": None,
        "agent": "demo",
        "agentName": None,
        "agentCommand": None,
        "created": "1970-01-02T00:00:00+00:00",
        "matches": 1,
        "lastMatch": "1970-01-02T00:01:00+00:00",
        "unused": False,
    }


def test_a_revoked_rule_is_restored(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    before = output(capsys, "list")
    output(capsys, "revoke", "1")
    assert (
        output(capsys, "undo") == "Restored: always allow commands that begin with `git status` everywhere.\n"
    )
    assert output(capsys, "list") == before
    assert main(["permissions", "undo"]) == 1
    assert "There is no rule change to undo" in capsys.readouterr().err


def test_edit_without_options_shows_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    rule = RuleStore().add(GIT.evolve(exact=True))
    assert output(capsys, "edit", rule.id).splitlines()[:6] == [
        "always allow exactly `git status` everywhere",
        "",
        "--what 1  `git status` exactly  (now)",
        "--what 2  `git status …`",
        "--what 3  `git …`",
        "--what 4  any command",
    ]
    assert RuleStore().rules() == [rule]


def test_a_rule_is_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = RuleStore().add(GIT.evolve(exact=True))
    text = output(capsys, "edit", "1", "--what", "2", "--project", str(tmp_path), "--agent", "demo")
    assert text == f"Changed: always allow commands that begin with `git status` in {tmp_path}, for demo.\n"
    changed = listed_rule(capsys)
    assert (changed["exact"], changed["project"], changed["agent"]) == (False, str(tmp_path), "demo")
    output(capsys, "edit", "1", "--scope", "everywhere", "--agent", "any")
    assert RuleStore().rules() == [rule.evolve(exact=False)]
    output(capsys, "undo")
    output(capsys, "undo")
    assert RuleStore().rules() == [rule]


def test_the_scope_project_means_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    RuleStore().add(GIT)
    output(capsys, "edit", "1", "--scope", "project")
    assert listed_rule(capsys)["project"] == str(tmp_path)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--what", "9"), "--what takes a number from 1 to 4"),
        (("--project", "/no/such/folder"), "does not exist"),
        (("--scope", "everywhere", "--project", "/"), "cannot be combined"),
        (("--agent", "nobody"), 'There is no agent "nobody"'),
    ],
)
def test_an_edit_that_is_impossible_changes_nothing(
    options: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = RuleStore().add(GIT.evolve(exact=True))
    assert main(["permissions", "edit", "1", *options]) == 2
    assert why in capsys.readouterr().err
    assert RuleStore().rules() == [rule]


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
    assert "no allow rule can match the words of the command, because it contains an expansion (`$`)" in text
    assert text.splitlines()[2].split()[:2] == ["ask:", "ask"]


def test_explain_shows_the_parts_of_a_composite_command(capsys: pytest.CaptureFixture[str]) -> None:
    RuleStore().add(GIT)
    text = output(capsys, "explain", "execute", "git status | head > src/x")
    assert 'ask:           ask     Policy "ask": commands need your OK; new: `head`, edit src/x' in text
    assert text.partition('Decision for each part of the command under policy "ask":\n')[2].splitlines()[
        :6
    ] == [
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


def test_explain_asks_about_what_a_conversation_would_ask_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    RuleStore().add(GIT)
    for name in (".git", "inner/.git"):
        (tmp_path / "project" / name).mkdir(parents=True)
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text('[workspace]\nsensitive = ["*.secret"]\n')
    monkeypatch.chdir(tmp_path / "project")
    text = output(capsys, "explain", "execute", "cd inner && git status", "--policy", "ask")
    assert "inner, which is a separate repository" in text
    assert "workspace.sensitive" in output(capsys, "explain", "read", "a.secret", "--policy", "yolo")


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
