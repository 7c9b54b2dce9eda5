"""Restoring the files as they were before an earlier prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from acp_tui.session.state import Content, UserMessage
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.conversation.rewind import RewindDialog
from acp_tui.ui.dialogs.choose import ChooseScreen
from tests.support.conversation_ui import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("original\n")
    return folder


async def run_turn(ui: ConversationUi, path: Path, text: str) -> None:
    """Send a prompt for which the agent writes a file by itself."""
    turns = len(ui.prompts())
    await ui.send(["write_file", str(path), text])
    await ui.until(lambda: len(ui.prompts()) > turns and ui.session.phase == "idle")


async def open_list(ui: ConversationUi) -> None:
    await ui.press("escape", "escape")
    await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))


PARTS = {"files": (), "conversation": ("down",), "both": ("down", "down")}


async def choose(ui: ConversationUi, part: str) -> None:
    """Choose the marked prompt, and what to restore."""
    await ui.press("enter")
    await ui.sees("What to restore")
    await ui.press(*PARTS[part], "enter")


async def rewind(ui: ConversationUi, *keys: str) -> None:
    """Choose to restore files, and press keys in the list of files."""
    await open_list(ui)
    await choose(ui, "files")
    await ui.until(lambda: isinstance(ui.app.screen, RewindDialog))
    await ui.press(*keys)


async def confirm(ui: ConversationUi) -> None:
    await ui.until(lambda: isinstance(ui.app.screen, RewindDialog))
    await ui.press("down", "enter")


async def test_files_are_restored_after_a_preview_and_the_rewind_can_be_undone(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await run_turn(ui, project / "a.txt", "one\n")
        await run_turn(ui, project / "b.txt", "two\n")
        await open_list(ui)
        await ui.sees("Go back to before which prompt?", "changed 1 file +1 −1", "+1 −0")
        await ui.press("down")
        await choose(ui, "files")
        await ui.sees("a.txt: restore", "b.txt: delete (new since)")
        await confirm(ui)
        await ui.sees("Restored 2 files to before prompt 1.")
        assert (project / "a.txt").read_text() == "original\n"
        assert not (project / "b.txt").exists()
        await ui.press("ctrl+underscore")
        await ui.sees("The last rewind was undone: 2 files.")
        assert (project / "a.txt").read_text() == "one\n"
        assert (project / "b.txt").read_text() == "two\n"


async def test_files_are_overwritten_only_if_the_user_agrees(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await ui.press("escape", "escape")
        assert ui.app.screen is ui.screen  # there is no prompt yet
        await run_turn(ui, project / "a.txt", "one\n")
        (project / "a.txt").write_text("mine\n")
        for keys, message in [
            (("enter",), "No file was restored."),
            (("escape",), "No file was restored."),
            (("down", "enter"), "No file was restored."),
            (("down", "down", "space", "up", "enter"), "to before prompt 1"),
        ]:
            assert (project / "a.txt").read_text() == "mine\n"
            await rewind(ui)
            await ui.sees("[ ] a.txt: restore", "Also edited between turns: restoring it loses these edits.")
            await ui.press(*keys)
            await ui.sees(message)
            await ui.until(lambda: ui.app.screen is ui.screen)
        assert (project / "a.txt").read_text() == "original\n"
        await ui.press("x", "escape", "escape")
        assert ui.app.screen is ui.screen  # the prompt contains a text


@pytest.mark.parametrize(("part", "embeds"), [("conversation", False), ("both", True)])
async def test_a_new_session_gets_the_conversation_before_the_prompt_as_text(
    open_ui: Open, project: Path, part: str, embeds: bool
) -> None:
    offered = offers(capabilities={"promptCapabilities": {"embeddedContext": embeds}})
    async with open_ui("script", offered) as ui:
        await ui.send("remember the word xylophone")
        await ui.until(lambda: ui.session.phase == "idle")
        await run_turn(ui, project / "a.txt", "one\n")
        old, prompt = ui.session, ui.prompts()[-1]
        await open_list(ui)
        await choose(ui, part)
        if part == "both":
            await ui.sees("a.txt: restore")
            await confirm(ui)
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen) and ui.session is not old)
        await ui.until(lambda: ui.session.phase == "idle" and ui.prompt.text)
        assert ui.prompt.text == f"{prompt}\n\n[earlier conversation]"
        assert (project / "a.txt").read_text() == ("original\n" if part == "both" else "one\n")
        await ui.sees("This is a new session")
        await ui.send("go on [earlier conversation]")
        await ui.until(lambda: ui.prompts() and ui.session.phase == "idle")
        (sent,) = [entry for entry in ui.session.entries if isinstance(entry, UserMessage)]
        attached = "".join(part.text or "" if isinstance(part, Content) else str(part) for part in sent.parts)
        assert "remember the word xylophone" in attached
        assert "write_file" not in attached
        if part == "both":
            await ui.press("ctrl+p", *"undo rew", "enter")
            await ui.sees("The last rewind was undone: 1 file.")
            assert (project / "a.txt").read_text() == "one\n"


async def test_files_that_only_the_user_changed_are_left_and_told_apart(open_ui: Open, project: Path) -> None:
    (project / "mine.txt").write_text("old\n")
    async with open_ui() as ui:
        await run_turn(ui, project / "new.txt", "by the agent\n")
        (project / "mine.txt").write_text("mine\n")
        (project / "added.txt").write_text("mine\n")
        await rewind(ui)
        await ui.sees(
            "[ ] added.txt: delete (new since)",
            "Changed between turns only, not by the agent.",
            "[ ] mine.txt: restore",
            "[x] new.txt: delete (new since)",
            "Restore 1 file",
        )
        await ui.press("down", "down", "down", "v")
        await ui.sees("mine.txt: what restoring it changes", "- mine", "+ old")
        await ui.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, RewindDialog))
        await ui.press("a")
        await ui.sees("Restore 3 files", "[x] mine.txt")
        await ui.press("a", "enter")
        await ui.sees("Restore 1 file", "[x] mine.txt", "[ ] new.txt")
        await ui.press("up", "up", "enter")
        await ui.sees("Restored 1 file to before prompt 1.")
        assert (project / "mine.txt").read_text() == "old\n"
        assert (project / "new.txt").exists()


async def test_prompts_with_the_same_text_can_be_told_apart(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        for _ in range(2):
            await run_turn(ui, project / "a.txt", "one\n")
        await open_list(ui)
        lines = [line for line in ui.text().splitlines() if "write_file" in line and "│" in line]
        assert [re.search(r"(\d)  \d\d:\d\d  ", line) is not None for line in lines[:2]] == [True, True]


async def test_a_refused_undo_says_what_would_make_it_possible(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await ui.press("ctrl+underscore")
        await ui.sees("There is no rewind to undo.")
        await run_turn(ui, project / "a.txt", "one\n")
        await rewind(ui, "down", "enter")
        await ui.sees("to before prompt 1")
        (project / "a.txt").write_text("mine\n")
        await ui.press("ctrl+underscore")
        await ui.sees("cannot be undone", "Put it back")


async def test_a_long_list_of_files_has_keys_for_pages_and_ends(open_ui: Open, project: Path) -> None:
    files = [project / f"{number:02}.txt" for number in range(12)]
    async with open_ui() as ui:
        await run_turn(ui, project / "a.txt", "one\n")
        for file in files:
            file.write_text("mine\n")
        await rewind(ui, "end", "space", "pageup", "space", "home", "pageup", "pagedown", "space")
        await ui.sees("[x] 04.txt", "[x] 06.txt", "Restore 2 files")
