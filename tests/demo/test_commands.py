"""The slash commands of the demo."""

from __future__ import annotations

import base64
import json
import struct
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.support.demo_client import DemoClient, Frame, RpcError

if TYPE_CHECKING:
    from pathlib import Path

INVALID_OR_ENDLESS = frozenset(
    {"slow", "hang", "crash", "withdraw", "signin", "logout"}
    | {"error", "subagents", "unknown", "stray", "notice", "compact", "noise", "stderr", "plan", "title"}
)
"""Commands that take too long, sign out, or send what the schema does not allow."""

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _blocks(demo: DemoClient) -> list[Frame]:
    return [update["content"] for update in demo.updates("agent_message_chunk")]


async def test_every_command_works_without_an_argument(demo: DemoClient, folder: Path) -> None:
    """Run with all capabilities and with none. The fixture checks each frame against the schema."""
    all_or_none: tuple[Frame | None, ...] = (None, {})
    for capabilities in all_or_none:
        demo.answers["elicitation/create"] = lambda params: {"action": "decline"}
        session = await demo.open_session(capabilities=capabilities)
        listed = await demo.until(partial(demo.updates, "available_commands_update", session))
        for command in listed[0]["availableCommands"]:
            if command["name"] not in INVALID_OR_ENDLESS:
                answer = await demo.prompt(session, f"/{command['name']}")
                assert answer["stopReason"] in ("end_turn", "refusal", "max_tokens"), command


async def test_prompts_without_a_command_get_help(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "What is the meaning of life?")
    assert "a script, not a language model" in demo.text()
    assert "`/permission" in demo.text()
    await demo.prompt(session, "/nonsense with words")
    assert "Unknown command: `/nonsense`." in demo.text()
    assert (await demo.prompt(session, ""))["stopReason"] == "end_turn"


async def test_the_title_comes_from_the_first_prompt_and_can_be_changed(demo: DemoClient) -> None:
    demo.sends_invalid = True  # the SDK's model treats null as missing
    session = await demo.open_session()
    await demo.prompt(session, "one  two\nthree " + "and so on " * 10)
    await demo.prompt(session, "hello")
    [update] = demo.updates("session_info_update")
    assert update["title"].startswith("one two three and so on")
    assert len(update["title"]) == 60
    await demo.prompt(session, "/title Another")
    await demo.prompt(session, "/title")
    assert [update["title"] for update in demo.updates("session_info_update")[1:]] == ["Another", None]


async def test_plan_sends_whole_plans(demo: DemoClient) -> None:
    demo.sends_invalid = True  # the SDK's models read the unstable kinds differently
    session = await demo.open_session()
    await demo.prompt(session, "/plan")
    assert [entry["status"] for entry in demo.updates("plan")[2]["entries"]] == [
        *["completed"] * 2,
        "in_progress",
        *["pending"] * 2,
    ]
    await demo.prompt(session, "/plan clear")
    assert demo.updates("plan")[-1]["entries"] == []
    await demo.prompt(session, "/plan kinds")
    assert [update["plan"]["type"] for update in demo.updates("plan_update")] == [
        "items",
        "markdown",
        "file",
    ]
    assert demo.updates("plan_removed")[0]["planId"] == "demo-items"


async def test_updates_the_client_does_not_advertise_are_not_sent(demo: DemoClient) -> None:
    session = await demo.open_session(capabilities={})
    for command in ("/plan kinds", "/notice", "/compact"):
        await demo.prompt(session, command)
    assert demo.text().count("does not advertise") == 3
    await demo.prompt(session, "/elicit form")
    assert "elicitation of mode `form`, so I must not" in demo.text()
    await demo.prompt(session, "/elicit url")
    assert "elicitation of mode `url`, so I must not" in demo.text()
    assert not demo.requests("elicitation/create")


async def test_read_asks_the_client_for_the_file(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/read README.md 3 1")
    request = demo.requests("fs/read_text_file")[0]
    assert (request["path"], request["line"], request["limit"]) == (str(demo.root / "README.md"), 3, 1)
    read = demo.calls()[0]
    assert "Second paragraph." in read["content"][0]["content"]["text"]
    assert "# Somewhere" not in read["content"][0]["content"]["text"]
    await demo.prompt(session, "/read missing.txt")
    missing = demo.calls()[-1]
    assert missing["status"] == "failed"
    assert "-32002" in missing["content"][0]["content"]["text"]
    await demo.prompt(session, "/read it's.txt")
    assert demo.calls()[-1]["rawInput"]["path"] == str(demo.root / "it's.txt")


async def test_reading_without_the_client_stays_inside_the_folder(
    demo: DemoClient, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    session = await demo.open_session(capabilities={})
    for path in (str(tmp_path / "secret.txt"), "../secret.txt", "link.txt", "missing.txt", "latin.txt"):
        await demo.prompt(session, f"/read {path}")
        assert demo.calls()[-1]["status"] == "failed", path
    assert "secret\n" not in json.dumps(demo.frames)
    await demo.prompt(session, "/read README.md 3 1")
    assert "Second paragraph." in str(demo.calls()[-1])


async def test_diff_writes_nothing(demo: DemoClient) -> None:
    await demo.prompt(await demo.open_session(), "/diff")
    diffs = demo.calls()[0]["content"]
    assert [diff["type"] for diff in diffs] == ["diff"] * 6
    assert "oldText" not in diffs[0]
    assert [file.name for file in demo.root.iterdir()] == ["README.md"]


@pytest.mark.parametrize("capabilities", [None, {}])
async def test_terminal_and_fail_report_exit_codes(
    demo: DemoClient, folder: Path, capabilities: Frame | None
) -> None:
    session = await demo.open_session(capabilities=capabilities)
    await demo.prompt(session, "/fail")
    failed = demo.calls()[-1]
    assert failed["status"] == "failed"
    assert failed["rawOutput"]["exitCode"] == 3
    await demo.prompt(session, "/terminal echo one; echo two >&2; pwd")
    ran = demo.calls()[-1]
    assert ran["rawInput"] == {"command": "/bin/sh -c 'echo one; echo two >&2; pwd'", "cwd": str(folder)}
    assert ran["status"] == "completed"
    if capabilities is not None:
        assert ran["content"][0]["content"]["text"].split() == ["one", "two", str(folder)]
        await demo.prompt(session, "/terminal a\0b")
        assert "Could not run the command" in demo.calls()[-1]["content"][0]["content"]["text"]
        await demo.prompt(session, "/terminal kill -TERM $$")
        assert demo.calls()[-1]["rawOutput"]["signal"] == "SIGTERM"


async def test_tools_runs_tool_calls_concurrently(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/tools")
    kinds = [call.get("kind") for call in demo.calls()]
    assert kinds[:3] == ["read", "edit", "delete"]
    assert kinds[-1] is None
    assert {call["status"] for call in demo.calls()} == {"completed", "failed"}
    starts = [index for index, update in enumerate(demo.updates()) if update["sessionUpdate"] == "tool_call"]
    first_end = next(
        index for index, update in enumerate(demo.updates()) if update.get("status") == "completed"
    )
    assert starts[-1] < first_end
    await demo.prompt(session, "/tools 30")
    assert len(demo.calls()) == 41


async def test_permission_offers_unusual_options(demo: DemoClient) -> None:
    chosen: list[str] = []

    def choose_last(params: Frame) -> Frame:
        option = params["options"][-1]
        chosen.append(option["name"])
        return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}

    demo.answers["session/request_permission"] = choose_last
    session = await demo.open_session()
    for name in ("four", "twins", "noreject", "onlyreject", "backwards", "plans", "bare"):
        await demo.prompt(session, f"/permission {name}")
    kinds = {
        name: [option["kind"] for option in request["options"]]
        for name, request in zip(
            ("four", "twins", "noreject", "onlyreject", "backwards", "plans", "bare"),
            demo.requests("session/request_permission"),
            strict=True,
        )
    }
    assert kinds["twins"].count("allow_always") == 3
    assert not any(kind.startswith("reject") for kind in kinds["noreject"])
    assert kinds["onlyreject"] == ["reject_once"]
    assert kinds["backwards"][0] == "reject_always"
    assert kinds["plans"].count("allow_once") == 2
    assert demo.requests("session/request_permission")[-1]["toolCall"] == {"toolCallId": "never-announced"}
    for name in chosen:
        assert f'"{name}"' in demo.text()
    await demo.prompt(session, "/permission many")
    assert demo.text().count("of 3: you chose") == 3
    # An unknown option id is reported, and the turn ends.
    demo.answers["session/request_permission"] = lambda params: {
        "outcome": {"outcome": "selected", "optionId": "made-up"}
    }
    await demo.prompt(session, "/permission")
    assert "`made-up`, which is not one of the options" in demo.text()


async def test_withdraw_cancels_the_permission_request(demo: DemoClient) -> None:
    demo.unanswered.add("session/request_permission")
    session = await demo.open_session()
    await demo.prompt(session, "/withdraw 0")
    request = next(frame for frame in demo.frames if frame.get("method") == "session/request_permission")
    assert demo.requests("$/cancel_request") == [{"requestId": request["id"]}]
    demo.write({"id": request["id"], "error": {"code": -32800, "message": "Request cancelled"}})
    demo.unanswered.clear()
    await demo.prompt(session, "/withdraw 60")
    assert "You answered in time" in demo.text()
    assert len(demo.requests("$/cancel_request")) == 1


async def test_elicit_shows_forms_and_pages(demo: DemoClient) -> None:
    session = await demo.open_session()
    answers: list[Frame] = [
        {"action": "accept", "content": {"name": "Ada", "count": 3, "gift": True, "tags": ["new"]}},
        {"action": "decline"},
        {"action": "cancel"},
    ]
    demo.answers["elicitation/create"] = lambda params: answers.pop(0)
    for _ in range(3):
        await demo.prompt(session, "/elicit form")
    assert "| name | `'Ada'` |" in demo.text()
    assert "You declined the form. Nothing was sent." in demo.text()
    assert "You closed the form. Nothing was sent." in demo.text()
    fields = demo.requests("elicitation/create")[0]["requestedSchema"]["properties"]
    assert {field["type"] for field in fields.values()} == {"string", "integer", "number", "boolean", "array"}

    demo.answers["elicitation/create"] = lambda params: {"action": "accept"}
    await demo.prompt(session, "/elicit url")
    page = demo.requests("elicitation/create")[-1]
    assert page["url"].startswith("https://example.com/")
    assert demo.requests("elicitation/complete") == [{"elicitationId": page["elicitationId"]}]


async def test_error_answers_of_the_client_are_reported(demo: DemoClient) -> None:
    session = await demo.open_session()
    assert (await demo.prompt(session, "/elicit"))["stopReason"] == "end_turn"
    assert "answered one of my requests with error -32601" in demo.text()
    demo.sends_invalid = True

    def invalid_error(params: Frame) -> Frame:
        raise RpcError("only a string")

    demo.answers["elicitation/create"] = invalid_error
    assert (await demo.prompt(session, "/elicit"))["stopReason"] == "end_turn"
    assert "only a string" in demo.text()


async def test_images_sounds_and_resources_are_valid(demo: DemoClient) -> None:
    session = await demo.open_session()
    for command in ("/image", "/audio", "/resource"):
        await demo.prompt(session, command)
    by_type = {block["type"]: block for block in _blocks(demo)}
    png = base64.b64decode(by_type["image"]["data"])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (64, 32)
    assert base64.b64decode(by_type["audio"]["data"])[:4] == b"RIFF"
    assert by_type["resource_link"]["uri"].startswith("file:///")
    resources = [block["resource"] for block in _blocks(demo) if block["type"] == "resource"]
    assert [set(resource) - {"uri", "mimeType"} for resource in resources] == [{"text"}, {"blob"}]
    await demo.prompt(session, "/annotations")
    assert [block["annotations"]["audience"] for block in _blocks(demo) if "annotations" in block] == [
        ["user"],
        ["assistant"],
        ["user", "assistant"],
    ]


async def test_hostile_text_is_split_inside_escape_sequences(demo: DemoClient) -> None:
    await demo.prompt(await demo.open_session(), "/escape")
    assert "\x1b[2J" in demo.text()
    assert "\u202e" in demo.text()
    assert "\x1b" in [block["text"] for block in _blocks(demo)]
    assert "\x1b" in demo.calls()[0]["title"]


async def test_each_message_has_its_own_id(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/thoughts")
    messages = [update for update in demo.updates() if update["sessionUpdate"].startswith("agent_")]
    assert all(update["messageId"] for update in messages)
    assert len({update["messageId"] for update in messages}) == 4


async def test_echo_and_client_show_what_the_agent_received(demo: DemoClient) -> None:
    session = await demo.open_session()
    blocks: list[Frame] = [
        {"type": "text", "text": "/echo this"},
        {"type": "resource_link", "name": "README.md", "uri": "file:///somewhere/README.md"},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
    ]
    await demo.call("session/prompt", sessionId=session, prompt=blocks, _meta={"traceparent": "00-1-2-01"})
    assert "Your prompt had 4 blocks" in demo.text()
    assert "file:///somewhere/README.md" in demo.text()
    assert "(4 characters of base64)" in demo.text()
    await demo.prompt(session, "/client", _meta={"traceparent": "00-1-2-01"})
    assert '"traceparent": "00-1-2-01"' in demo.text()
    assert '"compaction": {}' in demo.text()


async def test_mcp_and_session_show_the_parameters_of_the_session(demo: DemoClient, tmp_path: Path) -> None:
    header, nowhere = {"name": "Key", "value": "secret"}, "http://127.0.0.1:1"
    env = [{"name": "TOKEN", "value": "secret"}]
    servers: list[Frame] = [
        {"name": "files", "command": "/nowhere/files", "args": ["-x"], "env": env},
        {"type": "http", "name": "web", "url": nowhere, "headers": [header]},
        {"type": "sse", "name": "old", "url": f"{nowhere}/sse", "headers": []},
    ]
    session = await demo.open_session(mcpServers=servers, additionalDirectories=[str(tmp_path)])
    await demo.prompt(session, "/mcp")
    assert "- **files**: `/nowhere/files -x` with TOKEN\n  - not connected: [Errno 2]" in demo.text()
    assert f"- **web**: `http {nowhere}` with Key\n  - not connected: " in demo.text()
    assert f"- **old**: `sse {nowhere}/sse`\n  - not connected: " in demo.text()
    assert "secret" not in demo.text()
    await demo.prompt(session, "/session")
    assert f"| additional folders | `{tmp_path}` |" in demo.text()


async def test_commands_changes_the_list_of_commands(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/commands")
    await demo.prompt(session, "/commands")
    listed = [len(update["availableCommands"]) for update in demo.updates("available_commands_update")]
    assert listed[-2] == 3
    assert listed[-1] > 30


async def test_usage_and_cost_grow(demo: DemoClient) -> None:
    session = await demo.open_session()
    answer = await demo.prompt(session, "/usage 50")
    updates = demo.updates("usage_update", session)
    assert updates[-1]["used"] >= updates[-1]["size"] // 2
    costs = [update["cost"]["amount"] for update in updates if "cost" in update]
    assert costs == sorted(costs)
    assert updates[0]["cost"]["currency"] == "USD"
    tokens = answer["usage"]
    assert tokens["totalTokens"] == tokens["inputTokens"] + tokens["outputTokens"]


async def test_flood_is_complete_and_not_stored(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/flood 3000 25")
    flood = [block["text"] for block in _blocks(demo)][:3000]
    assert {len(text) for text in flood} == {25}
    start = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    assert len(demo.frames) - start < 10


async def test_notices_compactions_and_unknown_messages_are_sent(demo: DemoClient) -> None:
    demo.sends_invalid = True
    session = await demo.open_session()
    for command in ("/notice", "/compact", "/unknown", "/stray"):
        assert (await demo.prompt(session, command))["stopReason"] == "end_turn"
    assert [update["severity"] for update in demo.updates("notice")] == ["info", "warning", "error"]
    compaction = [update.get("status") for update in demo.updates("compaction_update")]
    assert compaction == ["in_progress", "completed"]
    assert demo.updates("compaction_summary_chunk")
    tokens = demo.updates("compaction_update")[-1]["_meta"]
    assert tokens["postTokens"] == tokens["preTokens"] // 10
    assert demo.updates("_demo_mood")
    assert demo.requests("_acp-tui.demo/hello")
    assert demo.requests("_acp-tui.demo/ask")
    assert "error -32601" in demo.text()
    assert demo.updates(session="no-such-session")


async def test_noise_and_stderr_write_to_the_streams(demo: DemoClient) -> None:
    demo.sends_invalid = True
    session = await demo.open_session()
    await demo.prompt(session, "/noise")
    assert demo.invalid_lines == ["Loading configuration...", "{broken json", '"only a string"', "[]"]
    await demo.prompt(session, "/stderr 250")
    await demo.until(lambda: demo.stderr.endswith("demo: line 250 of 250 on stderr\n"))


async def test_malformed_frames_are_answered_with_errors(demo: DemoClient) -> None:
    await demo.initialize()
    for line in ("{not json", "[]", '"text"', '{"id":[1],"method":"x"}', '{"id":9,"method":{}}', ""):
        demo.write_line(line)
    demo.write({"id": 77, "result": {}})  # answers no request
    demo.write({"id": "seven", "method": "session/dance", "params": {}})
    answers = await demo.until(lambda: [frame for frame in demo.frames if frame.get("id") == "seven"])
    assert answers[0]["error"]["code"] == -32601
    errors = [frame["error"]["code"] for frame in demo.frames if "error" in frame and frame["id"] is None]
    assert errors == [-32700, -32600, -32600, -32600, -32600]
    assert "sessions" in await demo.call("session/list")
