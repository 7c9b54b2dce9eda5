"""User-defined keys, from `[keys]` in the settings: which are usable, and the problems with the others.

A key bound by the user is taken from the action that had it in the same scope, and a problem reports that.
In scopes where text is typed, letters cannot be bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from acp_tui.ui.keys import KEYS, SCOPES, TABLE, Key, ScopeName, key_name
from acp_tui.ui.terminal.textual_keys import key_name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.config.problems import Problem
    from acp_tui.config.settings import Settings

MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
SYNONYMS = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"}
SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape"}
"""Keys that most terminals send as another key."""

TEXT_SCOPES: tuple[ScopeName, ...] = (
    *("prompt", "menu", "edit", "history", "find", "choose", "launcher"),
    *("dialog", "conversation", "anywhere", "app"),
)
"""Scopes in which text is typed, so that letters cannot be bound."""
CONVERSATION_PATH: tuple[tuple[ScopeName, ...], ...] = (("conversation", "anywhere"), ("app",))
REPLAY_PATH: tuple[tuple[ScopeName, ...], ...] = (("replay", "anywhere"), ("app",))
FOCUS_PATHS: tuple[tuple[tuple[ScopeName, ...], ...], ...] = (
    (("menu", "edit"), ("prompt",), *CONVERSATION_PATH),
    *(((place,), *CONVERSATION_PATH) for place in ("history", "queue", "transcript", "pane", "find")),
    *(((place,), *REPLAY_PATH) for place in ("transcript", "find")),
    (("launcher",), ("app",)),
    *(((place, "dialog"), ("app",)) for place in ("permission", "choose", "detail", "help")),
)
"""The scopes a key passes, from the focused widget outwards; scopes in one inner tuple are one widget.

Priority bindings are checked before all others. From a modal screen only those reach the app.
"""
MODAL_SCOPES: frozenset[ScopeName] = frozenset({"permission", "choose", "detail", "help"})


@dataclass(frozen=True, slots=True)
class Keymap:
    """Usable keys by action id, for `App.set_keymap`, and complaints by action id."""

    keys: dict[str, str] = field(default_factory=dict)
    complaints: dict[str, str] = field(default_factory=dict)


def check_keys(wishes: Mapping[str, str]) -> Keymap:
    """Check the keys wished for, by action id. Each is accepted or rejected independently."""
    found = Keymap()
    for name, wish in wishes.items():
        if name not in KEYS:
            found.complaints[name] = _unknown(name)
            continue
        keys, wrong = _parse_keys(KEYS[name], wish)
        if wrong is None:
            wrong = _conflict(KEYS[name], keys, found.keys)
        if wrong is None:
            found.keys[name] = ",".join(keys)
        else:
            found.complaints[name] = f"{wrong}; not used"
    for name in found.keys:
        if clash := _side_effect(KEYS[name], found.keys):
            found.complaints[name] = clash
    return found


def problems(settings: Settings) -> list[Problem]:
    """Return the complaints with file and line."""
    from acp_tui.config.problems import Problem

    complaints = check_keys(settings.keys).complaints
    origins = {name: settings.origin(f"keys.{name}") for name in complaints}
    return [
        Problem(origins[name].file, origins[name].line, f"keys.{name}", sentence)
        for name, sentence in complaints.items()
    ]


def _unknown(name: str) -> str:
    from acp_tui.config.problems import closest_match

    meant = closest_match(name, KEYS)
    hint = f"did you mean {meant!r}?" if meant else "`acp-tui config keys` lists them"
    return f"there is no such action; {hint}"


# --------------------------------------------------------------------------- one key


def _parse_keys(action: Key, wish: str) -> tuple[list[str], str | None]:
    """Return the keys in Textual's spelling, or the reason why one of them cannot be used."""
    keys = []
    for word in wish.split(","):
        key = normalize_key(word.strip())
        if key is None:
            return [], f"{word.strip()!r} is not a key (examples: 'ctrl+j', 'alt+up', 'f5', 'x')"
        if key in SENT_AS:
            return [], f"terminals send {key_name(key)} as {key_name(SENT_AS[key])}"
        if action.where in TEXT_SCOPES and key not in _keys_of(action) and _is_printable(key):
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
        last = _characters().get(last.lower() if modifiers else last, "")
    else:
        last = SYNONYMS.get(last.lower(), last.lower())
    return "+".join([*modifiers, last]) if last in _key_names() else None


def _is_printable(key: str) -> bool:
    """Return True if the key types a character."""
    return key in _characters().values()


@cache
def _characters() -> dict[str, str]:
    """Textual's names of the keys that type a character, by character."""
    return {chr(code): key_name_of(chr(code)) for code in range(0x20, 0x7F)}


@cache
def _key_names() -> frozenset[str]:
    """Names of all keys without modifiers."""
    from textual.keys import Keys

    named = {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
    return frozenset({*named, *_characters().values()})


# --------------------------------------------------------------------------- several


def _keys_of(action: Key, chosen: Mapping[str, str] | None = None) -> list[str]:
    return (chosen or {}).get(action.id, action.keys).split(",")


def _same_widget(one: Key, other: Key) -> bool:
    """Return True if both actions are bound by the same widget, so that they cannot share a key."""
    return any({one.where, other.where} <= set(places) for way in FOCUS_PATHS for places in way)


def _hides(one: Key, other: Key) -> bool:
    """Return True if `one` can receive a key before `other` does."""
    for way in FOCUS_PATHS:
        step, other_step = _step(way, one), _step(way, other)
        if step is None or other_step is None or step == other_step:
            continue
        if one.priority if one.priority != other.priority else (step < other_step) != one.priority:
            return True
    return False


def _step(way: tuple[tuple[ScopeName, ...], ...], action: Key) -> int | None:
    if action.where == "app" and not action.priority and way[0][0] in MODAL_SCOPES:
        return None
    return next((number for number, places in enumerate(way) if action.where in places), None)


def _conflict(action: Key, keys: list[str], chosen: Mapping[str, str]) -> str | None:
    """Describe another user binding in the same scope that has one of these keys."""
    for name in chosen:
        for key in keys:
            if _same_widget(action, KEYS[name]) and key in _keys_of(KEYS[name], chosen):
                return f"{key_name(key)} is also bound to {name}"
    return None


def _side_effect(action: Key, chosen: Mapping[str, str]) -> str | None:
    """Describe an action that loses its key to this one, or still receives it first."""
    for other in TABLE:
        for key in _keys_of(action, chosen):
            if other is action or key in _keys_of(action) or key not in _keys_of(other, chosen):
                continue  # shared by default already
            name = key_name(key)
            what = f"{other.id} ({other.help[:1].lower()}{other.help[1:]})"
            always = action.where == "app" and action.priority
            if _same_widget(action, other) or (always and _hides(action, other)):
                return f"{name} was bound to {what}; bind that to another key"
            if _hides(action, other):
                return f"{name} no longer reaches {what} there"
            if other.id not in chosen and _hides(other, action):
                place = "everywhere" if other.priority else f'in "{SCOPES[other.where].title}"'
                return f"{place} {name} is still {what}"
    return None
