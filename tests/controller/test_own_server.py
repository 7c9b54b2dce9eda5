"""The tools that acp-tui offers to agents, called by a scripted agent."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.controller.mcp.own_server import AcpChannel
from acp_tui.controller.request_params import Params
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.state import OwnToolCall
from tests.support.scripted_conversation import ScriptedConversation, ScriptedUser
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.controller.conftest import Converse

INSIDE_ACP = json.dumps({"capabilities": {"mcpCapabilities": {"acp": True}}})
BY_PROCESS = "{}"


class FakeScreen:
    """The screen of a user who looks at everything and answers every question."""

    def __init__(self, answer: FormAnswer | None = None, selected: str = "") -> None:
        self.shown: list[tuple[str, str | None]] = []
        self.alerts: list[str] = []
        self.opened: list[str] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer or FormAnswer("accept", {"answer": "blue"})
        self._selected = selected

    def show(self, call_id: str, text: str | None) -> bool:
        self.shown.append((call_id, text))
        return True

    def alert(self, message: str) -> None:
        self.alerts.append(message)

    async def ask(self, message: str, schema: dict[str, Any]) -> FormAnswer:
        self.asked.append((message, schema))
        return self._answer

    def open_url(self, url: str) -> bool:
        self.opened.append(url)
        return True

    def selection(self) -> str:
        return self._selected


@pytest.fixture
def config() -> Path:
    """The settings, in which the server is on."""
    file = paths().config / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[own_server]\nenabled = true\n")
    return file


@pytest.fixture
async def chat(config: Path, converse: Converse) -> ScriptedConversation:
    """A conversation with an agent that speaks MCP inside ACP, and a user who allows three calls."""
    user = ScriptedUser(*["allow_once"] * 3)
    chat = converse("script", INSIDE_ACP, question_handler=user)
    await chat.open()
    return chat


def with_screen(chat: ScriptedConversation, **facts: Any) -> FakeScreen:
    screen = FakeScreen(**facts)
    chat.conversation.own_server.connect_screen(screen)
    return screen


def calls(chat: ScriptedConversation) -> list[OwnToolCall]:
    return [entry for entry in chat.session.entries if isinstance(entry, OwnToolCall)]


async def test_the_agent_gets_the_tools_only_if_the_settings_say_so(converse: Converse) -> None:
    chat = converse("script", INSIDE_ACP)
    await chat.open()
    await chat.prompt(["report_params", "session/new"])
    assert json.loads(chat.said())["mcpServers"] == []


@pytest.mark.parametrize("offers", [INSIDE_ACP, BY_PROCESS])
async def test_an_agent_lists_and_calls_the_tools(offers: str, config: Path, converse: Converse) -> None:
    chat = converse("script", offers, question_handler=ScriptedUser("allow_once"))
    await chat.open()
    screen = with_screen(chat)
    await chat.prompt(["mcp", "tools/list", {}], ["say", "\n"], ["call_tool", "notify", {"message": "Done."}])
    listed, told = chat.said().strip().split("\n")
    assert [tool["name"] for tool in json.loads(listed)["tools"]] == [
        *("show_file", "show_diff", "ask_user", "notify", "open_url", "read_selection")
    ]
    assert told == "The user was notified."
    assert screen.alerts == ["Done."]
    assert [server.name for server in chat.conversation.mcp_servers] == ["acp-tui"]
    assert [entry.call.status for entry in calls(chat)] == ["completed"]
    assert calls(chat) == [entry for entry in chat.replayed().entries if isinstance(entry, OwnToolCall)]


async def test_without_a_screen_the_user_cannot_be_reached(
    chat: ScriptedConversation, tmp_path: Path
) -> None:
    (tmp_path / "project" / "a.txt").write_text("x")
    await chat.prompt(
        ["call_tool", "show_file", {"path": "a.txt"}],
        ["call_tool", "ask_user", {"question": "Which?"}],
        ["call_tool", "open_url", {"url": "https://example.org"}],
    )
    unreachable = "✘ The user cannot be reached: acp-tui runs without a screen."
    assert chat.said().splitlines() == [unreachable] * 3
    assert [entry.call.status for entry in calls(chat)] == ["failed"] * 3


async def test_a_file_is_shown_from_the_line_that_the_agent_names(
    chat: ScriptedConversation, tmp_path: Path
) -> None:
    (tmp_path / "project" / "a.txt").write_text("one\ntwo\n")
    screen = with_screen(chat)
    await chat.prompt(["call_tool", "show_file", {"path": "a.txt", "line": 2}])
    assert chat.said() == "Opened on the user's screen.\n"
    assert [text for _, text in screen.shown] == ["one\ntwo\n"]
    (entry,) = calls(chat)
    assert entry.call.locations[0].line == 2


async def test_a_diff_is_shown_from_two_texts_or_from_the_changes_of_a_file(
    chat: ScriptedConversation, tmp_path: Path
) -> None:
    file = tmp_path / "project" / "a.txt"
    with_screen(chat)
    await chat.prompt(
        ["call_tool", "show_diff", {"path": "a.txt", "old": "x\n", "new": "y\n"}],
        ["call_tool", "show_diff", {"path": "a.txt"}],
        ["write_file", str(file), "new\n"],
        ["call_tool", "show_diff", {"path": "a.txt"}],
    )
    assert chat.said().splitlines() == [
        "Opened on the user's screen.",
        "✘ The file has not changed since the session began.",
        "Opened on the user's screen.",
    ]
    shown = [entry.call.content[0] for entry in calls(chat) if entry.call.status == "completed"]
    assert [(diff.old, diff.new) for diff in shown] == [("x\n", "y\n"), (None, "new\n")]  # type: ignore[union-attr]
    assert await chat.conversation.changes()  # only the file that was written
    assert chat.session.tool_calls == {}


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("show_file", {}, "path must be a non-empty string."),
    ("show_file", {"path": "a\0b"}, "path contains a character that is not allowed in file names."),
    ("show_file", {"path": "\ud800"}, "path contains a character that is not allowed in file names."),
    ("show_file", {"path": "."}, "cannot be read: it is a directory."),
    ("show_file", {"path": "a.txt", "line": True}, "line must be a positive integer."),
    ("show_diff", {"path": "a.txt", "old": "x", "new": "x"}, "The old and the new text are the same."),
    ("show_diff", {"path": ".env"}, "so its changes are shown only in acp-tui's review."),
    ("ask_user", {"question": "?", "schema": {"type": "array"}}, "must be a JSON Schema of type object."),
    ("notify", {"message": "x" * 4_001}, "message has more than 4,000 characters."),
    ("read_selection", {}, "Nothing is selected."),
]


async def test_a_call_that_cannot_be_run_is_refused_without_a_question(chat: ScriptedConversation) -> None:
    with_screen(chat)
    await chat.prompt(*(["call_tool", tool, arguments] for tool, arguments, _ in REFUSED))
    for said, (_, _, reason) in zip(chat.said().splitlines(), REFUSED, strict=True):
        assert said.startswith("✘ ")
        assert said.endswith(reason)
    user = chat.conversation.options.question_handler
    assert isinstance(user, ScriptedUser)
    assert user.asked == []


async def test_the_user_is_asked_and_the_answer_is_not_recorded(chat: ScriptedConversation) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    screen = with_screen(chat, answer=FormAnswer("accept", {"size": 31415}))
    await chat.prompt(["call_tool", "ask_user", {"question": "Which size?", "schema": schema}])
    assert chat.said() == '{"size": 31415}\n'
    assert screen.asked == [("Which size?", schema)]
    (entry,) = calls(chat)
    assert "31415" not in str(entry)
    assert chat.conversation.log_path is not None
    lines = Path(chat.conversation.log_path).read_text().splitlines()
    assert [line for line in lines if "31415" in line and "agent_message_chunk" not in line] == []


@pytest.mark.parametrize(
    ("action", "sentence"),
    [("decline", "The user declined to answer."), ("cancel", "The user closed the question.")],
)
async def test_the_agent_learns_that_the_user_did_not_answer(
    action: Any, sentence: str, chat: ScriptedConversation
) -> None:
    with_screen(chat, answer=FormAnswer(action))
    await chat.prompt(["mcp", "tools/call", {"name": "ask_user", "arguments": {"question": "Which?"}}])
    result = json.loads(chat.said())
    assert result["content"][0]["text"] == sentence
    assert result["structuredContent"] == {"action": action}


async def test_a_page_is_opened_only_after_a_question_that_shows_its_host(
    config: Path, converse: Converse
) -> None:
    user = ScriptedUser("allow_once")
    chat = converse("script", INSIDE_ACP, question_handler=user, policy="yolo")
    await chat.open()
    screen = with_screen(chat)
    await chat.prompt(["call_tool", "open_url", {"url": "https://example.org/a?b=c"}])
    (question,) = user.asked
    assert question.facts == (("host", "example.org"), ("address", "https://example.org/a?b=c"))
    assert question.ladders("allow_always") == []
    assert screen.opened == ["https://example.org/a?b=c"]


MISLEADING = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://bank.example@evil.example/",
    "https:\\\\x",
    "http://[",
    "https://a b",
]


async def test_an_address_that_could_mislead_is_refused(chat: ScriptedConversation) -> None:
    screen = with_screen(chat)
    await chat.prompt(*(["call_tool", "open_url", {"url": url}] for url in MISLEADING))
    assert [said[:6] for said in chat.said().splitlines()] == ["✘ url "] * len(MISLEADING)
    assert screen.opened == []


async def test_the_agent_gets_the_selection_that_the_user_was_asked_about(chat: ScriptedConversation) -> None:
    with_screen(chat, selected="some text")
    await chat.prompt(["call_tool", "read_selection", {}])
    assert chat.said() == "some text\n"
    user = chat.conversation.options.question_handler
    assert isinstance(user, ScriptedUser)
    assert user.asked[0].call is calls(chat)[0].call
    assert "some text" in str(calls(chat)[0].call.content)


async def test_a_rejection_says_who_rejected(config: Path, converse: Converse) -> None:
    user = ScriptedUser("reject_once")
    chat = converse("script", INSIDE_ACP, question_handler=user)
    await chat.open()
    with_screen(chat)
    await chat.prompt(["call_tool", "notify", {"message": "x"}])
    chat.conversation.set_policy("deny")
    await chat.prompt(["call_tool", "notify", {"message": "x"}])
    assert chat.said() == '✘ The user rejected the call.\n✘ Not allowed: rejected by policy "deny".\n'


async def test_a_call_that_the_agent_has_just_asked_about_is_not_asked_about_again(
    chat: ScriptedConversation,
) -> None:
    def asks(tool: str, arguments: dict[str, Any]) -> list[Any]:
        call = {"toolCallId": tool, "title": f"mcp__acp-tui__{tool}", "rawInput": arguments}
        return ["permission", call]

    with_screen(chat, selected="some text")
    hello, other = {"message": "hello"}, {"message": "other"}
    await chat.prompt(asks("notify", hello), ["call_tool", "notify", hello])
    user = chat.conversation.options.question_handler
    assert isinstance(user, ScriptedUser)
    assert [question.kind for question in user.asked] == ["permission"]
    await chat.prompt(["call_tool", "notify", other])
    assert [question.kind for question in user.asked] == ["permission", "tool"]


async def test_the_selection_is_shown_even_if_the_agent_has_just_asked(
    chat: ScriptedConversation,
) -> None:
    with_screen(chat, selected="some text")
    call = {"toolCallId": "1", "title": "mcp__acp-tui__read_selection", "rawInput": {}}
    await chat.prompt(["permission", call], ["call_tool", "read_selection", {}])
    user = chat.conversation.options.question_handler
    assert isinstance(user, ScriptedUser)
    assert [question.kind for question in user.asked] == ["permission", "tool"]


async def test_a_rule_allows_one_tool(config: Path, converse: Converse) -> None:
    rule = parse_spec("mcp:acp-tui/notify", "allow")
    chat = converse("script", INSIDE_ACP, question_handler=ScriptedUser(), run_rules=[rule])
    await chat.open()
    screen = with_screen(chat)
    await chat.prompt(["call_tool", "notify", {"message": "x"}])
    assert screen.alerts == ["x"]


async def test_a_call_ends_when_the_user_stops_the_turn(config: Path, converse: Converse) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse("script", INSIDE_ACP, question_handler=user)
    conversation = await chat.open()
    turn = asyncio.create_task(chat.prompt(["call_tool", "notify", {"message": "x"}], ["wait_for_cancel"]))
    await until(lambda: bool(user.asked))
    await conversation.cancel()
    await turn
    assert [entry.call.status for entry in calls(chat)] == ["cancelled"]


# --------------------------------------------------------------------------- the user's own tools


TOOL = """
[tools.shout]
description = "Shout"
command = ["{python}", "-c", {program}]
timeout = {timeout}
[tools.shout.schema]
properties.text.type = "string"
required = ["text"]
"""


def add_tool(config: Path, program: str, timeout: float = 30) -> None:
    text = TOOL.format(python=sys.executable, program=json.dumps(program), timeout=timeout)
    config.write_text(config.read_text() + text)


HELLO = "import json, os, sys; print(json.load(sys.stdin)['text'].upper(), os.path.basename(os.getcwd()))"
BROKEN = "import sys; print('half'); sys.exit('broken')"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param(HELLO, "HELLO project\n\n", id="succeeds"),
        pytest.param(BROKEN, "✘ half\n\nbroken\nThe tool ended with exit code 1.\n", id="fails"),
        pytest.param(
            "import os; os.kill(os.getpid(), 9)", "✘ The tool was killed by SIGKILL.\n", id="is killed"
        ),
    ],
)
async def test_a_tool_of_the_user_gets_its_arguments_on_stdin(
    program: str, said: str, config: Path, converse: Converse
) -> None:
    add_tool(config, program)
    chat = converse("script", INSIDE_ACP, question_handler=ScriptedUser("allow_once"))
    await chat.open()
    await chat.prompt(["call_tool", "shout", {"text": "hello"}])
    assert chat.said() == said


async def test_a_long_output_is_cut(config: Path, converse: Converse) -> None:
    add_tool(config, "print('x' * 300_000)")
    chat = converse("script", INSIDE_ACP, question_handler=ScriptedUser("allow_once"))
    await chat.open()
    await chat.prompt(["call_tool", "shout", {"text": "hello"}])
    assert chat.said().count("x") == 200_000
    assert chat.said().endswith("\n… the output is longer than 200,000 bytes\n")


async def test_a_tool_of_the_user_is_stopped_after_its_timeout(config: Path, converse: Converse) -> None:
    add_tool(config, "import time; time.sleep(60)", timeout=0.2)
    chat = converse("script", INSIDE_ACP, question_handler=ScriptedUser("allow_once"))
    await chat.open()
    await chat.prompt(["call_tool", "shout", {"text": "hello"}])
    assert chat.said() == "✘ The tool did not end within 0.2 s and was stopped.\n"


async def test_arguments_that_do_not_match_the_schema_are_refused(config: Path, converse: Converse) -> None:
    add_tool(config, "")
    chat = converse("script", INSIDE_ACP, question_handler=ScriptedUser())
    await chat.open()
    await chat.prompt(["call_tool", "shout", {"text": 3}])
    assert chat.said() == "✘ The arguments do not match the schema: text must be text.\n"


# --------------------------------------------------------------------------- MCP inside ACP


async def test_errors_of_mcp_are_results_of_acp_and_unknown_servers_are_errors(
    chat: ScriptedConversation,
) -> None:
    envelope = {"serverId": "other", "requestId": "1", "method": "ping"}
    await chat.prompt(
        ["mcp", "resources/list", {}],
        ["say", "\n"],
        ["mcp", "tools/call", {"name": "nothing"}],
        ["say", "\n"],
        ["ask", "mcp/message", envelope],
    )
    unknown_method, unknown_tool, unknown_server = map(json.loads, chat.said().split("\n"))
    assert (unknown_method["code"], unknown_tool["code"]) == (-32601, -32602)
    assert unknown_tool["message"] == "Unknown tool: nothing"
    assert unknown_server["message"] == "mcp/message: there is no MCP server 'other' here"


async def test_a_withdrawn_request_ends_the_call(config: Path, converse: Converse) -> None:
    user = ScriptedUser(thinking=asyncio.Event())
    chat = converse("script", INSIDE_ACP, question_handler=user)
    await chat.open()
    sent = next(
        record.frame["params"]["mcpServers"][0]["serverId"]
        for record in chat.records
        if record.direction == "sent" and record.frame.get("method") == "session/new"
    )
    params = {"name": "notify", "arguments": {"message": "x"}}
    envelope = {"serverId": sent, "requestId": "7", "method": "tools/call", "params": params}
    await chat.prompt(["request", "mcp/message", envelope, "r1"], ["request", "mcp/message", envelope, "r2"])
    await until(lambda: bool(user.asked))
    await chat.prompt(["withdraw", "r1"])

    def answer_to(request_id: str) -> Any:
        frames = [record.frame for record in chat.records if record.direction == "sent"]
        return next((f.get("error") for f in frames if f.get("id") == request_id and "method" not in f), None)

    await until(lambda: answer_to("r1") is not None)
    assert answer_to("r1")["code"] == -32800
    assert "already running" in answer_to("r2")["message"]
    assert [entry.call.status for entry in calls(chat)] == ["cancelled"]


class SlowTools:
    """A server with one tool that never ends."""

    async def tools(self) -> list[dict[str, Any]]:
        return [{"name": "wait", "inputSchema": {"type": "object"}}]

    async def call(self, _name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError


async def test_the_progress_of_a_call_names_its_server_and_request(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    async def notify(method: str, params: dict[str, Any]) -> None:
        sent.append((method, params))

    channel = AcpChannel(SlowTools(), notify)
    monkeypatch.setattr(channel._messages, "_progress_seconds", 0.001)
    server_id = channel.declare()["serverId"]
    inner = {"name": "wait", "_meta": {"progressToken": "t"}}
    envelope = {"serverId": server_id, "requestId": "7", "method": "tools/call", "params": inner}
    call = asyncio.create_task(channel.answer(Params("mcp/message", envelope, "r")))
    await until(lambda: bool(sent))
    call.cancel()
    await asyncio.wait([call])
    method, params = sent[0]
    assert (method, params["serverId"], params["requestId"]) == ("mcp/message", server_id, "7")
    assert (params["method"], params["params"]["progressToken"]) == ("notifications/progress", "t")
