"""Commands and writes match the permission that was given, with real files and processes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.permissions import subject_reader
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.subject_reader import subject_of_call
from tests.support.scripted_conversation import ScriptedUser
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.controller import Answer, Question
    from acp_tui.permissions.subject import Subject
    from tests.controller.conftest import Converse

KIMI_CLI = [
    *(
        [
            "update",
            {"sessionUpdate": "tool_call", "toolCallId": "k", "title": "Shell", "status": "in_progress"},
        ],
    ),
    [
        "update",
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "k",
            "title": "Shell: true",
            "content": [{"type": "content", "content": {"type": "text", "text": '{"command": "true it"}'}}],
        },
    ],
    [
        "permission",
        {
            "toolCallId": "k",
            "title": "Shell: true",
            "content": [
                {"type": "content", "content": {"type": "text", "text": "Requesting approval to perform: it"}}
            ],
        },
    ],
]
"""A request of kimi-cli 1.51: no kind, and the command only in an earlier update (see kimi-cli-shell)."""


def create(command: str, **params: Any) -> list[Any]:
    return ["ask", "terminal/create", {"command": command, **params}]


def write(path: Path, content: str) -> list[Any]:
    return ["ask", "fs/write_text_file", {"path": str(path), "content": content}]


def edit(path: Path, *changes: tuple[str, str], **more: Any) -> list[Any]:
    diffs = [{"type": "diff", "path": str(path), "oldText": old, "newText": new} for old, new in changes]
    return ["permission", {"title": "Edit", "content": diffs, **more}]


async def test_an_allowed_command_without_a_kind_runs_once_without_asking_again(
    converse: Converse,
) -> None:
    user = ScriptedUser("allow_once", "reject_once")
    chat = converse(question_handler=user)
    await chat.open()
    await chat.prompt(*KIMI_CLI, create("true it"), create("true it"))
    assert [question.kind for question in user.asked] == ["permission", "command"]
    assert [question.subject.description for question in user.asked] == ["run `true it`"] * 2


async def test_an_allowed_command_with_other_variables_is_asked_about(converse: Converse) -> None:
    user = ScriptedUser("allow_once", "reject_once")
    chat = converse(question_handler=user)
    await chat.open()
    ask = ["permission", {"title": "make", "kind": "execute", "rawInput": {"command": "true make"}}]
    await chat.prompt(ask, create("true make", env=[{"name": "CC", "value": "evil.sh"}]))
    assert user.asked[1].subject.description == "run `true make` with CC=evil.sh"


@pytest.mark.parametrize("kind", [{"kind": "edit"}, {}], ids=["with a kind", "without a kind"])
async def test_an_allowed_edit_covers_one_write_of_its_content(
    converse: Converse, kind: dict[str, Any]
) -> None:
    user = ScriptedUser("allow_once", "reject_once", "reject_once")
    chat = converse(question_handler=user)
    file = chat.conversation.cwd / "file"
    file.write_text("one\nhelo\ntwo\n")
    await chat.open()
    await chat.prompt(
        edit(file, ("helo", "hello"), **kind), write(file, "evil\n"), write(file, "one\nhello\ntwo\n")
    )
    assert file.read_text() == "one\nhello\ntwo\n"
    await chat.prompt(write(file, "one\nhello\ntwo\n"))
    assert [question.kind for question in user.asked] == ["permission", "write", "write"]
    assert user.asked[1].new_text == "evil\n"


async def test_an_allowed_edit_covers_several_diffs_and_new_files(converse: Converse) -> None:
    user = ScriptedUser("allow_once", "allow_once")
    chat = converse(question_handler=user)
    old, new = chat.conversation.cwd / "old", chat.conversation.cwd / "new"
    old.write_text("a\nb\nc\nd\n")
    await chat.open()
    await chat.prompt(edit(old, ("a\nb", "A\nb"), ("c\nd", "c\nD")), write(old, "A\nb\nc\nD\n"))
    await chat.prompt(edit(new, ("", "first\nsecond"), toolCallId="other"), write(new, "first\nsecond\n"))
    assert [question.kind for question in user.asked] == ["permission", "permission"]
    assert (old.read_text(), new.read_text()) == ("A\nb\nc\nD\n", "first\nsecond\n")


async def test_a_write_over_an_existing_file_called_new_is_asked_about(converse: Converse) -> None:
    user = ScriptedUser("allow_once", "reject_once")
    chat = converse(question_handler=user)
    file = chat.conversation.cwd / "file"
    file.write_text("precious\n")
    await chat.open()
    await chat.prompt(edit(file, ("", "new\n")), write(file, "new\n"))
    assert file.read_text() == "precious\n"


class LinkSwappingUser(ScriptedUser):
    """A user during whose answer a link is replaced."""

    def __init__(self, link: Path, target: Path) -> None:
        super().__init__("allow_once")
        self.link, self.target = link, target

    async def ask(self, question: Question) -> Answer:
        self.link.unlink()
        self.link.symlink_to(self.target)
        return await super().ask(question)


@pytest.mark.parametrize(
    "step",
    [
        lambda project: create("touch", args=["made"], cwd=str(project / "build")),
        lambda project: create("touch made", cwd=str(project / "build")),
        lambda project: create("cd build && touch made", cwd=str(project)),
        lambda project: create("/bin/sh", args=["-c", f"cd '{project}/build' && touch made"]),
        lambda project: create("sh -c 'cd build && touch made'"),
        lambda project: create("./tool", cwd=str(project / "build")),
    ],
    ids=["program", "command line", "cd", "shell", "command line with a shell", "relative program"],
)
async def test_a_command_runs_in_the_folder_that_was_asked_about(
    converse: Converse, tmp_path: Path, step: Any
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    inside = project / "inside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "tool").write_text("#!/bin/sh\ntouch made\n")
        (folder / "tool").chmod(0o755)
    link = project / "build"
    link.symlink_to("inside")
    user = LinkSwappingUser(link, outside)
    chat = converse(question_handler=user)
    await chat.open()
    await chat.prompt(step(project), ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}])
    [question] = user.asked
    assert question.subject.cwd is not None
    assert question.subject.cwd.real == str(inside)
    assert (inside / "made").exists()
    assert not (outside / "made").exists()


async def test_a_cd_to_a_missing_folder_fails_in_the_shell(converse: Converse) -> None:
    chat = converse(policy="yolo")
    await chat.open()
    wait = ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}]
    await chat.prompt(create("cd nowhere && touch made"), wait)
    assert json.loads(chat.said().partition("}")[2])["exitCode"] not in (0, None)
    assert not (chat.conversation.cwd / "made").exists()


async def test_a_command_line_does_not_run_a_file_of_the_same_name(converse: Converse) -> None:
    chat = converse(run_rules=[parse_spec("execute:./tool", "allow")])
    project = chat.conversation.cwd
    for name in ("tool", "tool test"):
        (project / name).write_text(f"#!/bin/sh\necho $# > 'ran {name}'\n")
        (project / name).chmod(0o755)
    await chat.open()
    await chat.prompt(create("./tool test"), ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}])
    assert (project / "ran tool").read_text() == "1\n"
    assert not (project / "ran tool test").exists()


async def test_a_program_with_a_space_in_its_path_is_not_split(converse: Converse) -> None:
    user = ScriptedUser("allow_once")
    chat = converse(question_handler=user)
    program = chat.conversation.cwd / "my tool"
    program.write_text("#!/bin/sh\ntouch made\n")
    program.chmod(0o755)
    await chat.open()
    await chat.prompt(create(str(program)), ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}])
    assert user.asked[0].subject.argv == (str(program),)
    assert (chat.conversation.cwd / "made").exists()


async def test_subjects_are_read_in_a_thread_and_in_order(
    converse: Converse, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = ScriptedUser("allow_once", "allow_once")
    chat = converse("asks_at_once", "2", question_handler=user)
    threads: list[threading.Thread] = []

    def read(*args: Any) -> Subject:
        threads.append(threading.current_thread())
        if len(threads) == 1:  # the second request waits meanwhile
            wait_until(lambda: len(chat.session.permissions) == 2)
        return subject_of_call(*args)

    monkeypatch.setattr(subject_reader, "subject_of_call", read)
    await chat.open()
    await chat.prompt()
    assert threading.main_thread() not in threads
    assert [question.subject.command for question in user.asked] == ["ask-1", "ask-2"]
