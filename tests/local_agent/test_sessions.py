"""Sessions of the built-in agent: list, load, resume, fork, delete, models, commands, and what is on disk."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import stat
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import RpcError
from tests.support.fake_model import fake_model
from tests.support.local_agent import CAPABILITIES, local_agent
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.local_agent import LocalAgentClient

READ: dict[str, Any] = {"text": "Reading.", "calls": [{"name": "read", "arguments": {"path": "sums.py"}}]}


def entries(agent: LocalAgentClient) -> list[str]:
    """Return what a replay shows, without the ids and the cuts of chunks."""
    shown: list[str] = []
    for update in agent.updates():
        kind, text = update["sessionUpdate"], update.get("content") or {}
        if kind.endswith("_chunk"):
            if shown and shown[-1].startswith(kind) and kind != "user_message_chunk":
                shown[-1] += text["text"]
            else:
                shown.append(f"{kind}: {text['text']}")
        elif kind == "tool_call":
            shown.append(f"call: {update['title']}")
    return shown


async def reopened(agent: LocalAgentClient, method: str, session: str, **more: Any) -> Any:
    await agent.initialize(CAPABILITIES)
    agent.frames.clear()
    return await agent.call(
        f"session/{method}", sessionId=session, cwd=str(agent.root), mcpServers=[], **more
    )


@pytest.fixture
async def stored(project: Path) -> str:
    """The id of a session with two prompts, whose agent has ended."""
    with fake_model(project.parent, READ, "A function.", "Bye.\nAnd thanks.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            await agent.prompt(session, "What is in sums.py?")
            await agent.prompt(session, "Bye")
            return session


async def test_a_loaded_session_is_replayed_as_it_was_and_the_model_remembers_it(
    project: Path, stored: str
) -> None:
    with fake_model(project.parent, "You said bye.") as model:
        async with local_agent(project, model) as agent:
            await reopened(agent, "load", stored)
            replayed = entries(agent)
            await agent.prompt(stored, "What did I say?")
    assert replayed[0] == "user_message_chunk: What is in sums.py?"
    assert replayed[1] == "agent_message_chunk: Reading."
    assert replayed[2].startswith("call: ")
    assert replayed[3:] == [
        "agent_message_chunk: A function.",
        "user_message_chunk: Bye",
        "agent_message_chunk: Bye.\nAnd thanks.",
    ]
    assert agent.calls()[0]["status"] == "completed"
    roles = [message["role"] for message in model.requests()[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"]


async def test_a_resumed_session_is_not_replayed(project: Path, stored: str) -> None:
    with fake_model(project.parent, "Hello again.") as model:
        async with local_agent(project, model) as agent:
            await reopened(agent, "resume", stored)
            assert entries(agent) == []
            await agent.prompt(stored, "Hello")
    assert "What is in sums.py?" in json.dumps(model.requests()[-1])


async def test_a_fork_goes_its_own_way(project: Path, stored: str) -> None:
    with fake_model(project.parent, "Forked.", "Original.") as model:
        async with local_agent(project, model) as agent:
            fork = (await reopened(agent, "fork", stored))["sessionId"]
            await agent.prompt(fork, "Only in the fork")
            await reopened(agent, "resume", stored)
            await agent.prompt(stored, "Hello")
            listed = (await agent.call("session/list"))["sessions"]
    assert {each["sessionId"] for each in listed} == {stored, fork}
    assert "Only in the fork" not in json.dumps(model.requests()[-1])
    assert "What is in sums.py?" in json.dumps(model.requests()[0])


async def test_a_fork_of_a_running_turn_has_a_result_for_each_call(project: Path) -> None:
    command = {"calls": [{"name": "run", "arguments": {"command": "touch started; sleep 30"}}]}
    with fake_model(project.parent, command, "Forked.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            _, answer = agent.start_prompt(session, "Work.")
            await until((project / "started").exists)
            await agent.prompt(await forked(agent, session), "And now?")
            agent.notify("session/cancel", sessionId=session)
            await answer
    roles = [message["role"] for message in model.requests()[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


async def forked(agent: LocalAgentClient, session: str) -> str:
    answer = await agent.call("session/fork", sessionId=session, cwd=str(agent.root), mcpServers=[])
    return str(answer["sessionId"])


async def test_sessions_are_listed_by_folder_and_deleted(project: Path, stored: str) -> None:
    async with local_agent(project, "http://127.0.0.1:9/v1") as agent:
        await agent.initialize(CAPABILITIES)
        [listed] = (await agent.call("session/list", cwd=str(project)))["sessions"]
        assert (listed["sessionId"], listed["title"]) == (stored, "What is in sums.py?")
        assert (await agent.call("session/list", cwd="/elsewhere"))["sessions"] == []
        await agent.call("session/delete", sessionId=stored)
        assert (await agent.call("session/list"))["sessions"] == []
        with pytest.raises(RpcError, match="Unknown session"):
            await reopened(agent, "load", stored)
    assert list((project.parent / "data" / "sessions").iterdir()) == []


@pytest.mark.parametrize("session", ["../../x", "0" * 32, ""])
async def test_sessions_that_do_not_exist_are_refused(project: Path, session: str) -> None:
    async with local_agent(project, "http://127.0.0.1:9/v1") as agent:
        with pytest.raises(RpcError, match="Unknown session"):
            await reopened(agent, "load", session)


@pytest.mark.parametrize("moment", ["text", "command"])
async def test_a_session_survives_the_death_of_the_agent(project: Path, moment: str) -> None:
    """Also in the middle of a line, or of a call that the model needs a result for."""
    command = {"calls": [{"name": "run", "arguments": {"command": "touch started; sleep 30"}}]}
    unfinished = {"text": "One line.\nHalf a l", "hang": 3} if moment == "text" else command
    with fake_model(project.parent, "Hello.", unfinished) as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            await agent.prompt(session, "Hello")
            _, unanswered = agent.start_prompt(session, "Work.")
            reached = (project / "started").exists if moment == "command" else lambda: "Half" in agent.text()
            await until(reached)
            agent.process.send_signal(signal.SIGKILL)
            with pytest.raises(ConnectionError):
                await unanswered
    log = project.parent / "data" / "sessions" / session / "log.jsonl"
    with log.open("a") as file:
        file.write('{"update": {"sessionUp')  # a torn line
    with fake_model(project.parent, "Welcome back.") as model:
        async with local_agent(project, model) as agent:
            await reopened(agent, "load", session)
            replayed = entries(agent)
            answer = await agent.prompt(session, "And now?")
            await reopened(agent, "load", session)
    assert answer["stopReason"] == "end_turn"
    assert replayed[:3] == [
        "user_message_chunk: Hello",
        "agent_message_chunk: Hello.",
        "user_message_chunk: Work.",
    ]
    assert entries(agent)[-2:] == ["user_message_chunk: And now?", "agent_message_chunk: Welcome back."]


async def test_what_is_stored_is_private_and_holds_no_secrets(project: Path) -> None:
    secrets = ["the-key-of-the-model", "sk-abcdefghijklmnop1234567", "mcp-secret-value", "header-secret-1"]
    key, shape, mcp, header = secrets
    password = "hunter2hunter2"
    (project / "keys.txt").write_text("\n".join([*secrets, f"DB_PASSWORD={password}"]))
    server = {
        "name": "x",
        "command": sys.executable,
        "args": ["-c", ""],
        "env": [{"name": "A_TOKEN", "value": mcp}],
    }
    read = {"calls": [{"name": "read", "arguments": {"path": "keys.txt"}}]}
    arguments = ("--api-key-env", "MODEL_KEY", "--header-env", "X-Auth=MODEL_HEADER")
    env = {"MODEL_KEY": key, "MODEL_HEADER": header}
    with fake_model(project.parent, read, f"They are {' '.join(secrets)}.", key=key) as model:
        async with local_agent(project, model, *arguments, env=env) as agent:
            session = await agent.open(mcpServers=[server])
            await agent.prompt(session, f"Is it {shape}?")
    assert shape in agent.text()  # what the user sees is not changed
    assert model.headers()[-1]["x-auth"] == header
    data = project.parent / "data"
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) == 2
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not [secret for secret in [*secrets, password] if secret in path.read_text()]
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert any("[redacted]" in path.read_text() for path in files)


async def test_an_image_whose_data_looks_like_a_key_is_stored_as_it_is(project: Path) -> None:
    data = base64.b64encode(base64.urlsafe_b64decode("iVBO-sk-" + "a" * 24)).decode()
    image = {"type": "image", "mimeType": "image/png", "data": data}
    with fake_model(project.parent, "A cat.", "Still a cat.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            await agent.call("session/prompt", sessionId=session, prompt=[image])
            await reopened(agent, "resume", session)
            await agent.prompt(session, "And now?")
    assert data in json.dumps(model.requests()[-1])


async def test_a_command_does_not_inherit_the_key(project: Path) -> None:
    run = {"calls": [{"name": "run", "arguments": {"command": "env > env.txt"}}]}
    with fake_model(project.parent, run, "Done.") as model:
        async with local_agent(
            project, model, "--api-key-env", "MODEL_KEY", env={"MODEL_KEY": "abc"}
        ) as agent:
            await agent.prompt(await agent.open(), "Run env.")
    assert "PATH=" in (project / "env.txt").read_text()
    assert "MODEL_KEY" not in (project / "env.txt").read_text()


async def test_a_missing_key_is_reported(project: Path) -> None:
    with fake_model(project.parent) as model:
        async with local_agent(project, model, "--api-key-env", "NO_SUCH_KEY") as agent:
            await agent.open()
            await agent.until(lambda: agent.notices())
    assert "NO_SUCH_KEY" in agent.notices()[0]


# ------------------------------------------------------------------ models and commands

MODELS = [{"id": "small", "max_model_len": 8000}, {"id": "big/coder:30b", "max_model_len": 64000}]


async def test_the_models_of_the_server_can_be_chosen_during_a_session(project: Path) -> None:
    with fake_model(project.parent, "I am small.", "I am big.", models=MODELS) as model:
        async with local_agent(project, model, "--model", "small") as agent:
            await agent.initialize(CAPABILITIES)
            opened = await agent.call("session/new", cwd=str(project), mcpServers=[])
            session = opened["sessionId"]
            await agent.prompt(session, "Hello")
            [_, option] = opened["configOptions"]
            big = next(each["value"] for each in option["options"] if each["name"] == "big/coder:30b")
            changed = await agent.call(
                "session/set_config_option", sessionId=session, configId="model", value=big
            )
            await agent.prompt(session, "Hello")
    assert changed["configOptions"][1]["currentValue"] == big
    assert [request["model"] for request in model.requests()] == ["small", "big/coder:30b"]
    assert [update["size"] for update in agent.updates("usage_update")][-1] == 64000


async def test_the_models_of_several_profiles_are_one_option(project: Path) -> None:
    with fake_model(project.parent, models=MODELS) as one, fake_model(project.parent, "Two.") as two:
        command = ("-m", "acp_tui.local_agent", "--data-dir", str(project.parent / "data"))
        profiles = ("--profile", "one", "--base-url", one.url, "--model", "small", "--profile", "two")
        second = ("--base-url", two.url, "--model", "fake-model")
        async with local_agent(project, two, command=[*command, *profiles, *second]) as agent:
            await agent.initialize(CAPABILITIES)
            opened = await agent.call("session/new", cwd=str(project), mcpServers=[])
            option = opened["configOptions"][1]
            assert option["currentValue"] == "one:small"
            assert {"one:small", "two:fake-model"} <= {each["name"] for each in option["options"]}
            session = opened["sessionId"]
            await agent.call(
                "session/set_config_option", sessionId=session, configId="model", value="two:fake-model"
            )
            await agent.prompt(session, "Hello")
    assert agent.text() == "Two."
    assert one.requests() == []


async def test_a_server_that_does_not_run_can_be_started_later(project: Path) -> None:
    async with local_agent(project, "http://127.0.0.1:9/v1") as agent:
        session = await agent.open()
        with pytest.raises(RpcError, match=r"127\.0\.0\.1:9"):
            await agent.prompt(session, "Hello")


async def test_a_server_that_was_restarted_with_a_larger_context_is_asked_again(project: Path) -> None:
    small, large = ([{"id": "fake-model", "max_model_len": size}] for size in (8000, 32000))
    with ExitStack() as stack:
        model = stack.enter_context(fake_model(project.parent, models=small))
        async with local_agent(project, model) as agent:
            await agent.open()
            stack.close()
            port = int(model.url.removesuffix("/v1").rpartition(":")[2])
            with fake_model(project.parent, models=large, port=port):
                await agent.open()
    assert [update["size"] for update in agent.updates("usage_update")] == [8000, 32000]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"configId": "mode", "value": "yolo"}, "yolo"), ({"configId": "model", "value": "no such"}, "no such")],
)
async def test_unknown_values_of_options_are_refused(
    project: Path, options: dict[str, str], message: str
) -> None:
    with fake_model(project.parent) as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            with pytest.raises(RpcError, match=message):
                await agent.call("session/set_config_option", sessionId=session, **options)


async def test_slash_commands(project: Path) -> None:
    with fake_model(project.parent, "Hello.", "NOTES", "Who are you?", models=MODELS) as model:
        async with local_agent(project, model, "--model", "small") as agent:
            session = await agent.open()
            await agent.until(lambda: agent.updates("available_commands_update"))
            names = [
                each["name"] for each in agent.updates("available_commands_update")[0]["availableCommands"]
            ]
            assert names == ["compact", "clear", "model", "tools"]
            texts: dict[str, str] = {}
            for prompt in (
                "Remember x",
                "/tools",
                "/model",
                "/model big/coder:30b",
                "/model nope",
                "/compact names",
            ):
                before = len(agent.text())
                assert (await agent.prompt(session, prompt))["stopReason"] == "end_turn"
                texts[prompt] = agent.text()[before:]
            await agent.prompt(session, "/clear")
            await agent.prompt(session, "Who am I?")
    assert "`read`" in texts["/tools"]
    assert "`big/coder:30b`" in texts["/model"]
    assert "now `big/coder:30b`" in texts["/model big/coder:30b"]
    assert "no model `nope`" in texts["/model nope"]
    assert "names" in json.dumps(model.requests()[1]["messages"])
    assert agent.updates("compaction_update")[-1]["summary"][0]["text"] == "NOTES"
    assert "Remember x" not in json.dumps(model.requests()[2])
    assert "NOTES" not in json.dumps(model.requests()[2])


async def test_closing_a_session_cancels_its_turn(project: Path) -> None:
    with fake_model(project.parent, {"text": "word " * 50, "hang": 3}) as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            _, answer = agent.start_prompt(session, "Write.")
            await agent.until(lambda: agent.text())
            await agent.call("session/close", sessionId=session)
            assert (await asyncio.wait_for(answer, 60))["stopReason"] == "cancelled"


async def test_nothing_heavy_is_loaded_before_initialize_is_answered() -> None:
    code = "import sys; import acp_tui.local_agent.agent; print(*sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    loaded = {name.partition(".")[0] for name in output.decode().split()}
    assert "acp" in loaded
    assert not {"pydantic_ai", "openai", "mcp", "httpx2"} & loaded
