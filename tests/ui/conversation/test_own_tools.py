"""What the user sees of the tools that acp-tui offers to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui import web_browser
from acp_tui.session.state import OwnToolCall
from tests.support.conversation_ui import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import Open

INSIDE_ACP = offers(capabilities={"mcpCapabilities": {"acp": True}})


@pytest.fixture(autouse=True)
def tools_are_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_TUI_OWN_SERVER_ENABLED", "true")


async def test_a_file_opens_at_the_line_that_the_agent_names(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "long.py").write_text(
        "".join(f"row{number} = {number}\n" for number in range(1, 200))
    )
    async with open_ui("script", INSIDE_ACP) as ui:
        await ui.send(["call_tool", "show_file", {"path": "long.py", "line": 120}])
        await ui.asked()
        assert "MCP server   acp-tui" in ui.text()
        assert "tool         show_file" in ui.text()
        await ui.press("a")
        await ui.sees("▸120  row120 = 120", " 117  row117 = 117")
        await ui.press("escape")
        await ui.sees("acp-tui › show_file: long.py:120")


async def test_nothing_covers_a_prompt_that_is_being_written(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "a.txt").write_text("content")
    async with open_ui("script", INSIDE_ACP, options=("--allow", "mcp:acp-tui")) as ui:
        go = tmp_path / "project" / "go"
        await ui.send(["wait_for_file", str(go)], ["call_tool", "show_file", {"path": "a.txt"}])
        await ui.paste("draft")
        go.touch()
        await ui.until(ui.said)
        assert ui.said() == ["Added to the transcript, but not opened, because the user is busy.\n"]
        assert ui.prompt.text == "draft"
        assert ui.toasts() == ["scripted wants to show you a file. See the transcript."]


async def test_a_diff_and_a_notification_are_shown_and_become_entries(open_ui: Open) -> None:
    async with open_ui("script", INSIDE_ACP, options=("--allow", "mcp:acp-tui")) as ui:
        await ui.send(
            ["call_tool", "show_diff", {"path": "a.py", "old": "x = 1\n", "new": "x = 2\n"}],
            ["call_tool", "notify", {"message": "All [b]tests[/b] pass."}],
        )
        await ui.sees("acp-tui tool call", "- x = 1", "+ x = 2")
        await ui.press("escape")
        await ui.sees("acp-tui › show_diff: a.py", "+ x = 2", "acp-tui › notify: All [b]tests[/b] pass.")
        assert ui.toasts() == ["scripted: All [b]tests[/b] pass."]


async def test_a_page_is_opened_after_a_question_that_shows_its_address_but_not_in_the_terminal(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_page(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setenv("BROWSER", "/usr/bin/w3m")
    page = ["call_tool", "open_url", {"url": "https://example.org/path?query=1"}]
    async with open_ui("script", INSIDE_ACP, options=("--allow", "mcp:acp-tui")) as ui:
        await ui.send(page, page)
        await ui.asked()
        await ui.press("a")
        await ui.until(ui.said)
        assert ui.said() == ["✘ The page could not be opened: no browser could be started.\n"]
        monkeypatch.setattr(web_browser, "open_page", open_page)
        await ui.asked()
        assert "host         example.org" in ui.text()
        assert "address      https://example.org/path?query=1" in ui.text()
        assert opened == []
        await ui.press("a")
        await ui.ready()
        assert opened == ["https://example.org/path?query=1"]


async def test_the_question_shows_the_selected_text(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui("script", INSIDE_ACP) as ui:
        go = tmp_path / "project" / "go"
        await ui.send(["wait_for_file", str(go)], ["call_tool", "read_selection", {}])
        await ui.paste("select me")
        await ui.press("ctrl+shift+left")
        go.touch()
        await ui.asked()
        assert "│ me  " in ui.text()
        await ui.press("a")
        await ui.until(ui.said)
        assert ui.said() == ["me\n"]


async def test_a_key_turns_the_tools_off_from_the_next_session_on(open_ui: Open) -> None:
    async with open_ui("script", INSIDE_ACP) as ui:
        await ui.press("shift+f5")
        (toast,) = ui.toasts()
        assert "until acp-tui exits, scripted does not get acp-tui's own tools." in toast
        await ui.press("f5")
        await ui.until(lambda: ui.session.phase == "idle" and ui.session.mcp_servers == [])
        await ui.press("shift+f5")
        assert "scripted gets acp-tui's own tools" in ui.toasts()[-1]


COLOURS = {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}}


async def test_a_question_is_a_form_whose_answer_goes_to_the_agent(open_ui: Open) -> None:
    async with open_ui("script", INSIDE_ACP, options=("--allow", "mcp:acp-tui")) as ui:
        await ui.send(["call_tool", "ask_user", {"question": "Which [b]name?"}])
        await ui.sees("Question", "Which [b]name?", "Answer", "Enter review")
        assert "waiting for your answer" in ui.status()
        await ui.paste("Ada")
        await ui.press("ctrl+s")
        await ui.sees("Send this to scripted?", "Ada")
        await ui.press("enter")
        await ui.until(ui.said)
        assert ui.said() == ["Ada\n"]
        assert "Ada" not in str([entry for entry in ui.session.entries if isinstance(entry, OwnToolCall)])


async def test_a_question_can_be_closed_and_declined_and_closes_when_the_turn_is_stopped(
    open_ui: Open,
) -> None:
    questions = [["call_tool", "ask_user", {"question": f"Which {n}?", "schema": COLOURS}] for n in range(3)]
    async with open_ui("script", INSIDE_ACP, options=("--allow", "mcp:acp-tui")) as ui:
        await ui.send(*questions, ["wait_for_cancel"])
        for number, key in enumerate(("escape", "ctrl+n")):
            await ui.sees(f"Which {number}?", "red")
            await ui.press(key)
        await ui.sees("Which 2?", "Enter review")
        assert "".join(ui.said()) == "The user closed the question.\nThe user declined to answer.\n"
        await ui.screen.runner.conversation.cancel()  # type: ignore[union-attr]
        await ui.until(lambda: "Enter review" not in ui.text())
        await ui.ready()


async def test_the_reason_of_a_rejection_is_the_result_of_the_call(open_ui: Open) -> None:
    async with open_ui("script", INSIDE_ACP) as ui:
        await ui.send(["call_tool", "notify", {"message": "Done."}])
        await ui.asked()
        await ui.press("t")
        await ui.paste("later")
        await ui.press("enter")
        await ui.until(ui.said)
        await ui.ready()
        assert ui.said() == ["✘ The user rejected the call: later\n"]
        assert len(ui.prompts()) == 1
