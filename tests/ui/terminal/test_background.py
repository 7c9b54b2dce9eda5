"""What is known about the terminal's background, and what the terminal is asked."""

from __future__ import annotations

import pytest

from acp_tui.ui.terminal.passthrough import (
    ASK_COLOUR,
    REPORT_CHANGES,
    STOP_REPORTS,
    BackgroundReply,
    BackgroundWatcher,
    TerminalModes,
    background_hint,
)

DARK, LIGHT = True, False


class World:
    """A watcher, and what it writes to the terminal."""

    def __init__(self, **environ: str) -> None:
        self.sent: list[str] = []
        self.modes = TerminalModes(self.sent.append)
        self.watcher = BackgroundWatcher(self.modes, self.sent.append, environ)
        self.watcher.start()

    def colour(self, dark: bool) -> bool:
        return self.watcher.receive(BackgroundReply(dark=dark, from_colour=True))

    def scheme(self, dark: bool) -> bool:
        return self.watcher.receive(BackgroundReply(dark=dark, from_colour=False))


def test_the_background_is_dark_until_the_terminal_says_otherwise() -> None:
    world = World()
    assert world.watcher.dark is DARK
    assert world.colour(LIGHT)
    assert world.watcher.dark is LIGHT
    assert not world.colour(LIGHT)


def test_a_changed_scheme_counts_if_the_terminal_does_not_tell_its_colour() -> None:
    world = World()
    assert world.scheme(LIGHT)
    assert world.scheme(DARK)


def test_a_changed_scheme_makes_the_colour_be_asked_again() -> None:
    world = World()
    world.colour(DARK)
    assert ASK_COLOUR not in world.sent
    assert not world.scheme(LIGHT)  # maybe that of the desktop only
    assert world.sent[-1] == ASK_COLOUR


@pytest.mark.parametrize(
    ("value", "dark"),
    [("15;0", DARK), ("0;15", LIGHT), ("0;default;7", LIGHT), ("7;8", DARK), ("default", None), ("", None)],
)
def test_the_hint_of_the_environment(value: str, dark: bool | None) -> None:
    assert background_hint({"COLORFGBG": value}) is dark
    assert World(COLORFGBG=value).watcher.dark is (dark is not LIGHT)


def test_multiplexers_and_consoles_are_asked_in_a_way_they_understand() -> None:
    assert World(TMUX="/tmp/tmux,1,0").sent[0].startswith(ASK_COLOUR)
    assert World(STY="1.screen").sent[0].startswith(f"\x1bP{ASK_COLOUR}\x1b\\")
    assert World(TERM="linux").sent == []


def test_reports_are_on_while_the_terminal_is_ours() -> None:
    world = World()
    assert REPORT_CHANGES in world.modes.all_on
    assert world.modes.all_off == STOP_REPORTS
    world.modes.unset("background")
    assert world.sent[-1] == STOP_REPORTS
    assert world.modes.all_on == ""
