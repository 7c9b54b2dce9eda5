"""Opening, loading, resuming, forking and closing of sessions."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.session.events import AgentExited, AgentStarted, TerminalExited
from acp_tui.session.state import AgentMessage, Notice, SuggestedCommand, Thought, ToolCall, UserMessage
from tests.support.talk import Talk

TWO_MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask"},
        {"id": "https://x/code", "name": "Code", "description": "d"},
    ],
}
OPTIONS: list[dict[str, Any]] = [
    {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "plan",
        "options": [{"value": "plan", "name": "Plan"}, {"value": "code", "name": "Code"}],
    },
    {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False},
]


def test_the_name_and_capabilities_of_the_agent_are_stored() -> None:
    talk = Talk().opened(
        agentInfo={"name": "a", "title": "An\x1bAgent", "version": "1.2"},
        agentCapabilities={"loadSession": True, "sessionCapabilities": {"fork": {}, "list": None}},
        authMethods=[
            {"id": "web", "name": "Web"},
            {"id": "tty", "name": "Terminal", "type": "terminal", "args": ["login"], "env": {"A": "b"}},
            {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "API_KEY"}]},
            {
                "id": "old",
                "name": "Old",
                "_meta": {"terminal-auth": {"command": "x", "args": ["y"], "env": {"C": "d"}, "label": "L"}},
            },
            {"id": "both", "type": "terminal", "_meta": {"terminal-auth": {"command": "x"}}},
            {"id": "new", "type": "_face", "_meta": {"terminal-auth": {"args": ["y"]}}},
        ],
    )
    agent = talk.session.agent
    assert agent is not None
    assert (agent.name, agent.title, agent.version, agent.protocol_version) == ("a", "An␛Agent", "1.2", 1)
    assert agent.can("loadSession")
    assert agent.can("sessionCapabilities", "fork")
    assert not agent.can("sessionCapabilities", "list")
    assert [(m.id, m.kind, m.way, m.args, m.env, m.vars) for m in agent.auth_methods] == [
        ("web", "agent", "agent", [], {}, []),
        ("tty", "terminal", "terminal", ["login"], {"A": "b"}, []),
        ("key", "env_var", "unknown", [], {}, ["API_KEY"]),
        ("old", "agent", "suggested", [], {}, []),
        ("both", "terminal", "terminal", [], {}, []),
        ("new", "_face", "unknown", [], {}, []),
    ]
    assert agent.auth_methods[3].suggested == SuggestedCommand("x", ["y"], {"C": "d"}, "L")


def test_an_agent_may_omit_its_name() -> None:
    agent = Talk().opened().session.agent
    assert agent is not None
    assert (agent.name, agent.auth_methods, agent.capabilities) == (None, [], {})


def test_updates_before_the_answer_to_session_new_are_kept() -> None:
    talk = Talk()
    opening = talk.call("session/new", {"cwd": "/w"})
    talk.update("available_commands_update", session_id="later", availableCommands=[{"name": "go"}])
    talk.says("Welcome", session_id="later")
    talk.answer(opening, {"sessionId": "later"})
    assert [command.name for command in talk.session.commands] == ["go"]
    assert (talk.only(AgentMessage).text, talk.only(AgentMessage).stray) == ("Welcome", True)
    assert (talk.session.session_id, talk.session.cwd, talk.session.phase) == ("later", "/w", "idle")


def test_the_answer_to_session_new_does_not_end_a_message() -> None:
    talk = Talk()
    opening = talk.call("session/new", {"cwd": "/w"})
    talk.says("Wel", session_id="later")
    talk.answer(opening, {"sessionId": "later"})
    talk.says("come", session_id="later")
    assert talk.only(AgentMessage).text == "Welcome"


def test_updates_of_another_session_are_kept_apart_and_reported() -> None:
    talk = Talk().opened()
    talk.says("ours")
    talk.says("theirs", session_id="other")
    talk.says(" too", session_id="other")
    assert talk.only(AgentMessage).text == "ours"
    (theirs,) = talk.session.reducer_state.foreign["other"].session.entries
    assert isinstance(theirs, AgentMessage)
    assert theirs.text == "theirs too"
    assert "another session" in talk.only(Notice).text


# --------------------------------------------------------------------------- modes, options, models


def test_the_answer_to_set_mode_changes_the_mode() -> None:
    talk = Talk().opened({"modes": TWO_MODES})
    assert [mode.name for mode in talk.session.modes] == ["Ask", "Code"]
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": "https://x/code"}, {})
    talk.update("current_mode_update", currentModeId="https://x/code")
    assert talk.session.mode == "https://x/code"
    assert talk.only(Notice).text == "Mode: Code"


def test_a_mode_option_replaces_the_modes() -> None:
    talk = Talk().opened({"modes": TWO_MODES, "configOptions": OPTIONS})
    assert [mode.id for mode in talk.session.modes] == ["plan", "code"]
    assert talk.session.mode == "plan"
    assert talk.session.mode_option is talk.session.config_options[0]
    talk.update("current_mode_update", currentModeId="code")
    assert (talk.session.mode, talk.session.config_options[0].current) == ("code", "code")


def test_the_answer_to_set_config_option_replaces_all_options() -> None:
    talk = Talk().opened({"configOptions": OPTIONS})
    changed = [{**OPTIONS[0], "currentValue": "code"}]
    talk.ask("session/set_config_option", {"configId": "mode", "value": "code"}, {"configOptions": changed})
    assert [option.id for option in talk.session.config_options] == ["mode"]
    assert talk.session.mode == "code"
    assert talk.only(Notice).text == "Mode: Code"


def test_an_answer_without_options_confirms_the_value() -> None:
    talk = Talk().opened({"configOptions": OPTIONS})
    talk.ask("session/set_config_option", {"configId": "fast", "type": "boolean", "value": True}, {})
    assert talk.session.config_options[1].current is True
    assert talk.only(Notice).text == "Fast: on"


def test_options_of_unknown_types_and_grouped_choices_are_read() -> None:
    grouped = [
        {"group": "g", "name": "Group", "options": [{"value": "a", "name": "A"}]},
        {"value": "b", "name": "B"},
    ]
    options = [
        {"id": "x", "name": "X", "type": "slider", "currentValue": 3},
        {
            "id": "y",
            "name": "Y",
            "type": "select",
            "currentValue": "a",
            "options": grouped,
            "category": "odd",
        },
    ]
    slider, select = Talk().opened({"configOptions": options}).session.config_options
    assert (slider.kind, slider.current) == ("slider", "3")
    assert [(choice.value, choice.group) for choice in select.choices] == [("a", "Group"), ("b", None)]


def test_models_are_read_if_no_option_has_them() -> None:
    models = {
        "currentModelId": "m1",
        "availableModels": [{"modelId": "m1", "name": "One"}, {"modelId": "m2"}],
    }
    talk = Talk().opened({"models": models})
    assert [(choice.value, choice.name) for choice in talk.session.models] == [("m1", "One"), ("m2", "m2")]
    talk.ask("session/set_model", {"sessionId": "s1", "modelId": "m2"}, {})
    assert talk.session.model == "m2"
    option = {"id": "model", "name": "Model", "category": "model", "type": "select", "options": []}
    assert Talk().opened({"models": models, "configOptions": [option]}).session.models == []


# --------------------------------------------------------------------------- load, resume, fork


def replay(talk: Talk, *prompts: str, session_id: str = "s1") -> None:
    """Replay a history of complete messages and completed tool calls."""
    for number, prompt in enumerate(prompts):
        talk.echoes(prompt, messageId=f"u{number}", session_id=session_id)
        talk.thinks("hm", session_id=session_id)
        talk.tool(f"t{number}", status="pending", session_id=session_id)
        talk.says(f"answer to {prompt}", session_id=session_id)


def load(talk: Talk, *prompts: str, session_id: str = "s1") -> None:
    """Load a session with this history."""
    call = talk.call("session/load", {"sessionId": session_id, "cwd": "/w"})
    replay(talk, *prompts, session_id=session_id)
    talk.answer(call, None)


def test_a_loaded_history_is_shown() -> None:
    talk = Talk()
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    assert talk.session.phase == "loading"
    replay(talk, "one", "two")
    talk.answer(call, {"modes": TWO_MODES})
    assert (talk.session.phase, talk.session.session_id, talk.session.turn) == ("idle", "s1", 2)
    assert [message.text for message in talk.all(UserMessage)] == ["one", "two"]
    assert not any(entry.stray for entry in talk.session.entries)
    assert {call.status for call in talk.all(ToolCall)} == {"unfinished"}
    assert all(thought.ended_at is not None for thought in talk.all(Thought))
    assert talk.session.mode == "ask"


def test_a_failure_that_repeats_is_shown_once() -> None:
    talk = Talk()
    talk.client(AgentStarted(["wss://host/acp"], "/w"))
    talk.opened()
    for reason in ("The host was not found", "The host was not found", "The connection was refused"):
        talk.client(AgentExited(reason=reason))
    assert [notice.text for notice in talk.all(Notice)] == [
        "The host was not found",
        "The connection was refused",
    ]


def test_a_restart_does_not_show_the_history_twice() -> None:
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened()
    prompt = talk.prompt("one")
    talk.says("our answer")
    talk.end(prompt)
    talk.client(AgentExited(signal="SIGKILL"))
    talk.client(AgentStarted(["agent"], "/w"))
    before = list(talk.session.entries)
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    replay(talk, "one")
    talk.update("available_commands_update", availableCommands=[{"name": "new"}])
    talk.answer(call, {})
    assert talk.session.entries == before
    assert [command.name for command in talk.session.commands] == ["new"]
    follow_up = talk.prompt("two")
    talk.says("goes on")
    talk.end(follow_up)
    assert talk.all(AgentMessage)[-1].text == "goes on"


def test_the_prompts_that_only_a_replay_has_are_appended() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    load(talk, "one", "two")
    assert [message.text for message in talk.all(UserMessage)] == ["one", "two"]
    assert any(change.kind == "reset" for change in talk.changes)
    assert set(talk.session.tool_calls) == {"t1"}  # the known turn stays as it was, without a call
    assert talk.session.turn == 2


def test_the_history_of_another_session_replaces_the_entries() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    talk.end(talk.prompt("two"))
    load(talk, "different", session_id="s2")
    assert [message.text for message in talk.all(UserMessage)] == ["different"]


def test_a_failed_load_changes_nothing() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    before = list(talk.session.entries)
    call = talk.call("session/load", {"sessionId": "s2", "cwd": "/w"})
    replay(talk, "one", "two", session_id="s2")
    talk.fail(call, {"code": -32002, "message": "Resource not found", "data": {"sessionId": "s2"}})
    assert talk.session.entries[:-1] == before
    assert talk.only(Notice).text == "session/load failed: Resource not found: s2"
    assert (talk.session.phase, talk.session.session_id) == ("idle", "s1")
    talk.says("still ours")
    assert talk.only(AgentMessage).text == "still ours"


def test_terminals_of_the_old_agent_end_although_a_replay_runs() -> None:
    talk = Talk().opened()
    talk.prompt("one")
    talk.received({"id": 1, "method": "terminal/create", "params": {"command": "sleep"}})
    talk.reply(1, {"terminalId": "term-1"})
    talk.client(AgentExited(signal="SIGKILL"))
    talk.client(AgentStarted(["agent"], "/w"))
    call = talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.client(TerminalExited("term-1", None, "SIGKILL"))
    talk.tool("t", _meta={"terminal_output": {"terminal_id": "old", "data": "replayed"}})
    talk.answer(call, {})
    assert {name: terminal.signal for name, terminal in talk.session.terminals.items()} == {
        "term-1": "SIGKILL"
    }


def test_a_permission_request_during_the_load_is_shown_at_once() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    talk.call("session/load", {"sessionId": "s1", "cwd": "/w"})
    talk.asks_permission("p", toolCall={"toolCallId": "t", "title": "Run"})
    assert talk.session.tool_calls["t"].title == "Run"
    assert "p" in talk.session.permissions


def test_resume_keeps_the_entries() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    entries = len(talk.session.entries)
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, {})
    assert (len(talk.session.entries), talk.session.phase) == (entries, "idle")


def test_resuming_again_leaves_one_line_until_something_happens() -> None:
    talk = Talk().opened()
    talk.client(AgentStarted(["agent"], "/w", 1))
    talk.end(talk.prompt("one"))
    times = []
    for prompt in (None, None, "two"):
        talk.client(AgentStarted(["agent"], "/w", 2, in_new_run=True))
        talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, {})
        times.append(talk.only(Notice).at)
        if prompt is not None:
            talk.end(talk.prompt(prompt))
    assert times == sorted(set(times))
    assert talk.only(Notice).text == "Session resumed"
    talk.client(AgentStarted(["agent"], "/w", 3, in_new_run=True))
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, {})
    assert len(talk.all(Notice)) == 2


def test_the_conversation_continues_in_a_fork() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("one"))
    call = talk.call("session/fork", {"sessionId": "s1", "cwd": "/w"})
    talk.update("available_commands_update", session_id="s2", availableCommands=[{"name": "early"}])
    talk.answer(call, {"sessionId": "s2"})
    assert (talk.session.session_id, talk.session.cwd) == ("s2", "/w")
    assert [command.name for command in talk.session.commands] == ["early"]
    talk.says("from the copy", session_id="s2")
    talk.says("from the original", session_id="s1")
    assert talk.only(AgentMessage).text == "from the copy"
    assert talk.only(UserMessage).text == "one"
    talk.ask("session/close", {"sessionId": "s1"}, {})
    assert talk.session.phase == "idle"


def test_a_new_session_warns_that_the_agent_forgot_the_conversation() -> None:
    talk = Talk().opened({"modes": TWO_MODES})
    talk.end(talk.prompt("one"))
    talk.ask("session/new", {"cwd": "/w"}, {"sessionId": "s2"})
    assert "cannot see" in talk.only(Notice).text
    assert (talk.session.modes, talk.session.mode) == ([], None)


def test_a_session_may_require_signing_in() -> None:
    talk = Talk()
    talk.fail(talk.call("session/new", {"cwd": "/w"}), {"code": -32000, "message": "Authentication required"})
    assert (talk.session.auth_required, talk.session.phase) == (True, "connecting")
    wanted = []
    for method, result in (("authenticate", {}), ("logout", {}), ("session/new", {"sessionId": "s1"})):
        talk.ask(method, {"methodId": "web", "cwd": "/w"}, result)
        wanted.append(talk.session.auth_required)
    assert wanted == [False, True, False]


def test_a_completed_turn_shows_that_the_user_is_signed_in() -> None:
    talk = Talk().opened()
    talk.fail(talk.prompt(), {"code": -32000, "message": "Authentication required"})
    talk.end(talk.prompt())
    assert not talk.session.auth_required


def test_closing_the_session_ends_the_conversation() -> None:
    talk = Talk().opened()
    talk.ask("session/close", {"sessionId": "s1"}, {})
    assert (talk.session.phase, talk.only(Notice).text) == ("connecting", "The session was closed")


@pytest.mark.parametrize("result", [None, {}, {"sessionId": 3.5}, "s1"])
def test_a_new_session_without_an_id_is_a_fault(result: object) -> None:
    talk = Talk()
    talk.ask("session/new", {"cwd": "/w"}, result)
    assert talk.session.phase == "connecting"
    assert "has no sessionId" in talk.only(Notice).text
