"""Requests to a model: what is sent, what is read, and what goes wrong. The server is a real process."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from acp_tui.local_agent import model as model_module
from acp_tui.local_agent import model_server
from acp_tui.local_agent.model import ContextFull, Model, ModelError, estimate_tokens
from acp_tui.local_agent.profile import (
    Answer,
    CallBegun,
    CallRequest,
    ModelEvent,
    ModelInfo,
    ModelProfile,
    TextPiece,
    ThoughtPiece,
    ToolSpec,
    Waiting,
)
from tests.support.fake_model import fake_model
from tests.support.waiting import until

READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
SEARCH = ToolSpec("docs__search", "Search.", {"type": "object"}, server="docs")
TOOLS = [READ, SEARCH]


@asynccontextmanager
async def model_at(url: str, **profile: Any) -> AsyncIterator[Model]:
    model = Model(ModelProfile(base_url=url, model=profile.pop("model", "fake-model"), **profile))
    try:
        yield model
    finally:
        await model.close()


def prompt(text: str = "Hello") -> list[ModelMessage]:
    return [ModelRequest([UserPromptPart(text)])]


async def ask(
    model: Model, messages: Sequence[ModelMessage] | None = None, tools: Sequence[ToolSpec] = TOOLS
) -> list[ModelEvent]:
    stream = model.stream(messages or prompt(), tools, instructions="Be brief.")
    return [event async for event in stream]


async def answers(folder: Path, *script: Any, **profile: Any) -> list[ModelEvent]:
    """Ask once, and return what comes."""
    with fake_model(folder, *script) as server:
        async with model_at(server.url, **profile) as model:
            return await ask(model)


async def failure(folder: Path, *script: Any, **profile: Any) -> str:
    with pytest.raises(ModelError) as caught:
        await answers(folder, *script, **profile)
    return str(caught.value)


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


def thoughts_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ThoughtPiece))


def last(events: list[ModelEvent]) -> Answer:
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_module, "FIRST_WAIT_SECONDS", 0.001)


# ---------------------------------------------------------------------- answers


async def test_text_arrives_in_pieces_and_whole_in_the_answer(tmp_path: Path) -> None:
    events = await answers(tmp_path, "A somewhat longer answer.")

    assert len([event for event in events if isinstance(event, TextPiece)]) > 1
    assert text_of(events) == "A somewhat longer answer."
    assert last(events).response.parts == [TextPart("A somewhat longer answer.")]
    assert last(events).stopped_by == "end"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_is_told_from_the_answer(tmp_path: Path, field: str) -> None:
    events = await answers(tmp_path, {"thought": "Let me think.", "thought_field": field, "text": "Yes."})

    assert thoughts_of(events) == "Let me think."
    assert text_of(events) == "Yes."
    thinking = last(events).response.parts[0]
    assert isinstance(thinking, ThinkingPart)
    assert thinking.content == "Let me think."


@pytest.mark.parametrize("piece", [1, 3, 8, 500])
async def test_reasoning_in_tags_is_told_from_the_answer(tmp_path: Path, piece: int) -> None:
    text = "\n<think>Is <b> < 3?</think>\n\nIt is. The tag <think> is text here."
    events = await answers(tmp_path, {"text": text, "piece": piece})

    assert thoughts_of(events) == "Is <b> < 3?"
    assert text_of(events) == "It is. The tag <think> is text here."


async def test_several_calls_arrive_in_pieces(tmp_path: Path) -> None:
    calls = [
        {"name": "read", "arguments": {"path": "a.py"}, "id": "one"},
        {"name": "docs__search", "arguments": {"q": "é"}, "id": "two"},
    ]
    events = await answers(tmp_path, {"text": "Reading.", "calls": calls})

    assert [event for event in events if isinstance(event, CallBegun)] == [
        CallBegun("one", "read"),
        CallBegun("two", "docs__search"),
    ]
    assert last(events).calls == [
        CallRequest("one", "read", {"path": "a.py"}),
        CallRequest("two", "docs__search", {"q": "é"}),
    ]


async def test_calls_under_one_index_are_told_apart(tmp_path: Path) -> None:
    calls = [{"name": "read", "arguments": {"path": path}, "id": path} for path in ("a", "b")]
    events = await answers(tmp_path, {"calls": calls, "same_index": True})

    assert [call.arguments for call in last(events).calls] == [{"path": "a"}, {"path": "b"}]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"name": "read", "arguments": '{"path": "a'}, "not valid JSON"),
        ({"name": "read", "arguments": "[]"}, "not a JSON object"),
        ({"name": "fly", "arguments": {}}, "There is no tool 'fly'. The tools are: read, docs__search."),
    ],
)
async def test_a_call_that_cannot_be_used_says_why(tmp_path: Path, call: Any, problem: str) -> None:
    answer = last(await answers(tmp_path, {"calls": [call]}))

    assert problem in answer.calls[0].problem
    part = answer.response.parts[0]
    assert isinstance(part, ToolCallPart)
    assert isinstance(
        json.loads(part.args_as_json_str()), dict
    )  # servers refuse anything else in the history


@pytest.mark.parametrize(("finish", "stopped_by"), [("length", "length"), ("content_filter", "filter")])
async def test_an_answer_that_was_cut_off_says_by_what(tmp_path: Path, finish: str, stopped_by: str) -> None:
    assert last(await answers(tmp_path, {"text": "Half", "finish": finish})).stopped_by == stopped_by


async def test_what_the_server_counts_is_reported(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 200, "completion_tokens": 7, "total_tokens": 207}
    answer = last(await answers(tmp_path, {"text": "Hi", "usage": usage}))

    assert (answer.input_tokens, answer.output_tokens) == (200, 7)
    assert answer.response.usage.input_tokens == 200


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 1, "completion_tokens": None},
    ],
)
async def test_usage_that_is_missing_or_wrong_is_estimated(tmp_path: Path, usage: Any) -> None:
    answer = last(await answers(tmp_path, {"text": "Hi there", "usage": usage}))

    assert answer.input_tokens == estimate_tokens(prompt(), TOOLS, "Be brief.")
    assert answer.output_tokens == estimate_tokens([answer.response])


# ---------------------------------------------------------------------- requests


async def test_a_request_carries_instructions_tools_temperature_and_headers(tmp_path: Path) -> None:
    with fake_model(tmp_path, "Hi") as server:
        async with model_at(server.url, temperature=0.5, headers={"X-Team": "blue"}) as model:
            await ask(model)
        (body,) = server.requests()
        (headers,) = server.headers()

    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert body["tools"][0]["function"]["parameters"] == READ.parameters
    assert (body["model"], body["temperature"], body["stream"]) == ("fake-model", 0.5, True)
    assert headers["x-team"] == "blue"


async def test_nothing_in_the_environment_changes_where_a_request_goes_or_what_it_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "organization")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: value")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("default login user password secret", encoding="utf-8")
    with fake_model(tmp_path, "Hi", key="sk-mine") as server:
        async with model_at(server.url, api_key="sk-mine") as model:
            await ask(model)
            await model.models()
        sent = server.headers()

    assert {headers["authorization"] for headers in sent} == {"Bearer sk-mine"}
    assert not any({"openai-organization", "x-other"} & headers.keys() for headers in sent)


async def test_reasoning_is_sent_back_within_a_turn_only(tmp_path: Path) -> None:
    call = {"name": "read", "arguments": {"path": "a"}}
    history: list[ModelMessage] = prompt()
    with fake_model(tmp_path, {"thought": "Hm.", "calls": [call]}, "Done.", "Again.") as server:
        async with model_at(server.url) as model:
            answer = last(await ask(model, history))
            result = ToolReturnPart("read", "text", answer.calls[0].id)
            history += [answer.response, ModelRequest([result])]
            history += [last(await ask(model, history)).response, *prompt("More.")]
            await ask(model, history)
        first, second, third = server.requests()

    assert first["messages"][-1]["role"] == "user"
    assert second["messages"][2]["reasoning_content"] == "Hm."
    assert "reasoning_content" not in third["messages"][2]


async def test_leaving_the_stream_ends_the_request_at_once(tmp_path: Path) -> None:
    with fake_model(tmp_path, {"text": "Forever and ever", "hang": 2}) as server:
        async with model_at(server.url) as model:
            task = asyncio.create_task(ask(model))
            await until(server.requests)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: server.ends() == ["left"])


async def test_a_request_without_an_answer_yet_can_be_cancelled(tmp_path: Path) -> None:
    with fake_model(tmp_path, {"text": "Late", "first_delay": 3600}) as server:
        async with model_at(server.url) as model:
            task = asyncio.create_task(ask(model))
            await until(server.requests)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: server.ends() == ["left"])


# ---------------------------------------------------------------------- models without tools or images


async def test_a_profile_can_say_that_calls_are_xml(tmp_path: Path) -> None:
    calls = [{"name": "read", "arguments": {"path": "a"}}, {"name": "search", "server": "docs"}]
    with fake_model(tmp_path, {"text": "Reading.", "calls": calls, "xml": True, "piece": 3}) as server:
        async with model_at(server.url, calls="xml") as model:
            events = await ask(model)
        (body,) = server.requests()

    assert "tools" not in body
    assert "## read\nServer: local" in body["messages"][0]["content"]
    assert text_of(events) == "Reading."
    assert [(call.name, call.arguments) for call in last(events).calls] == [
        ("read", {"path": "a"}),
        ("docs__search", {}),
    ]
    _text, first, _second = last(events).response.parts
    assert isinstance(first, ToolCallPart)
    assert (first.tool_name, first.tool_call_id) == ("read", last(events).calls[0].id)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}},
        {"object": "error", "message": '"auto" tool choice requires --enable-auto-tool-choice to be set'},
        {"error": {"code": 500, "message": "tools param requires --jinja flag"}},
    ],
)
async def test_after_a_400_on_tools_calls_are_xml(tmp_path: Path, body: Any) -> None:
    answer = {"calls": [{"name": "read", "arguments": {"path": "a"}}], "xml": True}
    with fake_model(tmp_path, answer, "Done.", refuse_tools=body) as server:
        async with model_at(server.url) as model:
            events = await ask(model)
            await ask(model)
        requests = server.requests()

    assert events[0] == Waiting(0, "fake-model takes no tools, so it is told to write calls as XML")
    assert last(events).calls[0].arguments == {"path": "a"}
    assert ["tools" in request for request in requests] == [True, False, False]


async def test_the_name_of_a_model_is_not_the_reason_of_a_refusal(tmp_path: Path) -> None:
    refusal = {"error": {"message": "registry.ollama.ai/library/llama3.2-vision:11b does not support tools"}}
    with fake_model(tmp_path, "Hello.", refuse_tools=refusal) as server:
        async with model_at(server.url, model="llama3.2-vision") as model:
            events = await ask(model)
    assert events[0] == Waiting(0, "llama3.2-vision takes no tools, so it is told to write calls as XML")


async def test_a_fault_of_a_call_does_not_end_native_calls(tmp_path: Path) -> None:
    fault = {"status": 500, "body": {"error": {"message": "Failed to parse the tool call of the model"}}}
    with fake_model(tmp_path, fault, "Done.") as server:
        async with model_at(server.url) as model:
            await ask(model)
        assert all("tools" in request for request in server.requests())


async def test_native_calls_are_not_replaced_if_the_profile_wants_them(tmp_path: Path) -> None:
    with fake_model(tmp_path, refuse_tools={"error": {"message": "does not support tools"}}) as server:
        async with model_at(server.url, calls="native") as model:
            with pytest.raises(ModelError, match="does not support tools"):
                await ask(model)


async def test_images_are_left_out_for_a_model_that_does_not_take_them(tmp_path: Path) -> None:
    image = BinaryContent(b"png", media_type="image/png")
    history: list[ModelMessage] = [ModelRequest([UserPromptPart(["What is this?", image])])]
    refusal = {"error": {"message": "image input is not supported by this model"}}
    with fake_model(tmp_path, "No idea.", refuse_images=refusal) as server:
        async with model_at(server.url) as model:
            events = await ask(model, history)
        with_image, without = server.requests()

    assert events[0] == Waiting(0, "fake-model takes no images, so they are left out")
    assert with_image["messages"][1]["content"][1]["image_url"]["url"].startswith("data:image/png")
    assert "image_url" not in json.dumps(without)


async def test_images_in_results_reach_the_model(tmp_path: Path) -> None:
    image = BinaryContent(b"png", media_type="image/png")
    history: list[ModelMessage] = [
        *prompt(),
        ModelResponse([ToolCallPart("read", "{}", "c1")]),
        ModelRequest([ToolReturnPart("read", "A picture", "c1"), UserPromptPart(["The picture:", image])]),
    ]
    with fake_model(tmp_path, "Nice.", "Nice.") as server:
        for calls in ("native", "xml"):
            async with model_at(server.url, calls=calls) as model:
                await ask(model, history)
        for request in server.requests():
            assert "data:image/png;base64" in json.dumps(request["messages"])


# ---------------------------------------------------------------------- waiting and errors


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_refusal_for_now_is_reported_and_repeated(tmp_path: Path, status: int) -> None:
    busy = {"status": status, "body": {"error": {"message": "Loading model\u001b[2J"}}}
    events = await answers(tmp_path, busy, busy, "Here.")

    waits = [event for event in events if isinstance(event, Waiting)]
    assert [wait.seconds for wait in waits] == [0.001, 0.002]
    assert waits[0].reason == f"The model's server answered {status}: Loading model [2J"
    assert text_of(events) == "Here."


@pytest.mark.parametrize(
    ("header", "seconds"), [({"Retry-After": "0"}, 0), ({"Retry-After-Ms": "25"}, 0.025)]
)
async def test_the_server_says_how_long_to_wait(tmp_path: Path, header: Any, seconds: float) -> None:
    events = await answers(tmp_path, {"status": 429, "headers": header}, "Here.")

    assert isinstance(events[0], Waiting)
    assert events[0].seconds == seconds


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 429, "headers": {"Retry-After": "3600"}, "body": {"error": {"message": "Later"}}},
        {"status": 429, "body": {"error": {"message": "You exceeded", "code": "insufficient_quota"}}},
    ],
)
async def test_waits_that_are_too_long_or_do_not_help_are_not_begun(tmp_path: Path, answer: Any) -> None:
    with fake_model(tmp_path, answer) as server:
        async with model_at(server.url) as model:
            with pytest.raises(ModelError, match=r"Later|You exceeded"):
                await ask(model)
        assert len(server.requests()) == 1


async def test_waiting_ends_after_a_few_times(tmp_path: Path) -> None:
    busy = {"status": 503, "body": {"error": {"message": "Overloaded"}}}
    with fake_model(tmp_path, *[busy] * 9) as server:
        async with model_at(server.url) as model:
            with pytest.raises(ModelError, match=r"has failed \(503\): Overloaded\.$"):
                await ask(model)
        assert len(server.requests()) == 5


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"status": 401, "body": {"error": {"message": "No key"}}}, "refuses the API key (401): No key."),
        ({"status": 401, "body": {"error": "Bad key sk-secret"}}, "refuses the API key (401): Bad key …."),
        ({"status": 404, "body": {"error": {"message": 'model "x" not found'}}}, "has no model 'fake-model'"),
        ({"status": 404, "body": "<html>nginx</html>"}, "most base URLs end in /v1."),
        ({"status": 400, "body": {"detail": "Bad\nrequest"}}, "rejects the request (400): Bad request."),
        ({"status": 307, "headers": {"Location": "http://127.0.0.1:9/"}}, "redirects elsewhere (307)"),
        ({"status": 200, "body": "<html>Welcome</html>"}, "something other than an answer"),
        ({"raw": ["data: {not json\n\n"]}, "something other than an answer"),
        ({"raw": ["data: [1, 2]\n\n", "data: 7\n\n"]}, ""),
        ({"raw": ['data: {"choices": [{"delta": "text"}]}\n\n']}, ""),
        ({"raw": ['data: {"error": {"message": "CUDA out of memory"}}\n\n']}, "CUDA out of memory"),
        ({"text": "Half an answer", "disconnect": 2}, "was lost during the answer."),
        ({"text": "Half", "finish": None, "usage": None}, "was lost during the answer."),
    ],
)
async def test_an_error_is_one_plain_sentence(tmp_path: Path, answer: Any, sentence: str) -> None:
    message = await failure(tmp_path, answer, api_key="sk-secret")

    assert sentence in message
    assert "\n" not in message
    assert message.endswith(".")
    assert "sk-secret" not in message


async def test_a_missing_key_is_named(tmp_path: Path) -> None:
    message = await failure(tmp_path, {"status": 401, "body": {}})

    assert "wants an API key (401): name its environment variable in `api_key_env`" in message


async def test_no_server_is_one_plain_sentence() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with model_at(url) as model:
            for request in (ask(model), model.models()):
                with pytest.raises(ModelError) as caught:
                    await request
                assert str(caught.value) == f"Nothing answers at {url}: is the server running?"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://127.0.0.1/v1", "is not an address that can be used"),
        ("http://nosuchhost.invalid/v1", "The host of http://nosuchhost.invalid/v1 is not known."),
    ],
)
async def test_an_address_that_cannot_be_used_is_one_plain_sentence(url: str, sentence: str) -> None:
    async with model_at(url) as model:
        for request in (ask(model), model.models()):
            with pytest.raises(ModelError, match=sentence):
                await request


async def test_letters_that_headers_cannot_contain_are_one_plain_sentence(tmp_path: Path) -> None:
    with fake_model(tmp_path) as server:
        async with model_at(server.url, headers={"X-Name": "é"}) as model:
            for request in (ask(model), model.models()):
                with pytest.raises(ModelError, match="contains letters that cannot be sent"):
                    await request


async def test_a_silent_server_is_one_plain_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_server, "READ_SECONDS", 0.2)

    assert "sent nothing for too long" in await failure(tmp_path, {"first_delay": 3600})
    assert "sent nothing for too long" in await failure(tmp_path, {"text": "Half an", "hang": 1})


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "This model's maximum context length is 4096 tokens", "code": 400}},
        {"error": {"message": "the request exceeds the available context size", "n_ctx": 4096}},
        {"error": {"message": "prompt is too long: 9000 tokens > 4096 maximum"}},
        {"error": {"message": "Bad", "code": "context_length_exceeded"}},
    ],
)
async def test_a_full_context_has_an_error_of_its_own(tmp_path: Path, body: Any) -> None:
    with fake_model(tmp_path, {"status": 400, "body": body}) as server:
        async with model_at(server.url) as model:
            with pytest.raises(ContextFull, match="does not fit into the context of fake-model"):
                await ask(model)


# ---------------------------------------------------------------------- models


@pytest.mark.parametrize(
    ("models", "paths", "expected"),
    [
        ([{"id": "a", "max_model_len": 8192}], {}, [ModelInfo("a", 8192)]),
        (
            [{"id": "a", "meta": {"n_ctx_train": 131072}}, {"id": "b"}],
            {"/props?model=fake-model": {"default_generation_settings": {"n_ctx": 2048}}},
            [ModelInfo("a", 2048), ModelInfo("b", 2048)],
        ),
        (
            [{"id": "a"}, {"id": "b"}],
            {"/api/ps": {"models": [{"name": "a", "context_length": 4096}]}},
            [ModelInfo("a", 4096), ModelInfo("b")],
        ),
        (
            [{"id": "a"}],
            {
                "/api/v0/models": {
                    "data": [{"id": "a", "max_context_length": 131072, "loaded_context_length": 4096}]
                }
            },
            [ModelInfo("a", 4096)],
        ),
        (
            [
                {"id": "a", "max_model_len": "many"},
                {"id": 3},
                {"id": [], "max_model_len": 1},
                "x",
                {"id": "\x1b"},
            ],
            {},
            [ModelInfo("a")],
        ),
        ([], {}, []),
    ],
    ids=["vllm", "llama.cpp", "ollama", "lm studio", "nonsense", "none"],
)
async def test_models_are_listed_with_their_contexts(
    tmp_path: Path, models: Any, paths: Any, expected: list[ModelInfo]
) -> None:
    with fake_model(tmp_path, models=models, paths=paths) as server:
        async with model_at(server.url) as model:
            assert await model.models() == expected


async def test_a_list_of_models_that_is_none_is_one_plain_sentence(tmp_path: Path) -> None:
    with fake_model(tmp_path, models="none", key="sk-mine") as server:
        async with model_at(server.url) as model:
            with pytest.raises(ModelError, match="wants an API key"):
                await model.models()
        async with model_at(server.url, api_key="sk-mine") as model:
            with pytest.raises(ModelError, match="sent no list of models"):
                await model.models()
