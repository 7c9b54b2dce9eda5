"""Requests that describe an edit by a patch, and requests whose files are known only from the raw input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.validators import POLICIES
from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.subject_reader import subject_of_call, subject_of_mcp_call
from acp_tui.protocol.translator import Fold
from acp_tui.session.state import Diff, ToolCall
from tests.support.permissions import PLACE, call_of, subject_of
from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from acp_tui.permissions.subject import Subject

CLINE = "*** Begin Patch\n*** Update File: {}\n@@\n-alpha\n+omega\n*** End Patch"


def patch(path: str) -> str:
    return CLINE.format(path)


def unified(path: str) -> str:
    return f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"


def other(raw_input: Any, kind: str = "other", **fields: Any) -> Subject:
    return subject_of({"kind": kind, "title": "apply_patch", "rawInput": raw_input, **fields})


def answers(subject: Subject) -> list[str]:
    return [decide(subject, policy=policy).answer for policy in POLICIES]


def asked_call(name: str) -> ToolCall:
    """Return the patching call of a recording, as it was when the agent asked for permission."""
    session = Fold()
    for record in records(next(path for path in WIRELOGS if path.stem == name)):
        session.apply(record)
        for request in session.session.permissions.values():
            if "Begin Patch" in str(session.session.tool_calls[request.call_id].raw_input):
                return session.session.tool_calls[request.call_id]
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "path", "concern"),
    [
        ("cline-patch", "/ws/other.txt", "/ws/other.txt is outside the workspace"),
        ("cline-patch-outside", "/ws/project/.git/hooks/pre-commit", ".git/hooks/pre-commit configures git"),
    ],
)
def test_a_recorded_patch_is_an_edit_with_a_diff_that_is_asked_about(
    name: str, path: str, concern: str
) -> None:
    call = asked_call(name)
    subject = subject_of_call(call, PLACE)
    assert (subject.kind, subject.paths, subject.certain) == ("edit", [path], True)
    assert concern in " ".join(subject.concerns)
    assert answers(subject) == ["reject", "reject", "ask", "ask", "ask"]
    assert call.content == [Diff(path, "alpha\n", "omega\n", from_input=True)]


@pytest.mark.parametrize(
    "raw_input",
    [
        {"input": patch("src/a.py")},
        {"patch": unified("a/src/a.py").replace("+++ a/", "+++ b/")},
        {"tool": {"args": [{"diff": unified("src/a.py")}]}},
        json.dumps({"input": patch("src/a.py")}),
        patch("src/a.py"),
        {"src/a.py": "@@ -1 +1 @@\n-a\n+b\n"},
        {"path": "src/a.py", "diff": "@@ -1 +1 @@\n-a\n+b\n", "explanation": "Rename it"},
    ],
)
def test_a_patch_anywhere_in_the_raw_input_is_an_edit(raw_input: Any) -> None:
    subject = other(raw_input)
    assert (subject.kind, subject.paths) == ("edit", ["/ws/project/src/a.py"])
    assert answers(subject) == ["reject", "reject", "ask", "allow", "allow"]


@pytest.mark.parametrize("kind", ["read", "search", "think", "edit"])
def test_a_patch_is_an_edit_even_if_the_agent_says_that_it_reads(kind: str) -> None:
    assert other({"input": patch("a")}, kind).kind == "edit"


@pytest.mark.parametrize(
    ("marks", "kind", "paths"),
    [
        ("*** Delete File: a", "delete", ["a"]),
        ("*** Update File: a\n*** Move to: b\n@@\n-x\n+y", "move", ["a", "b"]),
        ("*** Add File: a\n+x\n*** Delete File: b", "delete", ["a", "b"]),
        ("*** Add File: a\n+x", "edit", ["a"]),
    ],
)
def test_a_patch_that_deletes_or_moves_files_is_no_mere_edit(marks: str, kind: str, paths: list[str]) -> None:
    subject = other({"input": f"*** Begin Patch\n{marks}\n*** End Patch"})
    assert (subject.kind, subject.paths) == (kind, [f"/ws/project/{path}" for path in paths])
    rejects = parse_spec("edit:**", "reject")
    assert decide(subject, policy="yolo", rules=[rejects], project="/ws/project").answer == "reject"


@pytest.mark.parametrize(
    ("kind", "raw_input"),
    [
        ("fetch", {"url": "https://example.com", "body": patch("a")}),
        ("other", {"to": "me@example.com", "body": patch("a")}),
        ("other", {"text": f"What do you think of this?\n{patch('a')}"}),
        ("switch_mode", {"plan": patch("a")}),
    ],
)
def test_a_patch_within_another_request_makes_no_policy_more_lenient(kind: str, raw_input: Any) -> None:
    subject = other(raw_input, kind)
    assert subject.kind == kind
    assert answers(subject) == ["reject", "reject", "ask", "ask", "allow"]
    edits = parse_spec("edit:a", "reject")
    assert decide(subject, policy="yolo", rules=[edits], project="/ws/project").answer == "reject"


def test_a_patch_in_the_arguments_of_an_mcp_tool_stays_a_call_of_the_tool() -> None:
    subject = subject_of_mcp_call("forge", "comment", {"body": patch("a")}, PLACE)
    assert subject.kind == "mcp"
    assert answers(subject) == ["reject", "reject", "ask", "ask", "allow"]
    outside = subject_of_mcp_call("forge", "apply", {"patch": patch("/etc/hosts")}, PLACE)
    assert answers(outside)[-1] == "ask"


def test_a_patch_in_a_command_counts_with_the_command() -> None:
    raw_input = {"command": ["apply_patch", patch("/etc/hosts")]}
    subject = other(raw_input, "execute")
    assert subject.kind == "execute"
    assert subject.outside == ["/etc/hosts"]
    assert decide(subject, policy="yolo").answer == "ask"


def test_the_text_of_a_file_that_contains_a_patch_is_no_patch() -> None:
    subject = other({"file_path": "notes.md", "content": patch("/etc/hosts")}, "edit")
    assert (subject.paths, subject.certain) == (["/ws/project/notes.md"], True)
    call = call_of({"kind": "edit", "rawInput": {"file_path": "notes.md", "content": patch("x")}})
    assert call.content == []


def test_a_patch_that_contradicts_the_diff_makes_the_request_unclear() -> None:
    diff = {"type": "diff", "path": "/ws/project/a", "oldText": "x", "newText": "y"}
    subject = other({"input": patch("b")}, "edit", content=[diff])
    assert set(subject.paths) == {"/ws/project/a", "/ws/project/b"}
    assert subject.doubt == "it names different files in different places"


def test_copilots_header_without_the_leading_slash_is_the_same_file() -> None:
    raw_input = {
        "fileName": "/ws/project/a",
        "diff": "--- a/ws/project/a\n+++ b/ws/project/a\n@@ -1 +1 @@\n-a\n+b\n",
    }
    subject = other(raw_input, "edit")
    assert (subject.paths, subject.certain) == (["/ws/project/a"], True)


def test_a_patch_with_too_many_files_is_unclear() -> None:
    subject = other({"input": "\n".join(f"*** Delete File: f{n}" for n in range(500))})
    assert subject.doubt == "its patches name too many files"


# --------------------------------------------------------------------------- unknown requests


@pytest.mark.parametrize("kind", ["other", "think", "fetch", "switch_mode", "teleport"])
@pytest.mark.parametrize(
    ("raw_input", "concern"),
    [
        ({"target": "/etc/passwd"}, "its raw input names /etc/passwd, which is outside the workspace"),
        ({"a": {"b": ["x", "/ws/other/file.txt"]}}, "/ws/other/file.txt, which is outside"),
        ({"uri": "file:///etc/passwd"}, "/etc/passwd, which is outside"),
        ({"where": "~/notes.txt"}, "~/notes.txt, which is outside"),
        ({"where": "$HOME/notes.txt"}, "~/notes.txt, which is outside"),
        ({"where": "../other"}, "../other, which is outside"),
        ({"where": "away/passwd"}, "away/passwd, which is outside"),
        ({"name": ".env"}, ".env, which may contain passwords"),
        ({"name": ".git/hooks/pre-commit"}, ".git/hooks/pre-commit, which configures git"),
        ({"/etc/passwd": {}}, "/etc/passwd, which is outside"),
        ({"input": "overwrite '/etc/passwd', please"}, "/etc/passwd, which is outside"),
        ({"input": "write=.env;x"}, ".env, which may contain passwords"),
        ("delete /etc/passwd", "/etc/passwd, which is outside"),
        ('{"target": "/etc/passwd"}', "/etc/passwd, which is outside"),
    ],
)
def test_a_request_of_any_kind_that_names_a_file_to_ask_about_is_asked(
    kind: str, raw_input: Any, concern: str
) -> None:
    subject = other(raw_input, kind)
    assert concern in " ".join(subject.concerns)
    assert answers(subject) == ["reject", "reject", "ask", "ask", "ask"]
    everything = parse_spec(subject.kind, "allow")
    assert decide(subject, policy="ask", run_rules=[everything]).answer == "ask"


@pytest.mark.parametrize(
    "raw_input",
    [
        {"path": "/ws/project/src/a.py", "dir": "/ws/more/x", "relative": "src/a.py"},
        {"url": "https://example.com/etc/passwd", "method": "GET"},
        {"skill": "/review", "version": "~1.2.3", "ref": "origin/HEAD", "head": "main"},
        {"prompt": "Look at /api/users and and/or src/app.py; process.env.X is set, 3/4 done."},
        {"pattern": "/users/:id", "todos": [{"content": "Write a test", "status": "pending"}]},
        {"plan": "# Plan\n1. Change `src/app.py`\n2. Run the tests (see https://x.org/tmp/y)"},
        {"code": "const a = b / c; // x\nreturn a/2"},
        {},
        None,
    ],
)
def test_ordinary_raw_inputs_are_allowed_as_before(raw_input: Any) -> None:
    assert other(raw_input).concerns == []
    assert answers(other(raw_input))[-1] == "allow"


def test_a_rule_for_an_mcp_tool_covers_all_its_arguments() -> None:
    subject = subject_of_mcp_call("files", "read", {"path": "/etc/hosts"}, PLACE)
    assert answers(subject) == ["reject", "reject", "ask", "ask", "ask"]
    rule = parse_spec("mcp:files/read", "allow")
    assert decide(subject, policy="ask", run_rules=[rule]).answer == "allow"


def test_an_edit_that_also_names_another_file_is_asked_about() -> None:
    edit = {"path": "a.txt", "new_string": "/usr/local", "old_string": "/usr", "encoding": "utf-8"}
    assert answers(other(edit, "edit"))[-1] == "allow"
    assert answers(other({**edit, "backup": "/etc/cron.d/x"}, "edit"))[-1] == "ask"
    assert answers(other({"pattern": "/etc/.*", "path": "src"}, "search"))[-1] == "allow"


def test_a_raw_input_of_any_size_is_checked_or_asked_about() -> None:
    deep: Any = "/etc/passwd"
    for _ in range(60):
        deep = [deep]
    assert answers(other({"x": deep}))[-1] == "ask"
    assert answers(other({"x": ["y"] * 50_000}))[-1] == "ask"
    assert answers(other({"x": "word " * 200_000}))[-1] == "allow"
