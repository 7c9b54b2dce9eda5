"""The user's own shell commands: `!command`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Content, Terminal, UserMessage
from tests.support.conversation_ui import agent, offers
from tests.support.terminal import PreloadedTerminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

EMBEDS = offers(capabilities={"promptCapabilities": {"embeddedContext": True}})


def commands(ui: ConversationUi) -> list[Terminal]:
    return [entry for entry in ui.session.entries if isinstance(entry, Terminal)]


async def run(ui: ConversationUi, line: str) -> None:
    """Type a command and run it."""
    ui.prompt.load(line)
    ui.prompt.focus()
    await ui.press("enter")


async def test_a_command_runs_and_its_output_is_shown_and_attached_from_its_entry(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.press("exclamation_mark")
        await ui.sees(" $ !")
        await ui.press(*"echo", "space", "4", "2", "enter")
        await ui.sees("! echo 42", "    42", "✔")
        assert ui.prompt.text == ""
        assert " ❯ " in ui.text()
        assert ui.prompts() == []
        await ui.press("up")
        assert ui.prompt.text == "!echo 42"
        ui.prompt.load("")
        await ui.press("alt+up", "a")
        await ui.until(lambda: ui.prompt.text == "[output of echo 42] ")


async def test_output_can_be_attached_to_the_next_prompt(open_ui: Open) -> None:
    async with open_ui("script", EMBEDS) as ui:
        await run(ui, "!printf 'one\\ntwo\\n'; exit 3")
        await ui.sees("Ctrl+L attach output")
        await ui.press(*"why", "ctrl+l", "enter")
        await ui.until(ui.said)
        (message,) = [entry for entry in ui.session.entries if isinstance(entry, UserMessage)]
        (content,) = [part for part in message.parts if isinstance(part, Content)]
        assert content.text == "$ printf 'one\\ntwo\\n'; exit 3\none\ntwo\n[exit code 3]\n"
        await ui.sees("┃ why [output of printf 'one\\ntwo\\n")
        assert "Ctrl+L" not in ui.text()


async def test_a_command_runs_during_a_turn(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "working on it"], ["wait_for_cancel"])
        await ui.until(ui.said)
        await run(ui, "!echo beside")
        await ui.sees("    beside")
        assert ui.session.working
        assert ui.queue == []
        await ui.press("escape")
        await ui.ready()


async def test_escape_and_x_stop_a_command(open_ui: Open) -> None:
    async with open_ui() as ui:
        await run(ui, "!sleep 1000")
        await ui.sees("! sleep 1000", "x stops it")
        await ui.press("escape")
        await ui.sees("SIGTERM")
        await run(ui, "!sleep 2000")
        await ui.sees("! sleep 2000", "x stops it")
        await ui.press("alt+up", "x")
        await ui.until(lambda: [entry.signal for entry in commands(ui)] == ["SIGTERM", "SIGTERM"])
        assert ui.app.is_running


async def test_a_lone_exclamation_mark_or_one_after_a_space_runs_nothing(open_ui: Open) -> None:
    async with open_ui() as ui:
        await run(ui, "! ")
        await ui.until(lambda: any("Type a command" in toast for toast in ui.toasts()))
        assert ui.prompt.text == "! "
        await run(ui, " !important")
        await ui.until(lambda: ui.prompts() == [" !important"])
        assert commands(ui) == []


def test_a_command_runs_on_a_real_terminal(tmp_path: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=tmp_path) as terminal:
        terminal.wait_for("Message scripted")
        terminal.type("!echo $((6*7))-$(test -t 0 && echo tty)\r")
        terminal.wait_for("42-tty")
        terminal.type("!sleep 1000\r")
        terminal.wait_for("x stops it")
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
