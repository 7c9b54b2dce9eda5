"""Opening images, links and files of an entry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui import web_browser
from acp_tui.session.state import AgentMessage, Content
from acp_tui.ui.terminal import open_externally
from tests.support.conversation_ui import agent
from tests.support.terminal import MODES_ON, PreloadedTerminal

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open

RESOURCE = "https://example.com/resource"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of pages opened in the browser."""
    pages: list[str] = []

    def open_page(url: str) -> bool:
        pages.append(url)
        return True

    monkeypatch.setattr(web_browser, "open_page", open_page)
    return pages


def content(**fields: Any) -> list[Any]:
    """Return a step of the agent that sends a content block."""
    return ["update", {"sessionUpdate": "agent_message_chunk", "content": fields}]


async def on_the_answer(ui: ConversationUi, *steps: Any) -> None:
    """Send a prompt and select the answer."""
    await ui.send(*steps)
    await ui.ready()
    await ui.press("alt+up")
    ui.transcript.cursor = [entry.id for entry in ui.session.entries if isinstance(entry, AgentMessage)][-1]


async def test_an_image_is_saved_in_a_private_file(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch, visited: list[str]
) -> None:
    monkeypatch.setattr(open_externally, "OPENERS", ())
    async with open_ui() as ui:
        await on_the_answer(ui, content(type="image", data=PIXEL, mimeType="image/png"))
        await ui.sees("▣ image  image/png  70 B")
        await ui.press("o")
        await ui.until(ui.toasts)
        found = re.fullmatch(r"Saved to (/.*\.png)\.", ui.toasts()[-1])
        assert found is not None
        file = Path(found[1])
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_mode & 0o077 == 0
        file.unlink()
    assert visited == []


@pytest.mark.parametrize(
    ("mime", "says"), [("image/png", "Opened"), ("text/html", "Saved to"), ("image/svg+xml", "Saved to")]
)
def test_only_files_that_cannot_contain_code_are_opened(
    monkeypatch: pytest.MonkeyPatch, mime: str, says: str
) -> None:
    monkeypatch.setattr(open_externally, "OPENERS", ("true",))
    sentence = open_externally.open_externally(Content("resource", mime=mime, data=PIXEL))
    verb, _, path = sentence.removesuffix(".").rpartition(" ")
    Path(path).unlink()
    assert verb == says


async def test_links_of_any_form_are_opened_in_the_browser(open_ui: Open, visited: list[str]) -> None:
    other = "and [another](javascript:alert(1))"
    async with open_ui() as ui:
        for address, answer in (
            ("https://example.com/words", ["say", f"see [it](https://example.com/words) {other}"]),
            ("https://example.com/bare", ["say", f"https://example.com/bare {other}"]),
            ("https://example.com/angle", ["say", f"<https://example.com/angle>. {other}"]),
            ("https://example.com/resource", content(type="resource_link", name="A", uri=RESOURCE)),
        ):
            await on_the_answer(ui, answer)
            await ui.press("o")
            await ui.until(lambda: visited[-1:] == [address])  # noqa: B023
    assert len(visited) == 4


async def test_the_user_chooses_one_of_several_links(open_ui: Open, visited: list[str]) -> None:
    async with open_ui() as ui:
        await on_the_answer(ui, ["say", "[a](https://a.example) [b](https://b.example) https://a.example"])
        await ui.press("o")
        await ui.sees("Open which link?", "https://a.example", "https://b.example")
        await ui.press("down", "enter")
        await ui.until(lambda: visited == ["https://b.example"])


async def test_an_entry_with_nothing_to_open_or_an_invalid_image_is_reported(
    open_ui: Open, visited: list[str]
) -> None:
    async with open_ui() as ui:
        await on_the_answer(ui, ["say", "just words, and javascript:alert(1)"])
        await ui.press("o")
        await ui.until(lambda: ui.toasts() == ["There is nothing to open here."])
        await on_the_answer(ui, content(type="image", data="%%%", mimeType="image/png"))
        await ui.press("o")
        await ui.until(lambda: ui.toasts()[1:] == ["The agent sent invalid base64."])
    assert visited == []


def test_a_link_to_a_file_opens_in_the_editor(tmp_path: Path) -> None:
    editor, told = tmp_path / "editor", tmp_path / "told"
    editor.write_text(f'#!/bin/sh\necho "$@" > {told}\n', encoding="utf-8")
    editor.chmod(0o755)
    notes = tmp_path / "notes.md"
    notes.write_text("some\n", encoding="utf-8")
    prompt = f"[words]({notes.as_uri()})"
    command = ("--command", agent("script"), prompt)
    with PreloadedTerminal(*command, cwd=tmp_path, EDITOR=str(editor), VISUAL="") as terminal:
        terminal.wait_for("   words", "idle")
        terminal.type("\x1b[1;3A")
        terminal.wait_for("e $EDITOR")
        terminal.type("o")
        terminal.until(lambda: terminal.raw.count(MODES_ON[0]) == 2)
        terminal.until(lambda: b"$EDITOR" in terminal.raw.rpartition(MODES_ON[0])[2])  # the screen is back
        assert terminal.quit() == 0
    assert told.read_text(encoding="utf-8").strip() == str(notes)
