"""Faulty agents: each fault is reported in one sentence and leaves no process behind."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.agent_catalogue import Launch
from acp_tui.connection.errors import (
    AgentGone,
    AgentTimeout,
    CannotStart,
    ConnectionFault,
    NotSupported,
    RequestFailed,
    VersionMismatch,
)
from acp_tui.connection.params import SessionSetup
from tests.fake_agents.faulty import ERRORS, LAST_WORDS, MEGABYTE, NOISE
from tests.support.connection import SESSION, Client, text
from tests.support.leftovers import parent
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.connection.conftest import MakeClient

IN_A_SENTENCE = f"Last line on stderr: {LAST_WORDS}"

# --------------------------------------------------------------------------- start


def not_found(folder: Path) -> str:
    return "surely-not-there"


def not_there(folder: Path) -> str:
    return str(folder / "agent")


def not_executable(folder: Path) -> str:
    (folder / "agent").write_text("#!/bin/sh\n")
    return "./agent"


def a_folder(folder: Path) -> str:
    (folder / "agent").mkdir()
    return "./agent"


def without_its_interpreter(folder: Path) -> str:
    (folder / "agent").write_text("#!/nowhere/python\n")
    (folder / "agent").chmod(0o755)
    return "./agent"


def no_program(folder: Path) -> str:
    (folder / "agent").write_bytes(b"\0\1\2\3")
    (folder / "agent").chmod(0o755)
    return "./agent"


@pytest.mark.parametrize(
    ("make", "sentence", "hint"),
    [
        (not_found, "surely-not-there was not found in PATH", True),
        (not_there, "agent does not exist", True),
        (not_executable, "agent is not executable", False),
        (a_folder, "agent is a directory", False),
        (without_its_interpreter, "the interpreter in its #! line does not exist", True),
        (no_program, "neither a binary for this machine nor a script", True),
    ],
)
async def test_a_program_that_cannot_run_is_reported(
    tmp_path: Path, make: Callable[[Path], str], sentence: str, hint: bool
) -> None:
    client = Client(Launch("x", "The Agent", [make(tmp_path)], {}, "pip install x"), tmp_path, "unused-mark")
    with pytest.raises(CannotStart) as caught:
        await client.start()
    said = str(caught.value)
    assert said.startswith("The Agent cannot be started: ")
    assert sentence in said
    assert ("Install it with: pip install x" in said) is hint
    assert client.exits == []


async def test_a_null_byte_in_the_arguments_is_reported(tmp_path: Path) -> None:
    client = Client(Launch("x", "The Agent", [sys.executable, "a\0b"]), tmp_path, "unused-mark")
    with pytest.raises(CannotStart, match=r"^The Agent cannot be started: embedded null byte\.$"):
        await client.start()


async def test_a_missing_working_directory_is_reported(tmp_path: Path) -> None:
    client = Client(Launch("x", "The Agent", [sys.executable]), tmp_path / "gone", "unused-mark")
    with pytest.raises(CannotStart, match=r"gone does not exist\.$"):
        await client.start()


# --------------------------------------------------------------------------- exit


async def test_an_exit_before_initialize_is_reported_with_the_end_of_stderr(client: MakeClient) -> None:
    agent = client("faulty", "dies_before_initialize")
    with pytest.raises(AgentGone) as caught:
        await agent.initialize()
    assert str(caught.value) == f"Scripted Agent exited with code 3. {IN_A_SENTENCE}"
    assert caught.value.stderr_tail == ["starting", LAST_WORDS]
    assert agent.exits[0].code == 3
    assert not agent.exits[0].expected


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("dies_mid_turn", "exited with code 7"),
        ("killed_mid_turn", "was killed by SIGKILL"),
        ("exits_zero_mid_turn", "exited with code 0"),
        ("closes_its_output", "closed its stdout and was ended"),
        ("leaves_processes_and_dies", "exited with code 5"),
    ],
)
async def test_the_agents_exit_ends_the_turn(client: MakeClient, behaviour: str, sentence: str) -> None:
    agent = client("faulty", behaviour)
    connection = await agent.open()
    with pytest.raises(AgentGone) as caught:
        await connection.prompt(SESSION, text("go"))
    assert str(caught.value) == f"Scripted Agent {sentence}. {IN_A_SENTENCE}"
    assert agent.exits == [caught.value.exit]
    with pytest.raises(AgentGone, match=sentence):  # later calls fail as well
        await connection.prompt(SESSION, text("again"))
    with pytest.raises(AgentGone, match=sentence):
        await connection.cancel(SESSION)


async def test_an_incomplete_last_line_is_kept(client: MakeClient) -> None:
    agent = client("faulty", "ends_in_the_middle_of_a_line")
    connection = await agent.open()
    with pytest.raises(AgentGone):
        await connection.prompt(SESSION, text("go"))
    assert agent.frames("received")[-1] == '{"jsonrpc": "2.0", "meth'


async def test_an_agent_that_closes_its_stdin_is_ended(client: MakeClient) -> None:
    agent = client("faulty", "closes_its_input")
    connection = await agent.open()
    await until(lambda: LAST_WORDS in connection.stderr_tail())
    with pytest.raises(AgentGone) as caught:
        await connection.prompt(SESSION, text("go"))
    assert str(caught.value) == (f"Scripted Agent closed its stdin and was ended. {IN_A_SENTENCE}")


async def test_a_prompt_the_agent_does_not_read_can_be_cancelled(client: MakeClient) -> None:
    agent = client("faulty", "stops_reading")
    connection = await agent.open()
    turn = asyncio.ensure_future(connection.prompt(SESSION, text("x" * MEGABYTE)))
    await until(lambda: agent.frames("sent")[-1]["method"] == "session/prompt")
    await connection.cancel(SESSION)
    await connection.close()
    with pytest.raises(AgentGone, match="was killed by SIGTERM"):
        await turn


async def test_an_agent_that_is_slow_to_exit_counts_as_ended_by_us(client: MakeClient) -> None:
    agent = client("faulty", "closes_its_output_and_lingers")
    await agent.open()
    ended = await agent.connection.close()
    assert (ended.signal, ended.expected, ended.reason) == ("SIGKILL", True, None)
    assert agent.exits == [ended]


async def test_an_agent_that_loses_its_watcher_is_ended(client: MakeClient) -> None:
    agent = client("faulty", "never_answers_prompts")
    connection = await agent.open()
    turn = asyncio.ensure_future(connection.prompt(SESSION, text("go")))
    await until(agent.said)
    assert connection.pid is not None
    os.kill(parent(connection.pid), signal.SIGKILL)
    with pytest.raises(AgentGone, match="was ended because its watcher process was killed"):
        await turn


async def test_pending_calls_fail_after_the_exit_was_reported(client: MakeClient) -> None:
    agent = client("faulty", "dies_mid_turn")
    connection = await agent.open()
    told: list[int] = []

    async def call(method: str) -> None:
        try:
            await connection.call(method)
        except AgentGone:
            told.append(len(agent.exits))

    await asyncio.gather(call("_slow"), call("session/prompt"), return_exceptions=True)
    assert told[-1] == 1


# --------------------------------------------------------------------------- answers


async def test_initialize_times_out(client: MakeClient) -> None:
    agent = client("faulty", "never_answers")
    connection = await agent.start()
    await until(connection.stderr_tail)
    with pytest.raises(AgentTimeout) as caught:
        await connection.initialize({}, timeout=0.05)
    assert str(caught.value) == (
        "Scripted Agent did not answer initialize within 0.05 s. Nothing has arrived on its stdout; "
        "an agent must end each message with \\n and flush. Last line on stderr: still thinking about it"
    )
    assert [frame["method"] for frame in agent.frames("sent")] == ["initialize"]


async def test_errors_of_every_shape_have_a_message(client: MakeClient) -> None:
    connection = await client("faulty", "errors").open()
    for shape, error in ERRORS.items():
        with pytest.raises(RequestFailed) as caught:
            await connection.prompt(SESSION, text(shape))
        if not caught.value.error.auth_required:
            assert str(caught.value).startswith("Scripted Agent answered session/prompt with an error: ")
            assert str(caught.value).endswith(IN_A_SENTENCE), shape
        assert caught.value.error.raw == error
        if "it broke" in json.dumps(error) and shape not in ("list", "message is an object"):
            assert "it broke" in caught.value.error.message, shape


@pytest.mark.parametrize("version", ["2", "0", '"2.0"', '"2024-11-05"', "null", "[]", "1.5"])
async def test_an_unsupported_version_names_both_versions(client: MakeClient, version: str) -> None:
    with pytest.raises(VersionMismatch) as caught:
        await client("faulty", "wrong_version", version).initialize()
    theirs = version.replace('"', "")
    assert f"Scripted Agent speaks version {theirs} of" in str(caught.value)
    assert "acp-tui supports version 1" in str(caught.value)


@pytest.mark.parametrize("version", ["1", "1.0", '"1"', '"1.0"'])
async def test_version_1_is_accepted_in_every_spelling(client: MakeClient, version: str) -> None:
    agent = client("faulty", "wrong_version", version)
    await agent.open()
    assert agent.session.dialect == "v1"


async def test_an_agent_that_requires_sign_in_opens_a_session_after_it(client: MakeClient) -> None:
    agent = client("faulty", "demands_authentication")
    connection = await agent.initialize()
    with pytest.raises(RequestFailed) as caught:
        await connection.new_session(SessionSetup("/tmp"))
    assert caught.value.error.auth_required
    await connection.authenticate("login")
    await connection.new_session(SessionSetup("/tmp"))


async def test_a_terminal_sign_in_is_never_sent_to_the_agent(client: MakeClient) -> None:
    agent = client("faulty", "demands_authentication")
    connection = await agent.initialize()
    with pytest.raises(NotSupported, match='Sign-in method "In a terminal" is of type terminal'):
        await connection.authenticate("shell")
    with pytest.raises(NotSupported, match='no sign-in method "guess"'):
        await connection.authenticate("guess")
    assert "authenticate" not in [frame["method"] for frame in agent.frames("sent")]


async def test_a_sign_in_that_never_ends_can_be_cancelled(client: MakeClient) -> None:
    agent = client("faulty", "demands_authentication")
    connection = await agent.initialize()
    waiting = asyncio.ensure_future(connection.authenticate("waits"))
    await until(lambda: agent.frames("sent")[-1]["method"] == "authenticate")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await connection.authenticate("login")


async def test_a_session_without_an_id_is_an_error(client: MakeClient) -> None:
    with pytest.raises(ConnectionFault, match=r"answered session/new without a session id\."):
        await client("faulty", "no_session_id").open()


# --------------------------------------------------------------------------- noise and floods


async def test_invalid_lines_are_observed_and_ignored(client: MakeClient) -> None:
    agent = client("faulty", "noise")
    connection = await agent.open()
    before = len(agent.frames("received"))
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    received = agent.lines[-len(agent.frames("received")) + before :]
    heard = [line for line in agent.lines if line in NOISE]
    assert heard == [line for line in NOISE if line.strip()]
    assert received
    assert agent.said() == ["in pieces"]
    assert {"broken utf-8": "\N{REPLACEMENT CHARACTER}" * 2} in agent.frames("received")
    assert "Loading configuration ..." in agent.frames("received")


async def test_only_a_malformed_request_with_an_id_is_answered(client: MakeClient) -> None:
    agent = client("faulty", "noise")
    connection = await agent.open()
    await connection.prompt(SESSION, text("go"))
    answers = [frame for frame in agent.frames("sent") if "method" not in frame]
    assert answers == [
        {"jsonrpc": "2.0", "id": "odd", "error": {"code": -32600, "message": "Invalid request"}}
    ]


async def test_a_malformed_answer_fails_its_call(client: MakeClient) -> None:
    connection = await client("faulty", "malformed_answer").open()
    for shape, words in {"array": "JSON-RPC batch", "empty": "neither result nor error"}.items():
        with pytest.raises(RequestFailed, match=words):
            await connection.prompt(SESSION, text(shape))


async def test_a_line_of_50_megabytes_is_read(client: MakeClient) -> None:
    agent = client("faulty", "long_line")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    assert [len(said) for said in agent.said()] == [50 * MEGABYTE]


async def test_a_line_over_the_limit_is_replaced_by_a_note(client: MakeClient) -> None:
    agent = client("faulty", "long_line")
    connection = await agent.start(line_limit=MEGABYTE)
    await connection.initialize({})
    await connection.new_session(SessionSetup("/tmp"))
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    [line] = [frame for frame in agent.frames("received") if isinstance(frame, str)]
    assert line.startswith('{"jsonrpc"')
    assert line.endswith("bytes, limit 1048576]")


async def test_50_megabytes_on_stderr_do_not_stop_the_turn(client: MakeClient) -> None:
    agent = client("faulty", "stderr_flood")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    ended = await connection.close()
    assert len(agent.stderr) > 50_000_000
    assert ended.stderr_tail[-1] == LAST_WORDS
    assert set(ended.stderr_tail[-2]) == {"f"}
    assert len(ended.stderr_tail) <= 200
    assert max(map(len, ended.stderr_tail)) <= 2000


async def test_other_tasks_run_during_a_flood(client: MakeClient) -> None:
    agent = client("faulty", "flood")
    connection = await agent.open()
    turns: list[int] = []

    async def count_turns() -> None:
        while True:
            turns.append(len(agent.records))
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count_turns())
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    counting.cancel()
    assert len(agent.said()) == 50_000
    assert max(later - earlier for earlier, later in itertools.pairwise(turns)) < 20_000


# --------------------------------------------------------------------------- order of messages


async def test_updates_before_the_session_are_observed_before_its_answer(client: MakeClient) -> None:
    agent = client("faulty", "early_updates")
    await agent.open()
    assert agent.said() == ["welcome"]
    assert [frame.get("method", "answer") for frame in agent.frames("received")] == [
        "answer",
        "session/update",
        "answer",
    ]


async def test_updates_of_an_unknown_session_are_observed(client: MakeClient) -> None:
    agent = client("faulty", "unknown_session")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    assert agent.said() == ["for somebody else"]


async def test_a_second_answer_is_ignored(client: MakeClient) -> None:
    agent = client("faulty", "answers_twice")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    assert await connection.prompt(SESSION, text("again")) == "end_turn"
    assert sum("result" in frame for frame in agent.frames("received")) >= 5


async def test_answers_with_unknown_ids_are_ignored(client: MakeClient) -> None:
    agent = client("faulty", "unknown_id")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    assert [frame["id"] for frame in agent.frames("received")][2:4] == [4711, "text"]


# --------------------------------------------------------------------------- child processes


@pytest.mark.parametrize("steps", range(1, 13))
async def test_a_cancelled_start_leaves_no_process(client: MakeClient, steps: int) -> None:
    agent = client("faulty", "never_answers")
    starting = asyncio.ensure_future(agent.start())
    for _ in range(steps):  # cancel at each step of the start
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert agent.left_behind() == []
