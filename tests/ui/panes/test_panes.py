"""Opening, switching and updating the panes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.session.record import Change
from acp_tui.session.state import PlanItem, ToolCall
from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.panes import PaneTabs, PlanPane, TerminalsPane
from acp_tui.ui.panes.session import SessionPane
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.bar import KeyBar
from tests.ui.panes.sample_screen import CWD, KnownChanges, panes_of, sample_app

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.panes.pane import Pane
    from tests.support.conversation_ui import Open

WIDE, NARROW = (120, 30), (80, 24)


def screen_text(app: AcpTui) -> str:
    """Return the screen as text."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def lines_of(pane: Pane) -> list[str]:
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]


def top_line(app: AcpTui) -> str:
    return app.screen.query_one(Transcript).render_line(0).text.strip()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    await pilot.pause()


async def test_the_footer_names_what_arrow_keys_do() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "1")
        assert "↑↓ scroll" in app.screen.query_one(KeyBar).render_line(0).text
        await press(pilot, "4")
        assert "↑↓ choose" in app.screen.query_one(KeyBar).render_line(0).text


@pytest.mark.parametrize(
    ("capabilities", "names"),
    [
        ({"promptCapabilities": {}, "auth": {}, "mcpCapabilities": {"http": False}}, "prompts only"),
        (
            {"sessionCapabilities": {"fork": {}, "resume": {"_meta": {"by": "id"}}}},
            "fork sessions, resume sessions",
        ),
        (
            {"loadSession": True, "_meta": {"zed.dev": {"workspace": True}, "fancy": True, "off": False}},
            'custom zed.dev {"workspace": true}, fancy',
        ),
        (
            {"promptCapabilities": {"image": True, "_meta": {"x.org/video": 1}}},
            "custom promptCapabilities.x.org/video 1",
        ),
    ],
)
async def test_the_session_pane_names_the_capabilities_that_the_agent_supports(
    capabilities: dict[str, Any], names: str
) -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        app.screen.session.agent.capabilities = capabilities  # type: ignore[attr-defined]
        await press(pilot, "ctrl+b", "4")
        assert names in " ".join(" ".join(lines_of(app.screen.query_one(SessionPane))).split())


async def test_panes_are_created_on_first_use_beside_the_transcript_with_the_focus() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert not app.screen.query("Panes")
        await press(pilot, "ctrl+b")
        page = app.screen.query_one(Transcript)
        assert panes_of(app).current.has_focus
        assert page.region.right == panes_of(app).region.x
        assert panes_of(app).region.right == 120
        await press(pilot, "ctrl+b")
        assert not panes_of(app).display
        assert page.region.width == 120


async def test_on_a_narrow_screen_panes_cover_the_transcript() -> None:
    app = sample_app("dark")
    async with app.run_test(size=NARROW) as pilot:
        page = app.screen.query_one(Transcript)
        before = page.region
        await press(pilot, "ctrl+b")
        assert panes_of(app).current.has_focus
        assert panes_of(app).region == before == page.region
        await press(pilot, "escape")
        assert not panes_of(app).display
        assert app.focused is page


async def test_escape_leaves_the_zoom_and_then_the_panes() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "z")
        assert panes_of(app).region.width == 120
        await press(pilot, "escape")
        assert panes_of(app).region.width < 120
        assert panes_of(app).current.has_focus
        await press(pilot, "escape")
        assert panes_of(app).display
        assert app.focused is app.screen.query_one(Transcript)


async def test_zoomed_panes_cover_everything_but_status_line_and_footer() -> None:
    app = sample_app("dark")
    async with app.run_test(size=NARROW) as pilot:
        await press(pilot, "f8", "z")
        assert panes_of(app).region == (0, 1, 80, 22)
        await press(pilot, "z")
        assert not panes_of(app).zoomed


async def test_the_transcript_keeps_its_first_line_when_panes_open_and_close() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        page = app.screen.query_one(Transcript)
        for lines in (40, 10, 3):
            page.action_scroll_home()
            page.scroll_lines(lines)
            await pilot.pause()
            first = top_line(app).strip("▎ ")
            await press(pilot, "ctrl+b")
            assert top_line(app).strip("▎ ") == first
            await press(pilot, "ctrl+b")
            assert top_line(app).strip("▎ ") == first
            app.screen.query_one(Transcript).focus()


async def test_keys_switch_between_panes_and_wrap_around() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8")
        for key, kind in (
            ("right", FilesPane),
            ("4", SessionPane),
            ("right", PlanPane),
            ("left", SessionPane),
        ):
            await press(pilot, key)
            assert isinstance(panes_of(app).current, kind)
            assert panes_of(app).current.has_focus


async def test_the_mouse_switches_chooses_zooms_and_closes() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        await pilot.click(PaneTabs, offset=(8, 0))
        await pilot.pause()
        files = panes_of(app).current
        assert isinstance(files, FilesPane)
        at = next(y for y, line in enumerate(lines_of(files)) if "old.py" in line)
        await pilot.click(FilesPane, offset=(10, at))
        await pilot.pause()
        assert files.chosen == f"{CWD}/old.py"
        width = app.screen.query_one(PaneTabs).size.width
        await pilot.click(PaneTabs, offset=(width - 4, 0))
        await pilot.pause()
        assert panes_of(app).zoomed
        await pilot.click(PaneTabs, offset=(119 - 1, 0))
        await pilot.pause()
        assert not panes_of(app).display


async def test_letters_act_only_on_a_focused_pane() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "f8", "z")
        assert not panes_of(app).zoomed


async def test_only_changes_that_affect_the_visible_pane_update_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        shown: list[str] = []
        for pane in panes_of(app)._panes:
            monkeypatch.setattr(pane, "show", lambda items, name=pane.TITLE: shown.append(name))
        session = app.screen.session  # type: ignore[attr-defined]
        everything = [Change("updated", entry) for entry in session.entries] + [Change("fact", fact="usage")]
        panes_of(app).apply_changes(everything)
        assert shown == []
        panes_of(app).apply_changes([*everything, Change("fact", fact="plan")])
        assert shown == ["Plan"]


async def test_the_plan_pane_shows_progress() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        assert "2 of 5 done" in screen_text(app)
        session = app.screen.session  # type: ignore[attr-defined]
        session.plan.items = [PlanItem("Rest", "completed")]
        app.screen.frames.add([Change("fact", fact="plan")])  # type: ignore[attr-defined]
        await pilot.pause(0.1)
        assert "1 of 1 done" in screen_text(app)
        session.plan = None
        app.screen.frames.add([Change("fact", fact="plan")])  # type: ignore[attr-defined]
        await pilot.pause(0.1)
        assert "The agent has no plan" in screen_text(app)


async def test_the_end_of_a_command_updates_the_terminals_pane_but_output_does_not() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes_of(app).current
        assert isinstance(pane, TerminalsPane)
        session = app.screen.session  # type: ignore[attr-defined]
        terminal = session.terminals["term-2"]
        terminal.output.append("more")
        assert not pane.is_affected([Change("updated", terminal)])
        terminal.ended_at, terminal.exit_code = 120.0, 0
        assert pane.is_affected([Change("updated", terminal)])
        pane.apply_changes([Change("updated", terminal)])
        assert "Running" not in "\n".join(lines_of(pane))


async def test_a_terminal_without_exit_code_shows_status_and_time_of_its_tool_call() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes_of(app).current
        session = app.screen.session  # type: ignore[attr-defined]
        terminal = session.terminals["term-2"]
        call = ToolCall(id=90, at=terminal.at, call_id="c", status="failed", waited=55.0)
        session.terminal_calls["term-2"] = call
        terminal.owner, terminal.ended_at = "agent", terminal.at + 60.0
        terminal.exit_code = terminal.signal = None
        pane.apply_changes([Change("updated", terminal)])
        line = next(line for line in lines_of(pane) if "5 s" in line)
        assert STATUS_ICONS["failed"] in line
        assert "1:00" not in line


async def test_a_list_that_shrank_while_hidden_can_be_drawn() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "3")
        pane = panes_of(app).current
        height = len([line for line in lines_of(pane) if line])
        await press(pilot, "ctrl+b")
        pane.show(pane.build_items()[:1])
        assert [pane.render_line(y).text.strip() for y in range(height)] == [""] * height
        await press(pilot, "ctrl+b")
        assert next(line.split() for line in lines_of(pane) if line) == ["Running", "1"]


async def test_follow_moves_the_choice_with_the_agent() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2", "home")
        pane = panes_of(app).current
        assert isinstance(pane, FilesPane)
        assert any("➤ M login.py:12" in line for line in lines_of(pane))
        await press(pilot, "down", "f")
        assert pane.chosen == f"{CWD}/login.py"
        call = app.screen.session.tool_calls["edit"]  # type: ignore[attr-defined]
        call.locations[0].path, call.locations[0].line = f"{CWD}/users.py", 7
        pane.apply_changes([Change("updated", call)])
        assert pane.chosen == f"{CWD}/users.py"
        await press(pilot, "up")
        assert not pane.following


async def test_files_are_compared_with_the_disk_when_a_tool_call_or_turn_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        looks: list[str] = []
        monkeypatch.setattr(KnownChanges, "request_scan", lambda _: looks.append("look"))
        session = app.screen.session  # type: ignore[attr-defined]
        call = session.tool_calls["edit"]
        read = session.tool_calls["read"]
        panes_of(app).apply_changes(
            [Change("updated", call), Change("updated", read), Change("fact", fact="phase")]
        )
        await pilot.pause()
        assert looks == []
        call.status = "completed"
        panes_of(app).apply_changes([Change("updated", call)])
        await pilot.pause()
        assert len(looks) == 1
        session.phase = "idle"
        panes_of(app).apply_changes([Change("fact", fact="phase")])
        await pilot.pause()
        assert len(looks) == 2


async def test_diff_and_revert_are_offered_only_where_possible() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        pane = panes_of(app).current
        for path, diff, revert in (
            (f"{CWD}/old.py", True, True),
            ("/etc/hosts", True, False),
            (f"{CWD}/users.py", False, False),
        ):
            pane.choose(path)
            assert (pane.check_action("diff", ()), pane.check_action("revert", ())) == (diff, revert)


async def test_the_footer_names_the_keys_of_each_pane() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8")
        for tab, footer in (
            ("2", "Enter open  v diff  u revert  y accept  f follow  z zoom  Esc back"),
            ("3", "Enter open  k stop  z zoom  Esc back"),
            ("4", "Enter open  z zoom  Esc back"),
            ("1", "z zoom  Esc back"),
        ):
            await press(pilot, tab)
            assert app.screen.query_one(KeyBar).render_line(0).text.strip().startswith(footer)


async def test_panes_follow_the_theme() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "f8", "2")
        app.use_theme("light")
        await pilot.pause()
        pane = panes_of(app).current
        drawn = {
            part.style.color for y in range(pane.size.height) for part in pane.render_line(y) if part.style
        }
        assert load_theme("light").palette.text.color in drawn
        assert load_theme("dark").palette.text.color not in drawn


async def test_unfocused_panes_close_on_a_narrow_screen_and_reopen_on_a_wide_one() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b", "f8")
        await pilot.resize_terminal(*NARROW)
        await pilot.pause()
        assert not panes_of(app).display
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        assert panes_of(app).display
        assert panes_of(app).region.right == 120
        await press(pilot, "ctrl+b")  # what was closed stays closed
        await pilot.resize_terminal(*NARROW)
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        assert not panes_of(app).display


async def test_focused_panes_stay_open_on_a_narrow_screen() -> None:
    app = sample_app("dark")
    async with app.run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+b")
        await pilot.resize_terminal(*NARROW)
        await pilot.pause()
        assert panes_of(app).display
        assert panes_of(app).current.has_focus


async def test_the_footer_says_whether_escape_closes_the_panes(open_ui: Open) -> None:
    async with open_ui(size=NARROW) as ui:
        footer = ui.screen.query_one(KeyBar)
        await ui.press("alt+up", "ctrl+b", "ctrl+f", "escape")
        await ui.until(lambda: "Esc close" in footer.render_line(0).text)
        await ui.press("escape")
        await ui.until(lambda: "Esc prompt" in footer.render_line(0).text)
