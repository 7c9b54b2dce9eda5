"""Accepting, reverting and undoing changes on the review screen, with a real agent process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from textual.events import AppBlur, AppFocus, Key

from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.screens.review.diff_view import DiffView
from acp_tui.ui.screens.review.review_screen import ReviewScreen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open


def numbered(**changed: str) -> str:
    """Return 40 numbered lines, of which some are replaced: `_5="x"` replaces the fifth."""
    return "".join(f"{changed.get(f'_{at}', f'line {at}')}\n" for at in range(1, 41))


CHANGED = numbered(_5="five", _20="twenty", _35="thirty-five")


@pytest.fixture
def project(open_ui: Open, tmp_path: Path) -> Path:
    """A folder with two files that the agent is going to change."""
    folder = tmp_path / "project"
    (folder / "a.txt").write_text(numbered())
    (folder / "b.txt").write_text("old\n")
    return folder


async def run_turn(ui: ConversationUi, *writes: tuple[Path, str]) -> None:
    """Send a prompt for which the agent writes files by itself."""
    turns = len(ui.prompts())
    await ui.send(*(["write_file", str(path), text] for path, text in writes))
    await ui.until(lambda: len(ui.prompts()) > turns and ui.session.phase == "idle")


async def open_review(ui: ConversationUi) -> None:
    await ui.press("f2")
    await ui.until(lambda: isinstance(ui.app.screen, ReviewScreen))
    await ui.until(lambda: "Comparing" not in ui.text())


async def change_both(ui: ConversationUi, project: Path) -> None:
    """Have a turn change both files, and open the review."""
    await run_turn(ui, (project / "a.txt", CHANGED), (project / "b.txt", "new\n"))
    await open_review(ui)
    await ui.sees("0 of 4 reviewed", "a.txt", "hunk 1 of 3", "+ five")


async def click_on(ui: ConversationUi, text: str) -> None:
    """Click on the row of the diff that contains a text."""
    [row] = [number for number, line in enumerate(ui.lines()) if text in line]
    view = ui.app.screen.query_one(DiffView)
    await ui.pilot.click(view, offset=(1, row - view.region.y))


async def test_accepting_every_hunk_moves_on_by_itself(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("y")
        await ui.sees("1 of 4 reviewed", "hunk 1 of 2", "twenty")
        await ui.press("y", "y")
        await ui.sees("3 of 4 reviewed", "✓ a.txt", "❯ M b.txt")
        await ui.press("y")
        await ui.sees("4 of 4 reviewed", "✓ b.txt", "Accepted.")
        assert (project / "a.txt").read_text() == CHANGED
        await ui.press("Z")
        await ui.sees("3 of 4 reviewed", "❯ M b.txt")


async def test_a_hunk_is_reverted_on_disk_and_the_revert_undone(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("]", "u")
        await ui.sees("1 of 4 reviewed", "hunk 2 of 2")
        assert (project / "a.txt").read_text() == numbered(_5="five", _35="thirty-five")
        await ui.press("Z")
        await ui.sees("0 of 4 reviewed", "hunk 2 of 3")
        assert (project / "a.txt").read_text() == CHANGED
        for key, character in {"tab": None, "u": "u"}.items():  # at once, as when typed fast
            ui.app.post_message(Key(key, character))
        await ui.sees("3 of 4 reviewed", "↶ a.txt", "y accept file")  # the focus is on the list
        assert (project / "a.txt").read_text() == numbered()
        await ui.press("Z")
        await ui.until(lambda: (project / "a.txt").read_text() == CHANGED)


async def test_everything_is_reverted_after_a_confirmation(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("U")
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
        await ui.sees("Revert 4 changes in 2 files on disk?", "Revert everything shown")
        await ui.press("down", "enter")
        await ui.sees("4 of 4 reviewed")
        assert [(project / name).read_text() for name in ("a.txt", "b.txt")] == [numbered(), "old\n"]
        await ui.press("Z")
        await ui.sees("0 of 4 reviewed")
        assert [(project / name).read_text() for name in ("a.txt", "b.txt")] == [CHANGED, "new\n"]


async def test_the_users_own_edits_are_left_unless_they_are_chosen(open_ui: Open, project: Path) -> None:
    (project / "c.txt").write_text("old\n")
    async with open_ui() as ui:
        await run_turn(ui, (project / "a.txt", CHANGED), (project / "b.txt", "new\n"))
        (project / "c.txt").write_text("mine\n")
        (project / "large.bin").write_bytes(b"x" * 5_000_001)
        await open_review(ui)
        await ui.sees("0 of 6 reviewed")
        for choices in (["enter"], ["escape"]):
            await ui.press("U")
            await ui.sees(
                "Revert 6 changes in 4 files on disk?",
                "1 edited by you; 1 cannot be reverted.",
                "Revert 4 changes, and leave your own edits",
                "Revert 5 changes, also your own edits",
            )
            await ui.press(*choices)
            await ui.until(lambda: isinstance(ui.app.screen, ReviewScreen))
        await ui.press("U")
        await ui.sees("and leave your own edits")
        await ui.press("down", "enter")
        await ui.sees("2 files reverted.")
        assert (project / "a.txt").read_text() == numbered()
        assert [(project / name).read_text() for name in ("b.txt", "c.txt")] == ["old\n", "mine\n"]
        await ui.press("ctrl+underscore")
        await ui.until(lambda: (project / "a.txt").read_text() == CHANGED)


async def test_a_wide_window_shows_long_names_and_two_columns_also_of_added_lines(
    open_ui: Open, project: Path
) -> None:
    name = "a-folder/another-folder/a-file-with-a-rather-long-name-in-it.txt"
    (project / name).parent.mkdir(parents=True)
    (project / name).write_text("one\ntwo\n")
    async with open_ui() as ui:
        await ui.pilot.resize_terminal(200, 40)
        (project / name).write_text("one\nmore\ntwo\n")
        await open_review(ui)
        await ui.sees(f"M {name} +1", "0 of 1 reviewed")
        [line] = [line for line in ui.lines() if "+ more" in line]
        assert re.search(r"│ +2 \+ more", line)
        [line] = [line for line in ui.lines() if "1   one" in line]
        assert line.count("one") == 2
        await ui.pilot.resize_terminal(100, 40)
        await ui.sees("M …g-name-in-it.txt +1")
        await ui.until(lambda: ui.text().count("one") == 1)


async def test_hunk_keys_go_on_in_the_next_file_and_back(
    open_ui: Open, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []
    async with open_ui() as ui:
        # A test has no terminal to release.
        monkeypatch.setattr(ui.screen.entry_actions, "edit_file", lambda *place: opened.append(place))
        await change_both(ui, project)
        await ui.press("]", "]", "]")
        await ui.sees("❯ M b.txt", "+ new")
        await ui.press("[")
        await ui.sees("❯ M a.txt", "hunk 3 of 3")
        await ui.press("}", "{")
        await ui.sees("❯ M a.txt", "hunk 1 of 3")
        await ui.press("down", "e")
        assert opened == [(str(project / "a.txt"), 5)]


async def test_keys_that_follow_at_once_act_on_one_hunk_each(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.pilot.press("u", "y", "u", "y")
        await ui.sees("4 of 4 reviewed")
        assert (project / "a.txt").read_text() == numbered(_20="twenty")


async def test_changes_of_the_agent_appear_while_the_review_is_open(
    open_ui: Open, project: Path, tmp_path: Path
) -> None:
    async with open_ui() as ui:
        await ui.send(
            ["write_file", str(project / "a.txt"), CHANGED],
            ["wait_for_file", str(tmp_path / "go")],
            ["write_file", str(project / "new.txt"), "x\n"],
        )
        await ui.until(lambda: (project / "a.txt").read_text() == CHANGED)
        await open_review(ui)
        await ui.press("y")
        await ui.sees("1 of 3 reviewed")
        (tmp_path / "go").touch()
        await ui.sees("1 of 4 reviewed", "A new.txt")


async def test_the_filter_shows_one_turn(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await run_turn(ui, (project / "a.txt", numbered(_5="five")))
        await run_turn(
            ui, (project / "a.txt", numbered(_5="five", _20="twenty")), (project / "b.txt", "new\n")
        )
        await open_review(ui)
        await ui.sees("0 of 3 reviewed", "prompt 1")
        await ui.press("f")
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
        await ui.sees("Prompt 2", "(last turn)", "2 changes in 2 files", "1 change in 1 file")
        await ui.press("down", "down", "enter")
        await ui.until(lambda: isinstance(ui.app.screen, ReviewScreen))
        assert "twenty" not in ui.text()
        assert "b.txt" not in ui.text()
        await ui.press("tab", "y")  # the file: only what is shown
        await ui.sees("1 of 3 reviewed", "Nothing left here.")


async def test_without_changes_the_screen_says_so_and_a_renamed_file_names_the_other_one(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await ui.press("f2")
        await ui.sees("Nothing has changed since the session began.", "0 of 0 reviewed")
        await ui.press("escape")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        await ui.send("hello")
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
        (project / "a.txt").rename(project / "c.txt")
        await open_review(ui)
        await ui.sees("D a.txt", "A c.txt", "Renamed to c.txt.")
        await ui.press("}")
        await ui.sees("Renamed from a.txt.")


async def test_edits_elsewhere_are_shown_when_the_terminal_gets_the_focus_and_not_reverted(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        mine = CHANGED.replace("five\n", "mine\n", 1)
        (project / "a.txt").write_text(mine)
        (project / "b.txt").write_text("newer\n")
        ui.app.post_message(AppBlur())
        ui.app.post_message(AppFocus())
        await ui.sees("also edited by you", "+ mine")
        await ui.press("right_curly_bracket")  # its diff was prepared before the edit
        await ui.sees("+ newer")
        await ui.press("left_curly_bracket")
        (project / "a.txt").write_text(mine.replace("line 6", "ours"))  # beside the hunk
        await ui.press("u")
        await ui.until(lambda: any("a.txt has changed since it was shown" in one for one in ui.toasts()))
        await ui.sees("+ ours")
        assert (project / "a.txt").read_text() == mine.replace("line 6", "ours")


async def test_the_cursor_stays_on_its_hunk_when_one_above_it_disappears(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await click_on(ui, "Hunk 3")
        (project / "a.txt").write_text(numbered(_20="twenty", _35="thirty-five"))
        ui.app.post_message(AppBlur())
        ui.app.post_message(AppFocus())
        await ui.sees("hunk 2 of 2")
        await ui.press("u")
        await ui.sees("1 of 3 reviewed")
        assert (project / "a.txt").read_text() == numbered(_20="twenty")


async def test_a_hunk_that_is_gone_is_not_silently_replaced_by_another_one(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await click_on(ui, "Hunk 2")
        rest = numbered(_5="five", _35="thirty-five")
        (project / "a.txt").write_text(rest)
        ui.app.post_message(AppBlur())
        ui.app.post_message(AppFocus())
        await ui.sees("of 2")
        await ui.press("u")
        await ui.until(lambda: any("The hunk has changed" in toast for toast in ui.toasts()))
        assert (project / "a.txt").read_text() == rest
        await ui.press("u")
        await ui.sees("1 of 3 reviewed")


async def test_a_file_that_is_gone_is_not_silently_replaced_by_another_one(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        before = (project / "b.txt").read_text()
        (project / "a.txt").write_text(numbered())
        ui.app.post_message(AppBlur())
        ui.app.post_message(AppFocus())
        await ui.until(lambda: "a.txt" not in ui.text())
        await ui.press("u")
        await ui.until(lambda: any("The hunk has changed or is gone" in toast for toast in ui.toasts()))
        assert (project / "b.txt").read_text() == before


async def test_a_line_changed_in_an_invisible_character_only_looks_different(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await run_turn(ui, (project / "a.txt", numbered().replace("line 5", "li\u00adne\ufe0f 5")))
        await open_review(ui)
        await ui.sees("- line 5", "+ li‹ad›ne‹fe0f› 5")


async def test_names_and_contents_cannot_control_the_terminal(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await run_turn(ui, (project / "b\x1b[31m\n.txt", "one \x1b]0;title\x07\u202e two\r\n"))
        await open_review(ui)
        await ui.sees("one ␛]0;title␇‹202e› two")
        assert not {"\x1b", "\x07", "\u202e", "\r"} & set(ui.text())
        await ui.press("u")
        await ui.sees("1 of 1 reviewed")
        assert sorted(path.name for path in project.iterdir()) == ["a.txt", "b.txt"]
