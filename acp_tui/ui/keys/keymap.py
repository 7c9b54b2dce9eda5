"""Keys of the user's own, from `[keys]`: what of them can be used, and what is wrong with the rest.

A key that the user gives to an action is taken from whatever had it in the same place, and that is told.
Where text is written, letters stay letters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from acp_tui.ui.keys import KEYS, PLACES, TABLE, Key, Where, key_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.config.problems import Problem
    from acp_tui.config.settings import Settings

MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
SYNONYMS = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"}
SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape"}
"""Keys that cannot be told from others on most terminals."""

WRITTEN: tuple[Where, ...] = (
    *("prompt", "menu", "edit", "history", "find", "choose", "launcher"),
    *("dialog", "conversation", "anywhere", "app"),
)
"""Places where text is typed, so that a letter cannot be a key."""
CONVERSATION: tuple[tuple[Where, ...], ...] = (("conversation", "anywhere"), ("app",))
REPLAY: tuple[tuple[Where, ...], ...] = (("replay", "anywhere"), ("app",))
WAYS: tuple[tuple[tuple[Where, ...], ...], ...] = (
    (("menu", "edit"), ("prompt",), *CONVERSATION),
    *(((place,), *CONVERSATION) for place in ("history", "queue", "transcript", "pane", "find")),
    *(((place,), *REPLAY) for place in ("transcript", "find")),
    (("launcher",), ("app",)),
    *(((place, "dialog"), ("app",)) for place in ("permission", "choose", "detail", "help")),
)
"""The ways that a key goes, from what has the focus outwards; places in one pair of brackets are one widget.

Keys with priority come before all others. From what lies over the screen only those get to the program.
"""
OVER: frozenset[Where] = frozenset({"permission", "choose", "detail", "help"})


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys by the id of the action, for `App.set_keymap`, and by id what is to be said of a wish."""

    keys: dict[str, str] = field(default_factory=dict)
    complaints: dict[str, str] = field(default_factory=dict)


def keymap(wishes: Mapping[str, str]) -> Keymap:
    """What becomes of the wishes. Each can be used or not independently of the others."""
    found = Keymap()
    for name, wish in wishes.items():
        if name not in KEYS:
            found.complaints[name] = _unknown(name)
            continue
        keys, wrong = _checked(KEYS[name], wish)
        if wrong is None:
            wrong = _taken(KEYS[name], keys, found.keys)
        if wrong is None:
            found.keys[name] = ",".join(keys)
        else:
            found.complaints[name] = f"{wrong}; not used"
    for name in found.keys:
        if clash := _clash(KEYS[name], found.keys):
            found.complaints[name] = clash
    return found


def problems(settings: Settings) -> list[Problem]:
    """The same with file and line."""
    from acp_tui.config.problems import Problem

    complaints = keymap(settings.keys).complaints
    origins = {name: settings.origin(f"keys.{name}") for name in complaints}
    return [
        Problem(origins[name].file, origins[name].line, f"keys.{name}", sentence)
        for name, sentence in complaints.items()
    ]


def _unknown(name: str) -> str:
    from acp_tui.config.problems import nearest

    meant = nearest(name, KEYS)
    hint = f"did you mean {meant!r}?" if meant else "`acp-tui config keys` lists them"
    return f"there is no such action; {hint}"


# --------------------------------------------------------------------------- one key


def _checked(action: Key, wish: str) -> tuple[list[str], str | None]:
    """The keys as Textual calls them, or why one of them cannot be used."""
    keys = []
    for word in wish.split(","):
        key = normal(word.strip())
        if key is None:
            return [], f"{word.strip()!r} is no key; keys are such as 'ctrl+j', 'alt+up', 'f5' or 'x'"
        if key in SENT_AS:
            return [], f"terminals send {key_name(key)} as {key_name(SENT_AS[key])}"
        if action.where in WRITTEN and key not in _bound(action) and _types(key):
            return [], f"{key_name(key)} is typed as text in this place"
        keys.append(key)
    return keys, None


def normal(word: str) -> str | None:
    """A key as Textual calls it, however it was written; None: there is no such key."""
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
    return "+".join([*modifiers, last]) if last in _names() else None


def _types(key: str) -> bool:
    """Does it write something?"""
    return key in _characters().values()


@cache
def _characters() -> dict[str, str]:
    """What Textual calls the keys that write a character."""
    from textual.keys import _character_to_key

    return {chr(code): _character_to_key(chr(code)) for code in range(0x20, 0x7F)}


@cache
def _names() -> frozenset[str]:
    """All keys without modifiers."""
    from textual.keys import Keys

    named = {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
    return frozenset({*named, *_characters().values()})


# --------------------------------------------------------------------------- several


def _bound(action: Key, chosen: Mapping[str, str] | None = None) -> list[str]:
    return (chosen or {}).get(action.id, action.keys).split(",")


def _together(one: Key, other: Key) -> bool:
    """Can a key be only one of them?"""
    return any({one.where, other.where} <= set(places) for way in WAYS for places in way)


def _hides(one: Key, other: Key) -> bool:
    """Is there a way on which the one gets a key that is meant for the other?"""
    for way in WAYS:
        step, other_step = _step(way, one), _step(way, other)
        if step is None or other_step is None or step == other_step:
            continue
        if one.priority if one.priority != other.priority else (step < other_step) != one.priority:
            return True
    return False


def _step(way: tuple[tuple[Where, ...], ...], action: Key) -> int | None:
    if action.where == "app" and not action.priority and way[0][0] in OVER:
        return None
    return next((number for number, places in enumerate(way) if action.where in places), None)


def _taken(action: Key, keys: list[str], chosen: Mapping[str, str]) -> str | None:
    """Another action of the place that the user gave one of these keys."""
    for name in chosen:
        for key in keys:
            if _together(action, KEYS[name]) and key in _bound(KEYS[name], chosen):
                return f"{key_name(key)} is given to {name} as well"
    return None


def _clash(action: Key, chosen: Mapping[str, str]) -> str | None:
    """Something else that loses its key by this, or gets it first."""
    for other in TABLE:
        for key in _bound(action, chosen):
            if other is action or key in _bound(action) or key not in _bound(other, chosen):
                continue  # or so it has always been
            name = key_name(key)
            what = f"{other.id} ({other.help[:1].lower()}{other.help[1:]})"
            always = action.where == "app" and action.priority
            if _together(action, other) or (always and _hides(action, other)):
                return f"{name} was the key of {what}: give that another one"
            if _hides(action, other):
                return f"{name} no longer reaches {what} from there"
            if other.id not in chosen and _hides(other, action):
                place = "everywhere" if other.priority else f"in the place “{PLACES[other.where].title}”"
                return f"{place} {name} is still {what}"
    return None
