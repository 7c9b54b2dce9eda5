"""`!command`: the user's own commands on the screen, and their output on its way to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Content, Terminal, UserMessage
from tests.support.desk import agent, offers
from tests.support.terminal import Terminal as RealTerminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Desk, Open

EMBEDS = offers(capabilities={"promptCapabilities": {"embeddedContext": True}})


def commands(desk: Desk) -> list[Terminal]:
    return [entry for entry in desk.session.entries if isinstance(entry, Terminal)]


async def run(desk: Desk, line: str) -> None:
    """Type it."""
    desk.prompt.load(line)
    desk.prompt.focus()
    await desk.press("enter")


async def test_a_command_runs_and_shows_its_output(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.press("exclamation_mark")
        await desk.sees(" $ !")
        await desk.press(*"echo", "space", *"hello", "enter")
        await desk.sees("! echo hello", "    hello", "✔")
        assert desk.prompt.text == ""
        assert " ❯ " in desk.text()
        assert desk.prompts() == []
        await desk.press("up")
        assert desk.prompt.text == "!echo hello"


async def test_its_output_goes_with_the_next_prompt_when_the_user_wants(open_desk: Open) -> None:
    async with open_desk("script", EMBEDS) as desk:
        await run(desk, "!printf 'one\\ntwo\\n'; exit 3")
        await desk.sees("Ctrl+L attach output")
        await desk.press(*"why", "ctrl+l", "enter")
        await desk.until(desk.said)
        (message,) = [entry for entry in desk.session.entries if isinstance(entry, UserMessage)]
        (content,) = [part for part in message.parts if isinstance(part, Content)]
        assert content.text == "$ printf 'one\\ntwo\\n'; exit 3\none\ntwo\n[exit code 3]\n"
        await desk.sees("┃ why [output of printf 'one\\ntwo\\n")
        assert "Ctrl+L" not in desk.text()


async def test_it_runs_while_the_agent_works(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(["say", "working on it"], ["wait"])
        await desk.until(desk.said)
        await run(desk, "!echo beside")
        await desk.sees("    beside")
        assert desk.session.working
        assert desk.queue == []
        await desk.press("escape")
        await desk.ready()


async def test_escape_and_x_end_it(open_desk: Open) -> None:
    async with open_desk() as desk:
        await run(desk, "!sleep 1000")
        await desk.sees("! sleep 1000", "x stops it")
        await desk.press("escape")
        await desk.sees("SIGTERM")
        await run(desk, "!sleep 2000")
        await desk.sees("! sleep 2000", "x stops it")
        await desk.press("alt+up", "x")
        await desk.until(lambda: [entry.signal for entry in commands(desk)] == ["SIGTERM", "SIGTERM"])
        assert desk.app.is_running


async def test_the_output_of_any_command_is_attached_from_its_entry(open_desk: Open) -> None:
    async with open_desk() as desk:
        await run(desk, "!echo hello")
        await desk.sees("    hello")
        await desk.press("alt+up", "a")
        await desk.until(lambda: desk.prompt.text == "[output of echo hello] ")


async def test_a_lone_exclamation_mark_runs_nothing(open_desk: Open) -> None:
    async with open_desk() as desk:
        await run(desk, "! ")
        await desk.until(lambda: any("Type a command" in toast for toast in desk.toasts()))
        assert desk.prompt.text == "! "


async def test_what_begins_with_a_space_goes_to_the_agent(open_desk: Open) -> None:
    async with open_desk() as desk:
        await run(desk, " !important")
        await desk.until(lambda: desk.prompts() == [" !important"])
        assert commands(desk) == []


def test_a_command_runs_on_a_real_terminal(tmp_path: Path) -> None:
    with RealTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("Message scripted")
        terminal.type("!echo $((6*7))-$(test -t 0 && echo tty)\r")
        terminal.wait_for("42-tty")
        terminal.type("!sleep 1000\r")
        terminal.wait_for("x stops it")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert terminal.left_behind() == []
