"""Terminals of acp-tui."""

from __future__ import annotations

from acp_tui.session.events import TerminalExited, TerminalOutput
from acp_tui.session.state import Content, Terminal, TerminalRef, ToolCall
from tests.support.talk import Talk


def created(talk: Talk, request_id: str) -> None:
    """Answer a request for a terminal with its id."""
    talk.reply(request_id, {"terminalId": "term-1"})


def asked(talk: Talk, request_id: str, command: str) -> None:
    params = {"sessionId": "s1", "command": command}
    talk.received({"id": request_id, "method": "terminal/create", "params": params})


def ended(talk: Talk, text: str) -> None:
    talk.client(TerminalOutput("term-1", text))
    talk.client(TerminalExited("term-1", 0))


def test_a_command_that_ends_before_its_terminal_is_created_is_one_entry() -> None:
    talk = Talk().opened()
    talk.prompt()
    asked(talk, "t", "echo")
    ended(talk, "one")
    created(talk, "t")
    terminal = talk.only(Terminal)
    assert (terminal.command, terminal.output.head, terminal.exit_code) == ("echo", "one", 0)


def test_a_reused_id_is_another_terminal() -> None:
    talk = Talk().opened()
    talk.prompt()
    for number in ("one", "two"):
        asked(talk, number, f"echo {number}")
        created(talk, number)
        ended(talk, number)
    assert [entry.output.head for entry in talk.all(Terminal)] == ["one", "two"]


def test_a_command_of_a_call_that_names_no_terminal_is_shown_once() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.tool("c", title="execute", kind="execute", rawInput={"command": "ls -a", "args": ["my file"]})
    params = {"sessionId": "s1", "command": "/bin/sh", "args": ["-lc", "ls -a 'my file'"]}
    talk.received({"id": "t", "method": "terminal/create", "params": params})
    created(talk, "t")
    ended(talk, "my file\r\n")
    text = {"type": "text", "text": "my file\n\n(Exit code: 0)"}
    talk.tool_update("c", status="completed", content=[{"type": "content", "content": text}])
    call = talk.only(ToolCall)
    assert talk.session.terminal_calls["term-1"] is call
    reference, rest = call.content
    assert reference == TerminalRef("term-1", inferred=True)
    assert isinstance(rest, Content)
    assert rest.text == "(Exit code: 0)"


def test_a_terminal_with_another_command_than_the_call_stays_an_entry_of_its_own() -> None:
    talk = Talk().opened()
    talk.prompt()
    talk.tool("c", title="execute", kind="execute", rawInput={"command": "ls"})
    asked(talk, "t", "rm x")
    created(talk, "t")
    assert talk.session.terminal_calls == {}
