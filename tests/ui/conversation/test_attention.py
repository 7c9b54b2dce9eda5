"""Alerts for a user whose window has no focus."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from acp_tui.config.settings import Settings
from acp_tui.ui.conversation.attention import Attention, expand_command
from acp_tui.ui.terminal.passthrough import (
    RESTORE_TITLE,
    SAVE_TITLE,
    TabProgress,
    TerminalModes,
    WindowTitle,
    supports_progress,
)
from acp_tui.ui.widgets.status_line import StatusFacts
from tests.support.conversation_ui import agent
from tests.support.terminal import PreloadedTerminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acp_tui.ui.widgets.status_line import Phase
    from tests.support.conversation_ui import Open

FACTS = StatusFacts("Agent", project="shop")


class Window:
    """An app in a terminal window that records what is written to it."""

    def __init__(self, notify: str = "all", *command: str, **environ: str) -> None:
        self.app_focus = False
        self.sent: list[str] = []
        environ = {"PATH": "/bin:/usr/bin", **environ}
        self.window_title = WindowTitle(self.sent.append)
        self._driver = Mock(write=self.sent.append)
        self.timers: list[Callable[[], None]] = []
        self.tab_progress = TabProgress(TerminalModes(self.sent.append), environ, self._start_timer)
        self.attention = Attention(Mock(app=self, is_in_front=True), environ)
        self.attention.configure(Settings(notify=notify, notify_command=list(command)))

    def _start_timer(self, _seconds: float, call: Callable[[], None]) -> Mock:
        self.timers.append(call)
        timer = Mock()
        timer.stop.side_effect = lambda: self.timers.remove(call)
        return timer

    def see(self, *phases: Phase, asked: str = "", facts: StatusFacts = FACTS) -> list[str]:
        """Go through the phases and return what was written for the last one."""
        for phase in phases:
            self.sent.clear()
            self.attention.update(replace(facts, phase=phase), asked)
        return self.sent


def test_the_end_of_a_turn_and_a_question_have_different_alerts() -> None:
    done = Window().see("idle", "working", "idle")
    asks = Window().see("idle", "working", "asking", asked="Run pytest")
    assert done[1:] == ["\x07", "\x1b]9;acp-tui: Agent is done – shop\x07"]
    assert asks[1:] == ["\x07\x07", "\x1b]9;acp-tui: Agent needs you: Run pytest – shop\x07"]
    assert "has ended" in Window().see("working", "dead")[-1]


def test_a_focused_window_is_not_alerted() -> None:
    window = Window()
    window.app_focus = True
    assert window.see("idle", "working", "asking") == ["\x1b]2;? needs you – shop\x07"]


def test_each_event_alerts_once() -> None:
    window = Window()
    window.see("working", "asking")
    assert window.see("asking", asked="another") == []
    assert window.see("working") == ["\x1b]2;● working – shop\x07"]
    window.see("idle")
    assert window.see("idle") == []


def test_starting_and_loading_do_not_alert() -> None:
    window = Window()
    for phase in ("connecting", "loading", "idle"):
        assert not any(text == "\x07" or "]9;" in text for text in window.see(phase))


@pytest.mark.parametrize(
    ("notify", "bell", "terminal", "title"),
    [("off", 0, 0, 0), ("bell", 1, 0, 1), ("terminal", 0, 1, 1), ("all", 1, 1, 1)],
)
def test_the_notify_setting_chooses_the_alerts(notify: str, bell: int, terminal: int, title: int) -> None:
    sent = Window(notify).see("working", "idle")
    assert sent.count("\x07") == bell
    assert sum("]9;" in text for text in sent) == terminal
    assert sum("]2;" in text for text in sent) == title


@pytest.mark.parametrize(
    "environ", [{"TERM": "foot"}, {"TERM": "rxvt-unicode-256color"}, {"VTE_VERSION": "7600"}]
)
def test_some_terminals_get_osc_777_notifications(environ: dict[str, str]) -> None:
    assert Window("terminal", **environ).see("working", "idle")[-1] == (
        "\x1b]777;notify;acp-tui: done;Agent is done – shop\x07"
    )


def test_notifications_are_wrapped_for_tmux() -> None:
    assert Window("terminal", TMUX="x").see("working", "idle")[-1].startswith("\x1bPtmux;\x1b\x1b]9;")


def test_control_characters_of_an_agent_do_not_reach_the_terminal() -> None:
    evil = StatusFacts("A\x1b]0;x\x07\x9c;b", project="p\x07\n\x1b[2J" + "long " * 100)
    for environ in ({}, {"VTE_VERSION": "1"}):
        sent = Window("all", **environ).see("working", "asking", asked="q\x07\x1b\\;\u202e" * 50, facts=evil)
        for text in sent:
            inner = text.removeprefix(SAVE_TITLE).removeprefix("\x1b]").removesuffix("\x07")
            assert inner.strip("\x07").isprintable()
            assert len(inner) < 350
        assert all(text.count(";") == 3 for text in sent if "]777" in text)


def test_the_title_is_saved_before_it_is_changed() -> None:
    window = Window()
    assert window.see("idle") == [f"{SAVE_TITLE}\x1b]2;acp-tui – shop\x07"]
    assert window.see("working") == ["\x1b]2;● working – shop\x07"]


def test_the_window_title_follows_the_title_of_the_session() -> None:
    window = Window()
    named = replace(FACTS, title="Fix the login")
    assert (
        window.see("working", facts=named)[-1] == f"{SAVE_TITLE}\x1b]2;● working – Fix the login – shop\x07"
    )
    assert window.see("working")[-1] == "\x1b]2;● working – shop\x07"  # the agent has cleared it


# --------------------------------------------------------------------------- the user's own command


def test_the_notify_command_receives_kind_and_text(tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = (
        "import json, os, sys\n"
        "kind, text = os.environ['ACP_TUI_NOTIFY_KIND'], os.environ['ACP_TUI_NOTIFY_TEXT']\n"
        "words = [*sys.argv[1:], kind, text, os.getsid(0) == os.getpid()]\n"
        f"open({str(told)!r} + '~', 'w').write(json.dumps(words))\n"
        f"os.rename({str(told)!r} + '~', {str(told)!r})"
    )
    window = Window("off", sys.executable, "-c", code, "--")
    assert window.see("working", "idle") == []
    wait_until(told.exists)
    text = "Agent is done – shop"
    assert json.loads(told.read_text()) == ["--", "done", text, "done", text, True]
    wait_until(lambda: all(process.poll() is not None for process in window.attention._running))


def test_a_missing_notify_command_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert Window("off", "/no/such/program").see("working", "idle") == []
    assert "notify_command cannot be run" in caplog.text


def test_a_failing_notify_command_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    window = Window("off", sys.executable, "-c", "raise SystemExit(3)")
    window.see("working", "idle")
    wait_until(lambda: all(process.poll() is not None for process in window.attention._running))
    window.see("working", "idle")
    assert "exit code 3" in caplog.text
    wait_until(lambda: all(process.poll() is not None for process in window.attention._running))


async def test_a_missing_notify_command_is_reported_at_the_start(home: Path, open_ui: Open) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('\nnotify_command = ["no-such-program", "{text}"]\n')
    async with open_ui() as ui:
        complaint = f"{file}:2: notify_command: program not found: no-such-program"
        await ui.until(lambda: complaint in ui.toasts())


def test_only_whole_arguments_of_the_command_are_replaced() -> None:
    text = "'; rm -rf ~; '"
    assert expand_command(["notify-send", "{kind}", "{text}"], "done", text) == ["notify-send", "done", text]
    assert expand_command(["sh", "-c", "say '{text}'"], "done", text) == [
        "sh",
        "-c",
        "say '{text}'",
        "done",
        text,
    ]


# --------------------------------------------------------------------------- on a terminal


def test_a_real_terminal_gets_alerts_and_its_title_back(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    waits = {"command": "sh", "args": ["-c", "until test -e go; do sleep 0.05; done; echo"]}
    prompt = json.dumps([["ask", "terminal/create", waits], ["wait_for_output"]])
    with PreloadedTerminal("--command", agent("script"), "--policy", "yolo", prompt, cwd=folder) as terminal:
        terminal.until(lambda: "]2;● working – shop\x07".encode() in terminal.raw, "the title")
        before = len(terminal.raw)
        terminal.type("\x1b[O")  # the window loses the focus, and the footer the keys of the prompt
        terminal.until(lambda: b"F1" in terminal.raw[before:], "the footer")
        (folder / "go").touch()
        terminal.until(lambda: b"is done" in terminal.raw, "the notification")
        assert terminal.quit() == 0
        assert terminal.raw.count(SAVE_TITLE.encode()) == terminal.raw.count(RESTORE_TITLE.encode()) == 1
        assert terminal.raw.rindex(RESTORE_TITLE.encode()) > terminal.raw.rindex(b"]2;")


# --------------------------------------------------------------------------- progress in the tab

GHOSTTY = {"TERM_PROGRAM": "ghostty"}
BUSY, PAUSED, FAILED, CLEAR = (f"\x1b]9;4;{state}\x1b\\" for state in ("3;0", "4;100", "2;100", "0;0"))


def progress(window: Window) -> list[str]:
    return [text for text in window.sent if "]9;4;" in text]


def test_the_tab_shows_what_the_turn_does() -> None:
    window = Window(**GHOSTTY)
    window.see("connecting", "idle")
    assert progress(window) == []
    phases: list[tuple[Phase, str]] = [
        ("working", BUSY),
        ("asking", PAUSED),
        ("cancelling", BUSY),
        ("idle", CLEAR),
    ]
    for phase, shown in phases:
        window.see(phase)
        assert progress(window) == [shown]
    assert window.timers == []
    window.see("working", facts=replace(FACTS, plan_share=0.25))
    assert progress(window) == ["\x1b]9;4;1;25\x1b\\"]
    window.see("idle", facts=replace(FACTS, failed=True))
    assert progress(window) == [FAILED]
    window.sent.clear()
    window.timers[0]()
    assert progress(window) == [FAILED]
    window.attention.stop()
    assert progress(window)[-1] == CLEAR


def test_the_end_of_a_closed_conversation_is_not_shown() -> None:
    window = Window(**GHOSTTY)
    window.see("working")
    window.attention.stop()
    window.see("dead", facts=replace(FACTS, failed=True))
    assert window.sent == []
    assert not window.timers


def test_the_tab_shows_all_conversations() -> None:
    window = Window(**GHOSTTY)
    window.see("working", facts=replace(FACTS, plan_share=0.5))
    window.tab_progress.show("second", "failed")
    window.tab_progress.show("second", "working", 0.5)
    window.tab_progress.show("second", "asking")
    window.tab_progress.show("second", None)
    half = "\x1b]9;4;1;50\x1b\\"
    assert progress(window) == [half, BUSY, PAUSED, half]


@pytest.mark.parametrize(
    ("setting", "environ", "shown"),
    [
        ("auto", {"WT_SESSION": "1"}, True),
        ("auto", {"TERM": "xterm-kitty"}, False),
        ("on", {"TERM": "xterm-kitty"}, True),
        ("off", GHOSTTY, False),
        ("auto", GHOSTTY | {"TMUX": "/tmp/tmux"}, False),
    ],
)
def test_only_terminals_that_show_progress_get_it(setting: str, environ: dict[str, str], shown: bool) -> None:
    window = Window(**environ)
    window.tab_progress.configure(setting)
    window.see("working")
    assert bool(progress(window)) is shown


def test_terminals_with_progress_are_known_by_their_variables() -> None:
    supported = (
        {"ConEmuANSI": "ON"},
        {"TERM_PROGRAM": "WezTerm"},
        {"TERM": "xterm-ghostty"},
        {"TERM_FEATURES": "T3LrMSc7UUw9Ts3BFGsSyHNoSxFP"},
        {"VTE_VERSION": "8003"},
    )
    other: tuple[dict[str, str], ...] = (
        {"TERM_FEATURES": "T3LrMSc7UUw9Ts3BFGsSyHNoSxF"},
        {"VTE_VERSION": "7600"},
        {"ConEmuANSI": "OFF"},
        {},
    )
    assert all(map(supports_progress, supported))
    assert not any(map(supports_progress, other))
