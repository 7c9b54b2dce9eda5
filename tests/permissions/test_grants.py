"""Which client requests are covered by a permission that was just given, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.permissions.decision import Grants, covers
from acp_tui.permissions.subject_reader import (
    subject_of_command,
    subject_of_mcp_call,
    subject_of_read,
    subject_of_write,
)
from tests.support.permission_frames import CLAUDE_EDIT, KIMI_BASH, KIMI_ENVIRONMENT, KIMI_TERMINAL
from tests.support.permissions import PLACE, PROJECT, call_of, command, file, subject_of, terminal

if TYPE_CHECKING:
    from acp_tui.permissions.subject import Subject

README, NOTES = f"{PROJECT}/README.md", f"{PROJECT}/NOTES.md"
KIMI_CLI_SHELL: list[dict[str, Any]] = [
    {
        "sessionUpdate": "tool_call_update",
        "status": "in_progress",
        "title": "Shell: touch one",
        "content": [{"type": "content", "content": {"type": "text", "text": '{"command": "touch one"}'}}],
    },
    {
        "title": "Shell: touch one",
        "content": [
            {
                "type": "content",
                "content": {
                    "type": "text",
                    "text": "Requesting approval to perform: Run command `touch one`",
                },
            }
        ],
    },
]


def edit(**contents: str) -> Subject:
    """Return a permission request for edits, with the resulting file contents."""
    paths = {name: f"{PROJECT}/{name}.md" for name in contents}
    diffs = [{"type": "diff", "path": path, "oldText": "a", "newText": "b"} for path in paths.values()]
    texts = tuple((paths[name], text) for name, text in contents.items())
    return subject_of({"kind": "edit", "content": diffs}).evolve(contents=texts)


def write(path: str, content: str) -> Subject:
    return subject_of_write(path, inside=True, content=content)


@pytest.mark.parametrize("frames", [KIMI_BASH, KIMI_CLI_SHELL], ids=["with a kind", "without a kind"])
def test_the_terminal_of_an_allowed_command_is_covered(frames: list[dict[str, Any]]) -> None:
    allowed = subject_of(*frames)
    assert covers(allowed, terminal(*KIMI_TERMINAL, env=KIMI_ENVIRONMENT))
    assert covers(allowed, terminal("touch", "one"))
    assert covers(allowed, subject_of_command("touch one", context=PLACE))


def test_a_composite_command_is_covered_by_itself() -> None:
    line = "echo one; sleep 1; echo two"
    assert covers(command(line), terminal("/bin/bash", "-c", f"cd '/ws/project' && {line}"))
    assert not covers(command(line), terminal("/bin/bash", "-c", f"{line}; rm x"))


@pytest.mark.parametrize(
    "other",
    [
        terminal("touch", "two"),
        terminal("touch", "one", "two"),
        terminal("touch", "one", cwd="/etc"),
        terminal("touch", "one", cwd="/ws/project/src"),
        terminal("touch", "one", env={"LD_PRELOAD": "x"}),
        terminal("touch", "one", env={"CC": "evil.sh"}),
        command("touch one"),
        write(f"{PROJECT}/one", ""),
    ],
)
def test_other_requests_are_not_covered(other: Subject) -> None:
    assert not covers(subject_of(*KIMI_BASH), other)


def test_a_command_is_covered_only_with_the_allowed_variables() -> None:
    allowed = command("make", env={"CC": "gcc"})
    assert covers(allowed, terminal("make", env={"CC": "gcc", "TERM": "dumb"}))
    assert not covers(allowed, terminal("make", env={"CC": "evil.sh"}))
    assert not covers(allowed, terminal("make"))


def test_a_command_in_a_replaced_folder_is_not_covered() -> None:
    def subject(inode: int, *, served: bool) -> Subject:
        context = replace(PLACE, identify=lambda _: (1, inode))
        return subject_of_command("make", context=context, served=served)

    assert covers(subject(1, served=False), subject(1, served=True))
    assert not covers(subject(1, served=False), subject(2, served=True))


@pytest.mark.parametrize("written", ["hello\n", "hello", "hello\r\n"])
def test_a_write_of_the_allowed_content_is_covered(written: str) -> None:
    assert covers(edit(README="hello\n"), write(README, written))


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (README, "something else"),
        (README, "hello\n\n"),
        (README, ""),
        (NOTES, "hello\n"),
    ],
)
def test_a_write_of_other_content_is_not_covered(path: str, written: str) -> None:
    assert not covers(edit(README="hello\n"), write(path, written))


def test_a_control_character_shown_as_a_symbol_is_not_covered() -> None:
    assert not covers(edit(README="a␛b"), write(README, "a\x1bb"))


def test_an_edit_without_known_contents_covers_no_write() -> None:
    assert not covers(subject_of(*CLAUDE_EDIT), write(README, "hello"))


def test_a_permission_to_read_covers_no_write() -> None:
    env = f"{PROJECT}/.env"
    assert covers(file(".env", "read"), subject_of_read(env, inside=True, sensitive="may hold"))
    assert not covers(file(".env", "read"), write(env, ""))


def test_an_uncertain_permission_covers_nothing() -> None:
    assert not covers(subject_of({"kind": "execute", "title": "touch one"}), terminal("touch", "one"))


def test_a_grant_is_used_once() -> None:
    grants = Grants()
    grants.add(subject_of(*KIMI_BASH), None)
    assert grants.use(terminal("touch", "one"))
    assert not grants.use(terminal("touch", "one"))


def test_a_grant_for_several_files_is_used_once_per_file() -> None:
    grants = Grants()
    grants.add(edit(README="one", NOTES="two"), None)
    assert [grants.use(write(README, "one")) for _ in range(2)] == [True, False]
    assert [grants.use(write(NOTES, "two")) for _ in range(2)] == [True, False]


def test_grants_end_with_their_call_or_turn() -> None:
    grants, call = Grants(), call_of(*KIMI_BASH)
    grants.add(subject_of(*KIMI_BASH), call)
    call.status = "completed"
    assert not grants.use(terminal("touch", "one"))
    grants.add(subject_of(*KIMI_BASH), None)
    grants.clear()
    assert not grants.use(terminal("touch", "one"))


@pytest.mark.parametrize(
    ("frame", "covered"),
    [
        ({"name": "mcp__docs__find", "rawInput": {"text": "x", "all": True}}, True),
        ({"_meta": {"toolName": "mcp__docs__find"}, "rawInput": {"all": True, "text": "x"}}, True),
        (
            {
                "name": "mcp__docs__find",
                "rawInput": {"server": "docs", "tool": "find", "arguments": {"text": "x", "all": True}},
            },
            True,
        ),
        ({"name": "mcp__docs__find", "kind": "read", "rawInput": {"text": "x", "all": True}}, True),
        ({"name": "mcp__docs__find", "rawInput": {"text": "y", "all": True}}, False),
        ({"name": "mcp__docs__find"}, False),  # Kimi does not say the arguments
        ({"name": "mcp__docs__delete", "rawInput": {"text": "x", "all": True}}, False),
        ({"name": "mcp__other__find", "rawInput": {"text": "x", "all": True}}, False),
        ({"rawInput": {"text": "x", "all": True}}, False),
    ],
)
def test_the_call_of_an_allowed_mcp_tool_is_covered_once(frame: dict[str, Any], covered: bool) -> None:
    grants = Grants()
    grants.add(subject_of({"kind": "other", **frame}), None)
    asked = subject_of_mcp_call("docs", "find", {"text": "x", "all": True}, PLACE)
    assert not grants.use(asked.evolve(always_ask="it has changed"))
    assert grants.use(asked) is covered
    assert not grants.use(asked)
