"""The screen that shows one entry in full: long diffs, output and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.dialogs.detail import FullEntryScreen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open


def call(**fields: Any) -> list[Any]:
    """A step that shows a tool call."""
    update = {"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Work", "status": "completed"}
    return ["update", {**update, **fields}]


def text(*lines: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": "\n".join(lines)}}


def numbered(count: int, word: str = "line") -> list[str]:
    return [f"{word} {number}" for number in range(1, count + 1)]


CUT = {
    "output": (call(kind="execute", content=[text(*numbered(80, "out"))]), "out 2"),
    "a file": (call(kind="read", content=[text(*numbered(80, "row"))]), "row 79"),
    "Markdown": (
        call(kind="other", content=[text(*(f"- {line}" for line in numbered(80, "item")))]),
        "item 79",
    ),
    "a diff": (
        call(kind="edit", content=[{"type": "diff", "path": "a.py", "newText": "\n".join(numbered(80))}]),
        "line 79",
    ),
    "a command": (
        call(kind="execute", rawInput={"command": "\n".join(numbered(80, "cmd"))}, content=[text("done")]),
        "cmd 79",
    ),
    "files": (call(kind="search", locations=[{"path": name} for name in numbered(80, "file")]), "file 79"),
    "raw input": (call(kind="other", rawInput=dict.fromkeys(numbered(80, "key"), 1)), "key 79"),
    "a title": (call(kind="other", title=" ".join(numbered(80, "word"))), "word 79"),
}
"""Calls that the transcript shows in part, each with words that it omits."""


async def last_entry(ui: ConversationUi) -> None:
    """The cursor is on it."""
    await ui.press("alt+up")


async def test_a_key_shows_everything_that_the_transcript_omits(open_ui: Open) -> None:
    async with open_ui(size=(100, 70)) as ui:
        await ui.send(*(["update", {**step[1], "toolCallId": what}] for what, (step, _) in CUT.items()))
        await ui.ready()
        for what in reversed(CUT):
            hidden = CUT[what][1]
            await last_entry(ui)  # then the one above it
            if "▎▸" in ui.text():
                await ui.press("space")
            await ui.sees("…" if what == "a title" else "more")
            assert hidden not in ui.text()
            await ui.press("v")
            await ui.sees("Tool call")
            await ui.press("end" if what != "output" else "home")
            await ui.sees(hidden)
            assert "▸" not in ui.text()
            await ui.press("escape")
            await ui.until(lambda: ui.app.screen is ui.screen)


async def test_clicking_a_marker_for_omitted_lines_shows_the_full_entry(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(CUT["a diff"][0])
        await ui.ready()
        await ui.sees("more lines")
        row = next(number for number, line in enumerate(ui.lines()) if "more lines" in line)
        await ui.pilot.click(offset=(10, row))
        await ui.until(lambda: isinstance(ui.app.screen, FullEntryScreen))
        await ui.press("end")
        await ui.sees("line 80")


async def test_a_running_call_is_followed_in_full(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui() as ui:
        await ui.send(
            call(kind="execute", status="in_progress", content=[text(*numbered(80))]),
            ["wait_for_file", str(tmp_path / "go")],
            call(kind="execute", status="completed", content=[text(*numbered(90))]),
        )
        await ui.sees("line 80")
        await last_entry(ui)
        await ui.press("v", "end")
        await ui.sees("line 80")
        (tmp_path / "go").touch()
        await ui.sees("line 90")


@pytest.mark.parametrize("kind", ["agent_thought_chunk", "agent_message_chunk"])
async def test_a_growing_message_is_followed_in_full(open_ui: Open, tmp_path: Path, kind: str) -> None:
    def chunk(words: str) -> list[Any]:
        return ["update", {"sessionUpdate": kind, "content": {"type": "text", "text": words}}]

    async with open_ui() as ui:
        await ui.send(
            chunk("\n\n".join(numbered(80))),
            ["wait_for_file", str(tmp_path / "go")],
            chunk("\n\nthe end"),
            ["say", "done"],
        )
        await ui.sees("line 80")
        await last_entry(ui)
        await ui.press("v", "end")
        await ui.sees("line 80")
        (tmp_path / "go").touch()
        await ui.sees("the end")


async def test_a_long_answer_is_shown_to_its_end_also_after_a_resize(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_tui.ui.dialogs.detail.STEP_SECONDS", 0.0)
    async with open_ui() as ui:
        await ui.send(["say", "\n".join(f"- {item}" for item in numbered(500, "item"))])
        await ui.ready()
        await last_entry(ui)
        await ui.press("v")
        await ui.sees("of 500")
        await ui.pilot.resize_terminal(90, 30)
        await ui.press("end")
        await ui.sees("item 500")
