"""Keys bound by the user."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from acp_tui.config.settings import load
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.keys import TABLE
from acp_tui.ui.keys.commands import keys_with_commands
from acp_tui.ui.keys.user_keymap import check_keys, normalize_key, problems
from tests.support.conversation_ui import app_of
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def test_every_key_of_the_table_can_be_parsed() -> None:
    keys = {key for entry in TABLE for key in entry.keys.split(",")}
    assert {key for key in keys if normalize_key(key) != key} == set()


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("Ctrl+J", "ctrl+j"),
        ("ESC", "escape"),
        ("?", "question_mark"),
        ("shift+c", "C"),
        ("+", "plus"),
        ("ctrl+/", "ctrl+slash"),
        ("shift+ctrl+Left", "ctrl+shift+left"),
        ("PgUp", "pageup"),
        ("F12", "f12"),
        ("crtl+j", None),
        ("ctrl+", None),
        ("", None),
        ("hello", None),
        ("ctrl+hello", None),
    ],
)
def test_common_spellings_of_keys_are_accepted(word: str, key: str | None) -> None:
    assert normalize_key(word) == key


def test_keys_are_converted_to_textuals_spelling() -> None:
    found = check_keys({"app.help": "F2, Ctrl+G"})
    assert found.keys == {"app.help": "f2,ctrl+g"}


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"app.hlep": "f2"}, "there is no such action; did you mean 'app.help'?"),
        ({"nonsense": "f2"}, "there is no such action; `acp-tui config keys` lists all actions"),
        (
            {"app.help": "f99x"},
            "'f99x' is not a key (examples: 'ctrl+j', 'alt+up', 'f5', 'x'); the default keys are used",
        ),
        (
            {"app.help": "f2,"},
            "'' is not a key (examples: 'ctrl+j', 'alt+up', 'f5', 'x'); the default keys are used",
        ),
        ({"app.help": "ctrl+i"}, "terminals send Ctrl+I as Tab; the default keys are used"),
        ({"prompt.send": "x"}, "x types text here; the default keys are used"),
    ],
)
def test_unusable_keys_are_reported(wishes: dict[str, str], says: str) -> None:
    found = check_keys(wishes)
    assert found.keys == {}
    assert list(found.problems.values()) == [says]


def test_the_first_of_two_actions_gets_the_key() -> None:
    found = check_keys({"transcript.copy": "h", "transcript.raw": "h"})
    assert found.keys == {"transcript.copy": "h"}
    assert found.problems == {
        "transcript.raw": "h is also bound to transcript.copy; the default keys are used"
    }


def test_a_user_key_replaces_a_default_key_with_a_warning() -> None:
    found = check_keys({"transcript.copy": "f"})
    assert found.keys == {"transcript.copy": "f"}
    assert found.problems == {
        "transcript.copy": "f no longer runs transcript.fold_kind"
        " (fold or unfold all entries of this kind); bind transcript.fold_kind to another key"
    }
    assert check_keys({"transcript.copy": "f", "transcript.fold_kind": "c"}).problems == {}


def test_two_scopes_of_one_widget_cannot_share_a_key() -> None:
    assert "no longer runs conversation.find" in check_keys({"turn.again": "ctrl+f"}).problems["turn.again"]


def test_keys_that_hide_others_or_are_hidden_are_reported() -> None:
    near, far = check_keys({"prompt.editor": "f5"}), check_keys({"agent.restart": "ctrl+r"})
    assert "F5 no longer runs agent.restart" in near.problems["prompt.editor"]
    still = 'Ctrl+R still runs prompt.history (search previous prompts) in "Prompt"'
    assert still in far.problems["agent.restart"]
    assert near.keys
    assert far.keys


@pytest.mark.parametrize(
    ("name", "key", "says"),
    [
        (
            "app.quit",
            "ctrl+b",
            "Ctrl+B no longer runs panes.toggle (open or close the panes); bind panes.toggle to another key",
        ),
        ("conversation.find", "f1", "F1 still runs app.help (show the keys) everywhere"),
        ("permission.diff", "ctrl+q", "Ctrl+Q still runs app.quit (quit) everywhere"),
        ("launcher.look", "ctrl+p", "Ctrl+P no longer runs app.palette"),
        ("app.palette", "ctrl+f", 'still runs conversation.find (search the conversation) in "Anywhere"'),
        ("prompt.history", "ctrl+u", 'edit.delete_to_start (delete to start of line) in "Editing"'),
        ("edit.undo", "ctrl+r", "Ctrl+R no longer runs prompt.history"),
        ("find.next", "ctrl+f", "Ctrl+F no longer runs conversation.find"),
        ("permission.diff", "ctrl+p", ""),
        ("queue.edit", "ctrl+r", ""),
    ],
)
def test_the_action_that_receives_a_key_first_is_reported(name: str, key: str, says: str) -> None:
    found = check_keys({name: key})
    assert found.keys == {name: key}
    assert says in found.problems.get(name, "")
    assert says or not found.problems


def test_a_user_key_that_hides_another_user_key_is_reported() -> None:
    complaints = check_keys({"conversation.find": "f11", "app.help": "f11"}).problems
    assert complaints == {
        "app.help": "F11 no longer runs conversation.find (search the conversation);"
        " bind conversation.find to another key"
    }


def test_problems_have_file_and_line(home: Path, tmp_path: Path) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('[keys]\n"app.quit" = "f11"\n"app.hlep" = "f2"\n')
    (problem,) = problems(load(tmp_path, environ={}))
    assert str(problem).startswith(f"{file}:3: keys.app.hlep: there is no such action")


def test_titles_are_unique_within_a_scope() -> None:
    titles = Counter((key.scope, key.title) for key in TABLE if key.scope != "launcher")
    assert [title for title, count in titles.items() if count > 1] == []


def test_palette_titles_are_unique_and_short() -> None:
    titles = [key.command for key in keys_with_commands()]
    assert len(set(titles)) == len(titles)
    assert all(1 <= len(title.split()) <= 5 for title in titles)


# --------------------------------------------------------------------------- in the app


@pytest.fixture
def config(home: Path) -> Path:
    """Return the path of the user's settings."""
    (home / "config").mkdir(parents=True)
    return home / "config" / "config.toml"


async def sees(pilot: Pilot[int], *texts: str) -> None:
    """Wait until the screen shows these texts."""

    def shown() -> str:
        return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())

    await until(lambda: all(text in shown() for text in texts), between=pilot.pause, describe=shown)


def toasts(app: object) -> list[str]:
    return [toast.message for toast in app._notifications]  # type: ignore[attr-defined]


async def test_rebound_keys_work_and_are_shown_everywhere(config: Path, tmp_path: Path) -> None:
    config.write_text(
        '[keys]\n"app.help" = "f10"\n"app.palette" = "f11"\n"choose.close" = "f9"\n"help.close" = "f9"\n'
    )
    app = app_of("--cwd", str(tmp_path))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await sees(pilot, "F10 help", "F11 palette")
        await pilot.press("f1")
        await sees(pilot, "F10 help", "F11 palette")
        await pilot.press("f10")
        await sees(pilot, "F9 close")
        await pilot.press("f9", "f11")
        await sees(pilot, "F9 cancel")
        app.screen.query_one(Input).value = "show help"
        await sees(pilot, "Show help", "F10")
        await pilot.press("f9")
        await sees(pilot, "F5 refresh")
        assert toasts(app) == []


async def test_wrong_keys_are_reported_and_the_others_work(config: Path, tmp_path: Path) -> None:
    config.write_text('theme = "grubbox"\n[keys]\n"app.hlep" = "f2"\n"app.help" = "f3"\n')
    app = app_of("--cwd", str(tmp_path))
    async with app.run_test(notifications=True) as pilot:
        await until(lambda: toasts(app))
        told = "\n".join(toasts(app))
        theme = "theme: unknown theme 'grubbox'; did you mean 'gruvbox'? (using 'dark')"
        key = "keys.app.hlep: there is no such action; did you mean 'app.help'?"
        assert f"{config}:1: {theme}" in told
        assert f"{config}:3: {key}" in told
        await pilot.press("f3")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
