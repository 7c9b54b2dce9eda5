"""Permissions under `exec`: policies, rules and the workspace, in real runs."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cli import answers, execute, execute_json, run, script, steps

if TYPE_CHECKING:
    from pathlib import Path

POLICIES = ("deny", "read-only", "ask", "accept-edits", "yolo")


def permission(kind: str, **more: Any) -> list[Any]:
    return ["permission", {"toolCallId": f"call-{kind}", "title": kind, "kind": kind, **more}]


# Each request, and the policies that allow it.
TABLE: dict[str, tuple[set[str], Any]] = {
    "read inside": (set(POLICIES), ["ask", "fs/read_text_file", {"path": "{cwd}/notes.txt"}]),
    "read outside": (set(), ["ask", "fs/read_text_file", {"path": "{outside}/other.txt"}]),
    "read sensitive": (set(), ["ask", "fs/read_text_file", {"path": "{cwd}/.env"}]),
    "permission to read": (
        {"read-only", "accept-edits", "yolo"},
        permission("read", locations=[{"path": "{cwd}/notes.txt"}]),
    ),
    "permission to edit": (
        {"accept-edits", "yolo"},
        permission("edit", locations=[{"path": "{cwd}/notes.txt"}]),
    ),
    "permission to edit outside": (set(), permission("edit", locations=[{"path": "{outside}/other.txt"}])),
    "write inside": (
        {"accept-edits", "yolo"},
        ["ask", "fs/write_text_file", {"path": "{cwd}/new/file.txt", "content": "new"}],
    ),
    "write outside": (set(), ["ask", "fs/write_text_file", {"path": "{outside}/new.txt", "content": "new"}]),
    "permission to run": ({"yolo"}, permission("execute", rawInput={"command": "make test"})),
    "terminal": ({"yolo"}, ["ask", "terminal/create", {"command": "true"}]),
    "fetch": ({"yolo"}, permission("fetch", rawInput={"url": "https://example.com"})),
    "unknown": ({"yolo"}, permission("teleport")),
    "dangerous": (set(), permission("execute", rawInput={"command": "rm -rf /"})),
}


def allowed(answer: Any) -> bool:
    if "outcome" in answer:
        outcome = answer["outcome"]
        return outcome["outcome"] == "selected" and str(outcome["optionId"]).startswith("allow")
    return "code" not in answer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project folder, and a folder outside of it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("notes\n")
    (folder / ".env").write_text("A=b\n")
    (tmp_path / "other.txt").write_text("other\n")
    return folder


@pytest.mark.parametrize("policy", POLICIES)
def test_each_policy_gives_the_answer_in_the_table(project: Path, policy: str) -> None:
    outside = project.parent
    prompt = steps(*(step for _, step in TABLE.values()))
    prompt = prompt.replace("{cwd}", str(project)).replace("{outside}", str(outside))
    result = execute_json(prompt, "--policy", policy, cwd=project)
    allowed_names = {name for name, answer in zip(TABLE, answers(result), strict=True) if allowed(answer)}
    # The permission covers the same request to the client.
    assert allowed_names == {name for name, (policies, _) in TABLE.items() if policy in policies}
    assert all(decision["why"] for decision in result["permissions"])
    changed = [file["path"] for file in result["changedFiles"]]
    assert changed == ([str(project / "new/file.txt")] if policy in ("accept-edits", "yolo") else [])
    assert not (outside / "new.txt").exists()


def test_the_default_policy_is_deny(project: Path) -> None:
    done = execute(steps(permission("read")), cwd=project)
    assert 'Rejected by policy "deny": read an unspecified file' in done.err


def test_the_command_line_overrides_the_policy_of_the_settings(project: Path, home: Path) -> None:
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('policy = "yolo"\n')
    prompt = steps(permission("execute", rawInput={"command": "make"}))
    assert allowed(answers(execute_json(prompt, cwd=project))[0])
    assert not allowed(answers(execute_json(prompt, "--policy", "read-only", cwd=project))[0])


def test_rules_of_the_run_apply_under_any_policy(project: Path) -> None:
    prompt = steps(
        permission("execute", rawInput={"command": "make test"}),
        permission("execute", rawInput={"command": "make test && rm x"}),
        permission("edit", locations=[{"path": str(project / "src/a.py")}]),
        permission("edit", locations=[{"path": str(project / "notes.txt")}]),
    )
    rules = ("--allow", "execute:make test", "--allow", "edit:src/**")
    result = execute_json(prompt, *rules, cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [True, False, True, False]
    assert "by rule" in result["permissions"][0]["why"]


def test_reject_rules_take_precedence_over_allow_rules_and_yolo(project: Path) -> None:
    prompt = steps(
        permission("execute", rawInput={"command": "git push --force"}),
        permission("execute", rawInput={"command": "ls; git push"}),
        permission("execute", rawInput={"command": "git status"}),
    )
    rules = ("--allow", "execute:git", "--reject", "execute:git push")
    result = execute_json(prompt, "--policy", "yolo", *rules, cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [False, False, True]


@pytest.mark.parametrize(
    ("policy", "used"), [("deny", False), ("read-only", False), ("ask", True), ("yolo", True)]
)
def test_remembered_allow_rules_apply_under_the_policies_that_ask(
    project: Path, home: Path, policy: str, used: bool
) -> None:
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.permissions.rules import Rule

    rule_store = RuleStore()
    rule_store.add(Rule(decision="allow", kind="execute", scope="everywhere", command=("make",)))
    rule_store.add(Rule(decision="reject", kind="fetch", scope="everywhere"))
    prompt = steps(permission("execute", rawInput={"command": "make all"}), permission("fetch"))
    result = execute_json(prompt, "--policy", policy, cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [used, False]
    assert (result["permissions"][0]["by"] == "rule") == used


def test_a_damaged_rules_file_is_renamed_with_a_notice(project: Path, home: Path) -> None:
    file = home / "state" / "permissions.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    done = execute(steps(permission("fetch")), "--policy", "ask", cwd=project)
    assert done.code == 0
    assert "permissions.json" in done.err
    assert "Traceback" not in done.err


def test_a_permission_covers_the_same_request_once(project: Path) -> None:
    path = str(project / "notes.txt")
    diff = {"type": "diff", "path": path, "oldText": "notes", "newText": "words"}
    meta = {"_meta": {"toolName": "mcp__files__edit"}}  # no rule matches the write
    write = ["ask", "fs/write_text_file", {"path": path, "content": "words\n"}]
    prompt = steps(permission("edit", content=[diff], **meta), write, write)
    result = execute_json(prompt, "--policy", "ask", "--allow", "mcp:files", cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [True, True, False]
    assert [decision["by"] for decision in result["permissions"]] == ["rule", "covered", "policy"]


OPENHANDS_OPTIONS = [
    {"kind": "allow_once", "name": "Yes, proceed", "optionId": "accept"},
    {"kind": "reject_once", "name": "Reject", "optionId": "reject"},
    {"kind": "allow_always", "name": "Always proceed (don't ask again)", "optionId": "always_proceed"},
    {"kind": "allow_once", "name": "Auto-confirm LOW/MEDIUM risk", "optionId": "risk_based"},
]


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        ("once_option = 'accept'", {"outcome": "selected", "optionId": "accept"}),
        ("", {"outcome": "selected", "optionId": "reject"}),
        ("once_option = 'always_proceed'", {"outcome": "selected", "optionId": "reject"}),
    ],
    ids=["named", "not named", "names an always"],
)
def test_the_named_one_of_several_options_allows_once(
    project: Path, home: Path, entry: str, answer: dict[str, Any]
) -> None:
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[agents.mine]\ncommand = {json.dumps(script())}\n{entry}\n")
    call = {"toolCallId": "confirmation", "title": "Confirm Agent Actions", "kind": "other"}
    prompt = steps(["ask", "session/request_permission", {"toolCall": call, "options": OPENHANDS_OPTIONS}])
    result = run("exec", "mine", prompt, "--policy", "yolo", "--output", "json", cwd=project).result
    assert answers(result)[0]["outcome"] == answer
    named = ', with the agent\'s option "Yes, proceed"' in result["permissions"][0]["why"]
    assert named == (answer["optionId"] == "accept")


def test_yolo_does_not_allow_a_patch_outside_or_of_a_git_hook(project: Path) -> None:
    def apply(path: object) -> list[Any]:
        text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
        return permission("other", toolCallId=str(path), rawInput={"input": text})

    paths = (project / "notes.txt", project.parent / "other.txt", project / ".git/hooks/pre-commit")
    unknown = permission("other", toolCallId="x", rawInput={"target": str(project.parent / "other.txt")})
    result = execute_json(steps(*map(apply, paths), unknown), "--policy", "yolo", cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [True, False, False, False]
    assert "other.txt is outside the workspace" in result["permissions"][1]["why"]
    assert ".git/hooks/pre-commit configures git" in result["permissions"][2]["why"]
    assert "its raw input names" in result["permissions"][3]["why"]


@pytest.mark.parametrize("name", ["Makefile", "conftest.py", ".local/bin/tool"])
def test_files_that_run_later_are_read_but_not_written_without_a_question(project: Path, name: str) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("all:\n")
    prompt = steps(
        ["ask", "fs/read_text_file", {"path": str(path)}],
        permission("read", toolCallId="r", locations=[{"path": str(path)}]),
        ["ask", "fs/write_text_file", {"path": str(path), "content": "all: evil\n"}],
        permission("edit", toolCallId="e", locations=[{"path": str(path)}]),
    )
    reading = name != ".local/bin/tool"
    result = execute_json(prompt, "--policy", "accept-edits", cwd=project)
    assert [allowed(answer) for answer in answers(result)] == [reading, reading, False, False]
    assert path.read_text() == "all:\n"


def test_environment_variables_prevent_a_rule_from_matching(project: Path) -> None:
    def create(**env: str) -> list[Any]:
        pairs = [{"name": name, "value": value} for name, value in env.items()]
        return ["ask", "terminal/create", {"command": "true", "env": pairs}]

    done = execute(
        steps(create(CI="1"), create(CC="evil.sh")),
        "--allow", "execute:true", "--policy", "ask", cwd=project,
    )  # fmt: skip
    allowed_line, rejected_line = done.err.lower().splitlines()
    assert allowed_line == "· allowed: run `true` — by rule: `true …` · this run · any agent"
    assert "rejected: run `true` with cc=evil.sh (" in rejected_line


def test_all_kinds_of_file_changes_are_listed(project: Path) -> None:
    (project / "gone.txt").write_text("here\n")
    (project / "mode.sh").write_text("#!/bin/sh\n")
    remove = "import os; os.remove('gone.txt'); os.chmod('mode.sh', 0o755); open('made.txt', 'w').write('x')"
    prompt = steps(
        ["write_file", str(project / "notes.txt"), "written by the agent\n"],
        ["ask", "fs/write_text_file", {"path": str(project / "sub/served.txt"), "content": "served\n"}],
        ["ask", "terminal/create", {"command": sys.executable, "args": ["-c", remove]}],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
    )
    result = execute_json(prompt, "--policy", "yolo", cwd=project)
    names = {file["path"].removeprefix(f"{project}/"): file["change"] for file in result["changedFiles"]}
    assert names == {
        "notes.txt": "modified",
        "gone.txt": "deleted",
        "made.txt": "added",
        "mode.sh": "mode",
        "sub/served.txt": "added",
    }
    assert all(file["canBeReverted"] for file in result["changedFiles"])


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_a_file_changed_back_is_not_listed(project: Path) -> None:
    prompt = steps(
        ["write_file", str(project / "notes.txt"), "other\n"],
        ["write_file", str(project / "notes.txt"), "notes\n"],
    )
    assert execute_json(prompt, cwd=project)["changedFiles"] == []


def test_files_are_read_through_the_client(project: Path) -> None:
    (project / "lines.txt").write_text("1\n2\n3\n4\n")
    path = str(project / "lines.txt")
    prompt = steps(
        ["ask", "fs/read_text_file", {"path": path, "line": 2, "limit": 2}],
        ["ask", "fs/read_text_file", {"path": str(project / "none.txt")}],
        ["ask", "fs/read_text_file", {"path": "notes.txt"}],
        ["ask", "fs/read_text_file", {"path": path, "line": "two"}],
        ["ask", "no/such_method", {}],
    )
    part, missing, relative, odd, unknown = answers(execute_json(prompt, cwd=project))
    assert part == {"content": "2\n3\n"}
    assert missing["code"] == -32002
    assert [odd["code"], unknown["code"]] == [-32602, -32601]
    assert "absolute" in relative["message"]


def test_the_agent_runs_a_command_in_a_terminal(project: Path) -> None:
    prompt = steps(
        ["ask", "terminal/create", {"command": "echo hello; exit 3"}],
        ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}],
        ["ask", "terminal/output", {"terminalId": "$terminal"}],
        ["ask", "terminal/release", {"terminalId": "$terminal"}],
        ["ask", "terminal/output", {"terminalId": "$terminal"}],
    )
    _, exit_status, output, released, gone = answers(execute_json(prompt, "--policy", "yolo", cwd=project))
    assert exit_status == {"exitCode": 3, "signal": None}
    assert output == {"output": "hello\n", "truncated": False, "exitStatus": exit_status}
    assert released == {}
    assert gone["code"] == -32002


def test_a_request_for_another_session_is_refused(project: Path) -> None:
    other = ["ask", "fs/read_text_file", {"path": str(project / "notes.txt"), "sessionId": "another"}]
    [answer] = answers(execute_json(steps(other), cwd=project))
    assert "no session 'another' here" in answer["message"]


def test_exec_does_not_offer_elicitation_and_declines_it(project: Path) -> None:
    form = {"mode": "form", "message": "Which\x1b colour?", "requestedSchema": {"type": "object"}}
    prompt = steps(
        ["report_params", "initialize"],
        ["ask", "elicitation/create", form],
        ["ask", "elicitation/create", {"mode": "_poll", "message": "?"}],
    )
    executed = execute(prompt, "--output", "json", cwd=project)
    initialize, answer, unknown = answers(executed.result)
    assert "elicitation" not in initialize["clientCapabilities"]
    assert answer == {"action": "decline"}
    assert unknown["code"] == -32602
    assert executed.err.count("question declined") == 1
    assert '`acp-tui exec` cannot ask you: "Which␛ colour?"' in executed.err


def test_policy_deny_rejects_the_demos_requests(home: Path) -> None:
    result = run("exec", "demo", "tour", "--output", "json").result
    assert [decision["outcome"] for decision in result["permissions"]].count("allowed") == 0
    assert result["changedFiles"] == []
    assert json.dumps(result)
