"""Turns of the built-in agent with a scripted model: the loop, its limits, errors and cancelling."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import ALL_CAPABILITIES, RpcError
from tests.support.fake_model import fake_model
from tests.support.local_agent import CAPABILITIES, local_agent
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


def calls(*names_and_arguments: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return an answer of the model with calls."""
    return {"calls": [{"name": name, "arguments": each} for name, each in names_and_arguments], **more}


FIX: list[Any] = [
    calls(("read", {"path": "sums.py"}), ("read", {"path": "check.py"}), text="Let me look."),
    calls(("run", {"command": "python3 check.py"})),
    calls(("edit", {"path": "sums.py", "old": "return a + c", "new": "return a + b"})),
    calls(("edit", {"path": "sums.py", "old": "return a - b", "new": "return a + b"})),
    calls(("run", {"command": "python3 check.py"})),
    "It was a minus. Fixed, and the check passes.",
]
"""A whole task, with a first edit that fails."""


@pytest.mark.parametrize("mode", ["native", "xml"])
async def test_a_task_is_done_with_native_and_with_xml_calls(project: Path, mode: str) -> None:
    answers = [answer if isinstance(answer, str) else {**answer, "xml": mode == "xml"} for answer in FIX]
    with fake_model(project.parent, *answers) as model:
        async with local_agent(project, model, "--calls", mode) as agent:
            answer = await agent.prompt(await agent.open(), "check.py fails. Fix it.")
    assert answer["stopReason"] == "end_turn"
    assert (project / "sums.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert agent.statuses() == ["completed", "completed", "failed", "failed", "completed", "completed"]
    assert agent.text() == "Let me look.It was a minus. Fixed, and the check passes."
    last_request = json.dumps(model.requests()[-1]["messages"])
    assert "all good" in last_request
    assert "add is wrong" in last_request


async def test_the_user_is_asked_before_writes_and_commands_and_the_model_learns_of_a_refusal(
    project: Path,
) -> None:
    with fake_model(
        project.parent, calls(("write", {"path": "new.txt", "content": "x"})), "As you wish."
    ) as model:
        async with local_agent(project, model) as agent:
            agent.answers["session/request_permission"] = lambda params: {
                "outcome": {"outcome": "selected", "optionId": params["options"][-1]["optionId"]}
            }
            await agent.prompt(await agent.open(), "Write a file.")
    assert len(agent.requests("session/request_permission")) == 1
    assert agent.requests("session/request_permission")[0]["options"][-1]["kind"].startswith("reject")
    assert not (project / "new.txt").exists()
    assert model.requests()[-1]["messages"][-1]["role"] == "tool"


async def test_plan_mode_changes_nothing_and_auto_mode_does_not_ask(project: Path) -> None:
    write = calls(("write", {"path": "new.txt", "content": "x\n"}))
    with fake_model(project.parent, write, "No.", write, "Done.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open(capabilities=ALL_CAPABILITIES)
            await agent.call("session/set_mode", sessionId=session, modeId="plan")
            await agent.prompt(session, "Write a file.")
            assert not (project / "new.txt").exists()
            await agent.call("session/set_config_option", sessionId=session, configId="mode", value="auto")
            await agent.prompt(session, "Write a file.")
    assert (project / "new.txt").read_text() == "x\n"
    assert agent.requests("session/request_permission") == []
    assert [update["currentModeId"] for update in agent.updates("current_mode_update")] == ["plan", "auto"]


# ------------------------------------------------------------------ limits and errors


async def test_the_same_call_is_refused_the_third_time_and_ends_the_turn_the_fourth_time(
    project: Path,
) -> None:
    with fake_model(project.parent, *[calls(("read", {"path": "sums.py"}))] * 9) as model:
        async with local_agent(project, model) as agent:
            answer = await agent.prompt(await agent.open(), "Loop.")
    assert answer["stopReason"] == "end_turn"
    assert agent.statuses() == ["completed", "completed", "failed", "failed"]
    assert "same arguments" in agent.text()
    assert "3 times in a row" in json.dumps(model.requests()[3]["messages"])


def lines(count: int) -> list[dict[str, Any]]:
    return [calls(("read", {"path": "sums.py", "line": number + 1})) for number in range(count)]


async def test_after_many_rounds_the_user_is_asked_whether_to_continue(project: Path) -> None:
    with fake_model(project.parent, *lines(4), "Done.") as model:
        async with local_agent(project, model, "--max-rounds", "2") as agent:
            agent.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {}}
            answer = await agent.prompt(await agent.open(), "Work.")
    assert answer["stopReason"] == "end_turn"
    assert agent.text() == "Done."
    assert len(agent.requests("elicitation/create")) == 2


@pytest.mark.parametrize("has_forms", [True, False])
async def test_declining_to_continue_ends_the_turn(project: Path, has_forms: bool) -> None:
    with fake_model(project.parent, *lines(4)) as model:
        async with local_agent(project, model, "--max-rounds", "2") as agent:
            agent.answers["elicitation/create"] = lambda _: {"action": "decline"}
            session = await agent.open(capabilities=CAPABILITIES if has_forms else {})
            answer = await agent.prompt(session, "Work.")
    assert answer["stopReason"] == "max_turn_requests"
    assert has_forms or "Send “continue” to go on" in agent.text()


async def test_a_refused_key_is_an_error_with_one_sentence_and_the_session_goes_on(project: Path) -> None:
    refusal = {"status": 401, "body": {"error": {"message": "Incorrect key"}}}
    with fake_model(project.parent, refusal, "Now it works.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            with pytest.raises(RpcError, match="401"):
                await agent.prompt(session, "Hello")
            answer = await agent.prompt(session, "Again")
    assert answer["stopReason"] == "end_turn"
    assert agent.text() == "Now it works."


async def test_a_wait_for_a_busy_server_is_reported_in_the_conversation(project: Path) -> None:
    busy = {"status": 429, "headers": {"retry-after": "0"}, "body": {"error": {"message": "busy"}}}
    with fake_model(project.parent, busy, "Here I am.") as model:
        async with local_agent(project, model) as agent:
            await agent.prompt(await agent.open(), "Hello")
    assert agent.text() == "Here I am."
    assert any("429" in notice and "busy" in notice for notice in agent.notices())


async def test_a_client_without_notices_gets_them_as_messages_within_a_turn(project: Path) -> None:
    with fake_model(project.parent, "Hello.", models=[{"id": "fake-model"}]) as model:
        async with local_agent(project, model) as agent:
            session = await agent.open(capabilities={})
            assert agent.updates("agent_message_chunk") == []
            await agent.prompt(session, "Hello")
    assert "context size of fake-model is unknown" in agent.text()
    assert agent.updates("notice") == []


@pytest.mark.parametrize(("context", "words"), [("8000", "only 8,000 tokens"), (None, "unknown")])
async def test_a_small_or_unknown_context_is_reported_at_the_start(
    project: Path, context: str | None, words: str
) -> None:
    arguments = [] if context is None else ["--context", context]
    with fake_model(project.parent, models=[{"id": "fake-model"}]) as model:
        async with local_agent(project, model, *arguments) as agent:
            await agent.open()
            await agent.until(lambda: agent.notices())
    assert words in agent.notices()[0]
    assert "OLLAMA_CONTEXT_LENGTH" in agent.notices()[0]


async def test_a_withheld_answer_is_a_refusal_that_the_model_does_not_see_again(project: Path) -> None:
    with fake_model(project.parent, {"text": "", "finish": "content_filter"}, "Fine.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            refused = await agent.prompt(session, "Something withheld")
            await agent.prompt(session, "Something else")
    assert refused["stopReason"] == "refusal"
    assert "Something withheld" not in json.dumps(model.requests()[-1])


async def test_images_go_to_the_model(project: Path) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"picture").decode()}
    with fake_model(project.parent, "A cat.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            await agent.call(
                "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "What?"}, image]
            )
    assert base64.b64encode(b"picture").decode() in json.dumps(model.requests()[-1])


async def test_an_image_that_is_none_does_not_end_the_conversation(project: Path) -> None:
    image = {"type": "image", "mimeType": "png", "data": ""}
    with fake_model(project.parent, "I see none.") as model:
        async with local_agent(project, model) as agent:
            await agent.call("session/prompt", sessionId=await agent.open(), prompt=[image])
    assert "not supported" in json.dumps(model.requests()[-1])


async def test_instructions_of_the_project_reach_the_model_once(project: Path) -> None:
    (project / "AGENTS.md").write_text("Always write haiku.\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project.parent / "secret.txt").write_text("not for the model\n")
    with fake_model(project.parent, "Ok.") as model:
        async with local_agent(project, model) as agent:
            await agent.prompt(await agent.open(), "Hello")
    system = model.requests()[-1]["messages"][0]["content"]
    assert system.count("Always write haiku.") == 1
    assert str(project) in system


async def test_instructions_that_are_a_link_out_of_the_project_are_not_read(project: Path) -> None:
    (project.parent / "secret.txt").write_text("not for the model\n")
    (project / "AGENTS.md").symlink_to(project.parent / "secret.txt")
    with fake_model(project.parent, "Ok.") as model:
        async with local_agent(project, model) as agent:
            await agent.prompt(await agent.open(), "Hello")
    assert "not for the model" not in json.dumps(model.requests())


# ------------------------------------------------------------------ cancelling

SLOW = "while true; do sleep 0.05; done"
MOMENTS: dict[str, Any] = {
    "before the first byte": ({"text": "late", "first_delay": 60}, lambda agent, model: model.requests()),
    "in the text": ({"text": "word " * 50, "hang": 8}, lambda agent, model: agent.text()),
    "in a thought": (
        {"thought": "hm " * 50, "text": "x", "hang": 8},
        lambda agent, model: agent.text("agent_thought_chunk"),
    ),
    "in the arguments": (
        calls(("read", {"path": "a" * 200}), hang=6),
        lambda agent, model: agent.updates("tool_call"),
    ),
    "between two tries": (
        {"status": 503, "headers": {"retry-after": "60"}, "body": {}},
        lambda agent, model: agent.notices(),
    ),
    "in a question": (
        calls(("write", {"path": "new.txt", "content": "x"})),
        lambda agent, model: agent.requests("session/request_permission"),
    ),
    "in a command": (
        calls(("run", {"command": f"touch started; {SLOW}"})),
        lambda agent, model: (agent.root / "started").exists(),
    ),
    "in the second of two calls": (
        calls(("read", {"path": "sums.py"}), ("run", {"command": f"touch started; {SLOW}"})),
        lambda agent, model: (agent.root / "started").exists(),
    ),
    "in a form": (
        calls(("ask", {"question": "Red or blue?", "options": ["red", "blue"]})),
        lambda agent, model: agent.requests("elicitation/create"),
    ),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_turn_can_be_cancelled_at_any_moment(project: Path, moment: str) -> None:
    first, reached = MOMENTS[moment]
    with fake_model(project.parent, first, "Back again.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            if moment == "in a question":
                agent.unanswered.add("session/request_permission")
            agent.unanswered.add("elicitation/create")
            _, answer = agent.start_prompt(session, "Work.")
            await until(lambda: reached(agent, model))
            agent.notify("session/cancel", sessionId=session)
            assert (await answer)["stopReason"] == "cancelled"
            await until(lambda: len(model.ends()) == len(model.requests()))
            assert not {"pending", "in_progress"} & set(agent.statuses())
            assert (await agent.prompt(session, "Are you there?"))["stopReason"] == "end_turn"
    assert agent.text().endswith("Back again.")
    assert not (project / "new.txt").exists()
    assert not _is_running(SLOW)


async def test_a_compaction_can_be_cancelled(project: Path) -> None:
    with fake_model(project.parent, "Yes.", {"text": "x", "first_delay": 60}, "Back.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            await agent.prompt(session, "Remember this.")
            _, answer = agent.start_prompt(session, "/compact")
            await until(lambda: len(model.requests()) == 2)
            agent.notify("session/cancel", sessionId=session)
            assert (await answer)["stopReason"] == "cancelled"
            await agent.prompt(session, "And now?")
    assert agent.updates("compaction_update")[-1]["status"] == "cancelled"
    assert "Remember this." in json.dumps(model.requests()[-1])


async def test_what_was_written_before_a_cancellation_is_remembered(project: Path) -> None:
    with fake_model(project.parent, {"text": "The answer is forty-two, because", "hang": 3}, "Ok.") as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            _, answer = agent.start_prompt(session, "Why?")
            await agent.until(lambda: agent.text())
            agent.notify("session/cancel", sessionId=session)
            await answer
            await agent.prompt(session, "Go on.")
    assert "The answer" in json.dumps(model.requests()[-1]["messages"][2])


async def test_a_request_is_cancelled_by_its_id(project: Path) -> None:
    with fake_model(project.parent, {"text": "word " * 50, "hang": 3}) as model:
        async with local_agent(project, model) as agent:
            request, answer = agent.start_prompt(await agent.open(), "Write.")
            await agent.until(lambda: agent.text())
            agent.notify("$/cancel_request", requestId=request)
            assert (await answer)["stopReason"] == "cancelled"


async def test_nothing_that_the_agent_started_outlives_it(project: Path) -> None:
    command = f"touch started; {SLOW} & {SLOW}"
    with fake_model(project.parent, calls(("run", {"command": command}))) as model:
        async with local_agent(project, model) as agent:
            agent.start_prompt(await agent.open(), "Run it.")[1].add_done_callback(
                lambda done: done.exception()
            )
            await until((project / "started").exists)
    await until(lambda: not _is_running(str(project)))


async def test_a_second_signal_does_not_leave_a_command_behind(project: Path) -> None:
    command = "trap 'touch stopping' TERM; touch started; while :; do sleep 0.1; done"
    with fake_model(project.parent, calls(("run", {"command": command}))) as model:
        async with local_agent(project, model) as agent:
            agent.start_prompt(await agent.open(), "Run it.")[1].add_done_callback(
                lambda done: done.exception()
            )
            for moment in ("started", "stopping"):
                await until((project / moment).exists)
                agent.process.terminate()
    assert not _is_running(str(project))


async def test_a_signal_ends_the_agent_although_the_client_does_not_release_a_terminal(project: Path) -> None:
    with fake_model(project.parent, calls(("run", {"command": "make"}))) as model:
        async with local_agent(project, model) as agent:
            agent.answers["terminal/create"] = lambda params: {"terminalId": "1"}
            agent.unanswered |= {"terminal/wait_for_exit", "terminal/release"}
            session = await agent.open(capabilities=ALL_CAPABILITIES)
            agent.start_prompt(session, "Run it.")[1].add_done_callback(lambda done: done.exception())
            await until(lambda: agent.requests("terminal/wait_for_exit"))
            agent.process.terminate()
            await until(lambda: agent.process.returncode is not None)


def _is_running(words: str) -> bool:
    """Return True if a process has these words in its command line, or the folder as its working folder."""
    from pathlib import Path

    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            if words in command or str((process / "cwd").resolve()) == words:
                return True
        except OSError:
            continue
    return False


# ------------------------------------------------------------------ the context


async def test_a_conversation_is_compacted_before_it_overflows(project: Path) -> None:
    (project / "long.txt").write_text("".join(f"line {number} of a long file\n" for number in range(4000)))
    reads = [calls(("read", {"path": "long.txt", "line": 1 + 300 * each})) for each in range(12)]
    rules = [{"when": "^(Summary of what came|Conversation:)", "role": "user", "answer": "NOTES: we read."}]
    with fake_model(project.parent, *reads, "All read.", rules=rules, context=12_000) as model:
        async with local_agent(project, model, "--context", "10000") as agent:
            answer = await agent.prompt(await agent.open(), "Read long.txt and count.")
    assert answer["stopReason"] == "end_turn"
    assert agent.text().endswith("All read.")
    compactions = agent.updates("compaction_update")
    assert [each["status"] for each in compactions[:2]] == ["in_progress", "completed"]
    assert "NOTES: we read." in compactions[1]["summary"][0]["text"]
    assert "Read long.txt and count." in json.dumps(model.requests()[-1]["messages"])


async def test_a_prompt_ten_times_too_long_is_answered(project: Path) -> None:
    rules = [{"when": "^(Summary of what came|Conversation:)", "role": "user", "answer": "NOTES"}]
    text = "An important beginning. " + "word " * 30_000 + " What is the end?"
    with fake_model(project.parent, "The end.", rules=rules, context=4_000) as model:
        async with local_agent(project, model, "--context", "4000") as agent:
            await agent.prompt(await agent.open(), text)
    assert agent.text() == "The end."
    last = json.dumps(model.requests()[-1]["messages"])
    assert "An important beginning." in last
    assert "What is the end?" in last


async def test_a_context_that_is_smaller_than_known_is_found_out(project: Path) -> None:
    rules = [{"when": "^(Summary of what came|Conversation:)", "role": "user", "answer": "NOTES"}]
    text = "word " * 8_000
    with fake_model(project.parent, "Got it.", rules=rules, context=6_000) as model:
        async with local_agent(project, model, "--context", "100000") as agent:
            await agent.prompt(await agent.open(), text)
    assert agent.text() == "Got it."


async def test_usage_and_cost_are_reported(project: Path) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}
    prices = ("--price-input", "2", "--price-output", "10", "--currency", "EUR")
    with fake_model(project.parent, {"text": "Hi.", "usage": usage}) as model:
        async with local_agent(project, model, *prices) as agent:
            answer = await agent.prompt(await agent.open(), "Hello")
    assert answer["usage"] == {"inputTokens": 1000, "outputTokens": 500, "totalTokens": 1500}
    last = agent.updates("usage_update")[-1]
    assert (last["used"], last["size"]) == (1500, 32768)
    assert last["cost"] == {"amount": 0.007, "currency": "EUR"}


async def test_prompts_in_two_sessions_run_at_the_same_time(project: Path) -> None:
    rules = [
        {"when": "slow", "answer": {"text": "word " * 50, "hang": 3}},
        {"when": "quick", "answer": "At once."},
    ]
    with fake_model(project.parent, rules=rules) as model:
        async with local_agent(project, model) as agent:
            first, second = await agent.open(), await agent.open()
            _, slow = agent.start_prompt(first, "slow")
            assert (await agent.prompt(second, "quick"))["stopReason"] == "end_turn"
            with pytest.raises(RpcError, match="already running"):
                await agent.prompt(first, "quick")
            agent.notify("session/cancel", sessionId=first)
            assert (await asyncio.wait_for(slow, 60))["stopReason"] == "cancelled"
