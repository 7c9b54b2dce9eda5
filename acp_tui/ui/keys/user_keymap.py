"""Checks the user's own keys, from `[keys]` in the settings.

If the user binds a key that another action in the same scope has by default, the other action loses the key.
This loss is reported as a problem. In scopes where text is typed, letters cannot be bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.ui.keys import KEYS, SCOPES, TABLE, Key, ScopeName, key_name
from acp_tui.ui.terminal.textual_keys import key_name_of

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings
    from acp_tui.config.validators import Problem

    FocusPath = tuple[tuple[ScopeName, ...], ...]
    """The scopes that a key passes, from the focused widget outwards: one inner tuple for each widget."""

MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
SYNONYMS = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"}
SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape"}
"""Keys that most terminals send as another key."""

TEXT_SCOPES: tuple[ScopeName, ...] = (
    *("prompt", "menu", "edit", "history", "find", "rules", "rename", "choose", "launcher", "form"),
    *("dialog", "conversation", "anywhere", "app"),
)
"""Scopes whose keys also work while the user types text. Letters cannot be bound in them."""
_DIALOG_SCOPES: tuple[ScopeName, ...] = (
    *("permission", "rule", "rules", "rename", "overview", "choose", "rewind", "detail", "help"),
)
MODAL_SCOPES: frozenset[ScopeName] = frozenset({*_DIALOG_SCOPES, "form", "form_choice"})
"""Scopes of modal dialogs, from which only priority keys reach the app."""

_CONVERSATION: FocusPath = (("conversation", "anywhere"), ("app",))
_REPLAY: FocusPath = (("replay", "anywhere"), ("app",))
FOCUS_PATHS: tuple[FocusPath, ...] = (
    (("menu", "edit"), ("prompt",), *_CONVERSATION),
    *(((scope,), *_CONVERSATION) for scope in ("history", "queue", "transcript", "pane", "find")),
    *(((scope,), *_REPLAY) for scope in ("transcript", "find")),
    (("launcher",), ("app",)),
    *(((scope,), ("form", "dialog"), ("app",)) for scope in ("edit", "form_choice")),
    *(((scope, "dialog"), ("app",)) for scope in _DIALOG_SCOPES),
)
"""Every order in which scopes can receive a key. Priority keys are checked first, in reverse order."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """The result of checking the user's keys."""

    keys: dict[str, str] = field(default_factory=dict)
    """Usable keys by action id, for `App.set_keymap`."""
    problems: dict[str, str] = field(default_factory=dict)
    """Problems by action id, each in one sentence."""

    def problems_with_origin(self, cwd: Path) -> list[str]:
        """Return the problems as sentences that name the file and line, for settings read in `cwd`."""
        from acp_tui.config.settings import find_origin

        found = self.problems.items()
        return [f"{find_origin(cwd, f'keys.{name}')}: keys.{name}: {problem}" for name, problem in found]


def check_keys(wanted: Mapping[str, str]) -> Keymap:
    """Check `wanted`: comma-separated keys by action id. Actions with an unusable key keep their defaults."""
    keymap = Keymap()
    for name, wanted_keys in wanted.items():
        if name not in KEYS:
            keymap.problems[name] = _unknown_action(name)
            continue
        keys, problem = _parse_keys(KEYS[name], wanted_keys)
        if problem is None:
            problem = _conflict(KEYS[name], keys, keymap.keys)
        if problem is None:
            keymap.keys[name] = ",".join(keys)
        else:
            keymap.problems[name] = f"{problem}; the default keys are used"
    for name in keymap.keys:
        if side_effect := _side_effect(KEYS[name], keymap.keys):
            keymap.problems[name] = side_effect
    return keymap


def problems(settings: Settings) -> list[Problem]:
    """Return the problems with the user's keys, with file and line."""
    from acp_tui.config.validators import Problem

    found = check_keys(settings.keys).problems
    origins = {name: settings.origin(f"keys.{name}") for name in found}
    return [
        Problem(origins[name].file, origins[name].line, f"keys.{name}", sentence)
        for name, sentence in found.items()
    ]


def _unknown_action(name: str) -> str:
    from acp_tui.config.validators import closest_match

    similar = closest_match(name, KEYS)
    hint = f"did you mean {similar!r}?" if similar else "`acp-tui config keys` lists all actions"
    return f"there is no such action; {hint}"


# --------------------------------------------------------------------------- one key


def _parse_keys(action: Key, wanted_keys: str) -> tuple[list[str], str | None]:
    """Return the keys in Textual's spelling and None, or no keys and the reason why one cannot be used."""
    keys = []
    for word in wanted_keys.split(","):
        key = normalize_key(word.strip())
        if key is None:
            return [], f"{word.strip()!r} is not a key (examples: 'ctrl+j', 'alt+up', 'f5', 'x')"
        if key in SENT_AS:
            return [], f"terminals send {key_name(key)} as {key_name(SENT_AS[key])}"
        if action.scope in TEXT_SCOPES and key not in _keys_of(action) and _is_printable(key):
            return [], f"{key_name(key)} types text here"
        keys.append(key)
    return keys, None


def normalize_key(word: str) -> str | None:
    """Return a key in Textual's spelling, or None if there is no such key."""
    *modifiers, last = word.split("+") if len(word) > 1 and not word.endswith("+") else [word]
    modifiers = sorted({modifier.strip().lower() for modifier in modifiers})
    if not set(modifiers) <= set(MODIFIERS):
        return None
    if len(last) == 1:
        if modifiers == ["shift"] and last.isalpha():
            return last.upper()
        last = _key_by_character().get(last.lower() if modifiers else last, "")
    else:
        last = SYNONYMS.get(last.lower(), last.lower())
    return "+".join([*modifiers, last]) if last in _key_names() else None


def _is_printable(key: str) -> bool:
    return key in _key_by_character().values()


@cache
def _key_by_character() -> dict[str, str]:
    """Map each printable ASCII character to Textual's name of the key that types the character."""
    return {chr(code): key_name_of(chr(code)) for code in range(0x20, 0x7F)}


@cache
def _key_names() -> frozenset[str]:
    """Return Textual's names of keys without modifiers: its named keys, and those that type ASCII."""
    from textual.keys import Keys

    named = {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
    return frozenset({*named, *_key_by_character().values()})


# --------------------------------------------------------------------------- several keys


def _keys_of(action: Key, keymap: Mapping[str, str] | None = None) -> list[str]:
    return (keymap or {}).get(action.id, action.keys).split(",")


def _share_widget(one: Key, other: Key) -> bool:
    """Return True if a single widget binds both actions, so that the actions cannot have the same key."""
    return any({one.scope, other.scope} <= set(scopes) for path in FOCUS_PATHS for scopes in path)


def _comes_before(one: Key, other: Key) -> bool:
    """Return True if `one` can receive a key before `other` does."""
    for path in FOCUS_PATHS:
        step, other_step = _step(path, one), _step(path, other)
        if step is None or other_step is None or step == other_step:
            continue
        if one.priority if one.priority != other.priority else (step < other_step) != one.priority:
            return True
    return False


def _step(path: FocusPath, action: Key) -> int | None:
    """Return the index in `path` at which an action can receive a key; None if the action cannot."""
    if action.scope == "app" and not action.priority and path[0][0] in MODAL_SCOPES:
        return None
    return next((number for number, scopes in enumerate(path) if action.scope in scopes), None)


def _conflict(action: Key, keys: list[str], keymap: Mapping[str, str]) -> str | None:
    """Return a message if the user bound one of the keys to another action of the same widget, else None."""
    for name in keymap:
        for key in keys:
            if _share_widget(action, KEYS[name]) and key in _keys_of(KEYS[name], keymap):
                return f"{key_name(key)} is also bound to {name}"
    return None


def _side_effect(action: Key, keymap: Mapping[str, str]) -> str | None:
    """Return a message if `action` now shares a key with another action, so that only one of the two runs.

    Return None if there is no such conflict. The message names the other action, and says whether the key
    still runs that action.
    """
    for other in TABLE:
        for key in _keys_of(action, keymap):
            if other is action or key in _keys_of(action) or key not in _keys_of(other, keymap):
                continue  # not a conflict, or not caused by the new keys of `action`
            name = key_name(key)
            what = f"{other.id} ({other.title[:1].lower()}{other.title[1:]})"
            works_everywhere = action.scope == "app" and action.priority
            if _share_widget(action, other) or (works_everywhere and _comes_before(action, other)):
                return f"{name} no longer runs {what}; bind {other.id} to another key"
            if _comes_before(action, other):
                return f'{name} no longer runs {what} in "{SCOPES[action.scope].title}"'
            if other.id not in keymap and _comes_before(other, action):
                where = "everywhere" if other.priority else f'in "{SCOPES[other.scope].title}"'
                return f"{name} still runs {what} {where}"
    return None
