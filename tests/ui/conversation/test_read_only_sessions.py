"""Sessions that the agent cannot open again: they can be read, and continued in a new session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.ui.conversation import session_screen
from acp_tui.ui.conversation.earlier_conversation import INTRODUCTION
from acp_tui.ui.conversation.reopening import ReadOnlyLine
from tests.support.conversation_ui import offers
from tests.support.looks import Show, look

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from tests.support.conversation_ui import ConversationUi, Open

CANNOT = offers()
REFUSES = offers(capabilities={"loadSession": True}, refuses=["session/load"])
FORGETS = offers(capabilities={"loadSession": True}, refuses=["session/load"], turns={"bye": [["exit", 3]]})


def folder_of(one: ConversationUi) -> str:
    folder = one.made[0].conversation.folder.id
    assert folder is not None
    return folder


def methods_sent(one: ConversationUi) -> list[str]:
    log = one.made[0].conversation.log_path
    assert log is not None
    records = map(json.loads, Path(log).read_text(encoding="utf-8").splitlines())
    return [
        record["frame"]["method"]
        for record in records
        if record["dir"] == "sent"
        if "method" in record["frame"]
    ]


@pytest.mark.parametrize(
    ("agent", "reason"), [(CANNOT, "neither resume nor load"), (REFUSES, "The setting is locked")]
)
async def test_a_session_that_cannot_be_opened_is_read_only_and_continues_in_a_new_one(
    open_ui: Open, agent: str, reason: str
) -> None:
    async with open_ui("script", agent) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.ready()
        await one.press(*"draft")
        known = folder_of(one)
    async with open_ui("script", agent, options=("--resume", known), wait=False) as again:
        await again.sees("┃ first", "⊘ Read-only.", reason, "Enter continue in a new session · F5 try again")
        assert again.toasts() == []
        assert ("session/load" in methods_sent(again)) is (agent == REFUSES)
        assert "session/resume" not in methods_sent(again)
        await again.press("f5")
        await again.until(
            lambda: again.text().count("Agent restarted") == 1 and "read-only" in again.status()
        )
        await again.press("x", "enter")
        await again.sees("the agent cannot see the conversation above")
        await again.until(lambda: again.prompt.text.startswith(INTRODUCTION))
        assert again.prompt.text.endswith("</earlier_conversation>\n\ndraft")
        assert not again.screen.query(ReadOnlyLine)
        await again.press(*"ed", "enter")
        await again.until(lambda: again.said()[-1:] == [again.prompts()[-1]])
        assert again.prompts()[-1].endswith("drafted")


async def test_read_only_is_shown_also_if_earlier_changes_are_drawn_later(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_ui("script", CANNOT) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        known = folder_of(one)
    monkeypatch.setattr(session_screen, "FRAME_SECONDS", 0.5)
    async with open_ui("script", CANNOT, options=("--resume", known), wait=False) as again:
        await again.sees("⊘ Read-only.")
        await again.until(lambda: "read-only" in again.status())
        await again.press("f5")
        await again.until(lambda: again.text().count("Agent restarted") == 1)
        await again.until(lambda: "read-only" in again.status())


async def test_a_read_only_session_offers_no_prompt_to_send(open_ui: Open) -> None:
    async with open_ui("script", CANNOT) as one:
        await one.send(["say", "first"], ["wait_for_cancel"])
        await one.until(lambda: one.said() == ["first"])
        await one.send("second")
        await one.press("escape")
        await one.sees("queued, paused: press Enter in an empty prompt to continue", "F6 send again")
        known = folder_of(one)
    async with open_ui("script", CANNOT, options=("--resume", known), wait=False) as again:
        await again.sees("⊘ Read-only.", "queued, paused", "second")
        assert "empty prompt to continue" not in again.text()
        assert "send again" not in again.text()
        again.transcript.focus()
        await again.press("home", "e")
        assert again.prompt.text == ""
        await again.press("escape", "enter")
        await again.sees("queued, paused: press Enter in an empty prompt to continue")


async def test_a_running_session_continues_in_another_one_with_a_summary(open_ui: Open) -> None:
    async with open_ui("script", CANNOT) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.ready()
        await one.press("ctrl+p", *"continue in", "enter")
        await one.until(lambda: len(one.made) == 2 and one.prompt.text.startswith(INTRODUCTION))
        assert one.prompts() == []


async def test_an_agent_that_lost_the_session_can_be_given_the_summary_in_the_new_one(open_ui: Open) -> None:
    async with open_ui("script", FORGETS) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.send("bye")
        await one.sees("exited with code 3")
        await one.press("f5")
        await one.sees("⊘ Read-only.", "The setting is locked")
        await one.press("enter")
        await one.sees("New session: the agent cannot see the conversation above")
        await one.until(lambda: one.prompt.text.startswith(INTRODUCTION))
        assert len(one.made) == 1


async def test_an_agent_that_finds_the_session_later_can_be_asked_again(
    open_ui: Open, tmp_path: Path
) -> None:
    found = tmp_path / "found"
    offered = offers(capabilities={"loadSession": True}, lost_until=str(found))
    async with open_ui("script", offered) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.ready()
        await one.press("f5")
        await one.sees("⊘ Read-only.", "No previous sessions found", "F5 try again")
        found.touch()
        await one.press("f5")
        await one.until(lambda: not one.screen.query(ReadOnlyLine))
        await one.ready()
        assert methods_sent(one).count("session/new") == 1


@look
def test_looks(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    reason = (
        "Claude Code answered session/load with an error: there is no conversation with this id (demo-1)."
    )

    def widgets() -> list[Widget]:
        return [ReadOnlyLine(reason, lambda: None)]

    assert snap_compare(Show(theme, widgets=widgets), terminal_size=size)
