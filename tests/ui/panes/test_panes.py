"""The panes by their keys: where they are, what moves, what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.entry_display import STATUS_ICONS
from acp_tui.session.change import Change
from acp_tui.session.state import PlanItem, ToolCall
from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.plan import PlanPane
from acp_tui.ui.panes.session import SessionPane
from acp_tui.ui.panes.tabs import PaneTabs
from acp_tui.ui.panes.terminals import TerminalsPane
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.key_bar import KeyBar
from tests.ui.panes.stage import CWD, panes, stage

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.panes.pane import Pane
    from tests.support.desk import Open

WIDE, NARROW = (120, 30), (80, 24)


def text(app: AcpTui) -> str:
    """The screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def drawn(pane: Pane) -> list[str]:
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]


def top_line(app: AcpTui) -> str:
    return app.screen.query_one(Transcript).render_line(0).text.strip()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    await pilot.pause()


async def test_the_footer_says_what_arrows_do_in_the_plan() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "1")
        assert "↑↓ scroll" in app.screen.query_one(KeyBar).render_line(0).text
        await press(pilot, "4")
        assert "↑↓ choose" in app.screen.query_one(KeyBar).render_line(0).text


async def test_nothing_of_them_is_there_before_they_are_asked_for() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert not app.screen.query("Panes")


async def test_beside_the_transcript_they_get_the_focus_so_that_the_footer_names_their_keys() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        page = app.screen.query_one(Transcript)
        assert panes(app).current.has_focus
        assert page.region.right == panes(app).region.x
        assert panes(app).region.right == 120
        await press(pilot, "ctrl+b")
        assert not panes(app).display
        assert page.region.width == 120


async def test_without_room_they_lie_over_the_transcript_and_escape_closes_them() -> None:
    app = stage("dark")
    async with app.run_test(size=NARROW) as pilot:
        page = app.screen.query_one(Transcript)
        before = page.region
        await press(pilot, "ctrl+b")
        assert panes(app).current.has_focus
        assert panes(app).region == before == page.region
        await press(pilot, "escape")
        assert not panes(app).display
        assert app.focused is page


async def test_escape_goes_one_step_back_at_a_time() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "z")
        assert panes(app).region.width == 120
        await press(pilot, "escape")
        assert panes(app).region.width < 120
        assert panes(app).current.has_focus
        await press(pilot, "escape")
        assert panes(app).display
        assert app.focused is app.screen.query_one(Transcript)


async def test_the_full_screen_covers_all_between_the_status_and_the_keys() -> None:
    app = stage("dark")
    async with app.run_test(size=NARROW) as pilot:
        await press(pilot, "f8", "z")
        assert panes(app).region == (0, 1, 80, 22)
        await press(pilot, "z")
        assert not panes(app).zoomed


@pytest.mark.parametrize("lines", [40, 10, 3])
async def test_the_first_line_that_is_read_stays_when_they_open_and_close(lines: int) -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        page = app.screen.query_one(Transcript)
        page.action_scroll_home()
        page.scroll_lines(lines)
        await pilot.pause()
        first = top_line(app)
        await press(pilot, "ctrl+b")
        assert top_line(app) == first
        await press(pilot, "ctrl+b")
        assert top_line(app) == first


async def test_keys_go_from_pane_to_pane_and_round() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8")
        for key, kind in (
            ("right", FilesPane),
            ("4", SessionPane),
            ("right", PlanPane),
            ("left", SessionPane),
        ):
            await press(pilot, key)
            assert isinstance(panes(app).current, kind)
            assert panes(app).current.has_focus


async def test_the_mouse_turns_zooms_chooses_and_closes() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        await pilot.click(PaneTabs, offset=(8, 0))
        await pilot.pause()
        files = panes(app).current
        assert isinstance(files, FilesPane)
        at = next(y for y, line in enumerate(drawn(files)) if "old.py" in line)
        await pilot.click(FilesPane, offset=(10, at))
        await pilot.pause()
        assert files.chosen == f"{CWD}/old.py"
        width = app.screen.query_one(PaneTabs).size.width
        await pilot.click(PaneTabs, offset=(width - 4, 0))
        await pilot.pause()
        assert panes(app).zoomed
        await pilot.click(PaneTabs, offset=(119 - 1, 0))
        await pilot.pause()
        assert not panes(app).display


async def test_letters_mean_nothing_here_unless_a_pane_has_the_focus() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "f8", "z")
        assert not panes(app).zoomed


async def test_only_what_concerns_the_pane_that_is_seen_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        shown: list[str] = []
        for pane in panes(app)._panes:
            monkeypatch.setattr(pane, "show", lambda items, name=pane.TITLE: shown.append(name))
        session = app.screen.session  # type: ignore[attr-defined]
        everything = [Change("updated", entry) for entry in session.entries] + [Change("fact", fact="usage")]
        panes(app).take(everything)
        assert shown == []
        panes(app).take([*everything, Change("fact", fact="plan")])
        assert shown == ["Plan"]


async def test_a_plan_that_goes_on_is_followed() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        assert "2 of 5 done" in text(app)
        session = app.screen.session  # type: ignore[attr-defined]
        session.plan.items = [PlanItem("Rest", "completed")]
        app.screen.frames.add([Change("fact", fact="plan")])  # type: ignore[attr-defined]
        await pilot.pause(0.1)
        assert "1 of 1 done" in text(app)
        session.plan = None
        app.screen.frames.add([Change("fact", fact="plan")])  # type: ignore[attr-defined]
        await pilot.pause(0.1)
        assert "The agent has no plan" in text(app)


async def test_output_that_comes_draws_no_list_again_but_an_end_does() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes(app).current
        assert isinstance(pane, TerminalsPane)
        session = app.screen.session  # type: ignore[attr-defined]
        terminal = session.terminals["term-2"]
        terminal.output.append("more")
        assert not pane.concerned([Change("updated", terminal)])
        terminal.ended_at, terminal.exit_code = 120.0, 0
        assert pane.concerned([Change("updated", terminal)])
        pane.take([Change("updated", terminal)])
        assert "Running" not in "\n".join(drawn(pane))


async def test_a_command_of_a_failed_call_did_not_go_well_and_waited_for_nobody() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes(app).current
        session = app.screen.session  # type: ignore[attr-defined]
        terminal = session.terminals["term-2"]
        call = ToolCall(id=90, at=terminal.at, call_id="c", status="failed", waited=55.0)
        session.terminal_calls["term-2"] = call
        terminal.owner, terminal.ended_at = "agent", terminal.at + 60.0
        terminal.exit_code = terminal.signal = None
        pane.take([Change("updated", terminal)])
        line = next(line for line in drawn(pane) if "5 s" in line)
        assert STATUS_ICONS["failed"] in line
        assert "1:00" not in line


async def test_a_list_that_shrank_while_it_was_hidden_is_drawn_before_it_knows_its_size() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes(app).current
        height = len([line for line in drawn(pane) if line])
        await press(pilot, "ctrl+b")
        pane.show(pane.items()[:1])
        assert [pane.render_line(y).text.strip() for y in range(height)] == [""] * height
        await press(pilot, "ctrl+b")
        assert next(line.split() for line in drawn(pane) if line) == ["Running", "1"]


async def test_the_choice_follows_the_agent_when_that_is_wished() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2", "home")
        pane = panes(app).current
        assert isinstance(pane, FilesPane)
        assert any("➤ M login.py:12" in line for line in drawn(pane))
        await press(pilot, "down", "f")
        assert pane.chosen == f"{CWD}/login.py"
        call = app.screen.session.tool_calls["edit"]  # type: ignore[attr-defined]
        call.locations[0].path, call.locations[0].line = f"{CWD}/users.py", 7
        pane.take([Change("updated", call)])
        assert pane.chosen == f"{CWD}/users.py"
        await press(pilot, "up")
        assert not pane.following


async def test_the_disk_is_asked_when_a_call_or_a_turn_ends_and_else_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        looks: list[str] = []
        monkeypatch.setattr(app.screen, "_look_at_disk", lambda: looks.append("look"))
        session = app.screen.session  # type: ignore[attr-defined]
        call = session.tool_calls["edit"]
        read = session.tool_calls["read"]
        panes(app).take([Change("updated", call), Change("updated", read), Change("fact", fact="phase")])
        await pilot.pause()
        assert looks == []
        call.status = "completed"
        panes(app).take([Change("updated", call)])
        await pilot.pause()
        assert len(looks) == 1
        session.phase = "idle"
        panes(app).take([Change("fact", fact="phase")])
        await pilot.pause()
        assert len(looks) == 2


async def test_keys_that_mean_nothing_for_the_chosen_file_are_not_offered() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        pane = panes(app).current
        for path, diff, revert in (
            (f"{CWD}/old.py", True, True),
            ("/etc/hosts", True, False),
            (f"{CWD}/users.py", False, False),
        ):
            pane.choose(path)
            assert (pane.check_action("diff", ()), pane.check_action("revert", ())) == (diff, revert)


@pytest.mark.parametrize(
    ("tab", "footer"),
    [
        ("1", "z zoom  Esc back"),
        ("2", "Enter open  v diff  r revert  f follow  z zoom  Esc back"),
        ("3", "Enter open  k stop  z zoom  Esc back"),
        ("4", "Enter open  z zoom  Esc back"),
    ],
)
async def test_the_footer_tells_what_can_be_done_in_each(tab: str, footer: str) -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", tab)
        assert app.screen.query_one(KeyBar).render_line(0).text.strip().startswith(footer)


async def test_the_theme_changes_with_them() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        app.use_theme("light")
        await pilot.pause()
        assert panes(app).current.palette is app.palette


async def test_when_room_goes_they_make_way_and_come_back_with_it() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "f8")
        await pilot.resize_terminal(*NARROW)
        await pilot.pause()
        assert not panes(app).display
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        assert panes(app).display
        assert panes(app).region.right == 120
        await press(pilot, "ctrl+b")  # what was closed stays closed
        await pilot.resize_terminal(*NARROW)
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        assert not panes(app).display


async def test_who_is_in_them_stays_there_when_room_goes() -> None:
    app = stage("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        await pilot.resize_terminal(*NARROW)
        await pilot.pause()
        assert panes(app).display
        assert panes(app).current.has_focus


async def test_the_footer_knows_whether_they_lie_over_the_conversation(open_desk: Open) -> None:
    async with open_desk(size=NARROW) as desk:
        footer = desk.screen.query_one(KeyBar)
        await desk.press("alt+up", "ctrl+b", "ctrl+f", "escape")
        await desk.until(lambda: "Esc close" in footer.render_line(0).text)
        await desk.press("escape")
        await desk.until(lambda: "Esc prompt" in footer.render_line(0).text)
