"""Colours and attributes of terminal text, as set by SGR sequences (`ESC [ … m`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

Color = int | tuple[int, int, int] | None
"""None: the default colour; 0-15: the theme's palette; 16-255: the fixed palette; or red, green and blue."""


@dataclass(frozen=True, slots=True)
class Style:
    """Colours and attributes. Blinking and concealing are not supported, so that no text is hidden."""

    fg: Color = None
    bg: Color = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Style()

_SIMPLE: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},  # doubly
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
    39: {"fg": None},
    49: {"bg": None},
    **{30 + number: {"fg": number} for number in range(8)},
    **{40 + number: {"bg": number} for number in range(8)},
    **{90 + number: {"fg": 8 + number} for number in range(8)},
    **{100 + number: {"bg": 8 + number} for number in range(8)},
}
_EXTENDED = {38, 48, 58}  # 58: the colour of the underline, which is ignored


@lru_cache(maxsize=4096)
def apply_sgr(style: Style, parameters: str) -> Style:
    """Return `style` as changed by an SGR sequence. Unknown parameters are ignored."""
    codes = parameters.split(";")
    while codes:
        code, *details = codes.pop(0).split(":")
        number = _number(code)
        if number == 0:
            style = PLAIN
        elif number in _EXTENDED:
            color = _color(details or codes, with_space=bool(details))
            if color is not None and number == 38:
                style = replace(style, fg=color)
            elif color is not None and number == 48:
                style = replace(style, bg=color)
        elif number == 4 and details[:1] == ["0"]:  # "4:0" means no underline
            style = replace(style, underline=False)
        elif number in _SIMPLE:
            style = replace(style, **_SIMPLE[number])
    return style


def _number(text: str) -> int:
    return min(int(text), 9999) if text.isdecimal() else -1 if text else 0


def _color(codes: list[str], *, with_space: bool) -> Color:
    """Remove an extended colour from the front of the codes, and return the colour; None if it is invalid.

    An extended colour is `5;N` or `2;R;G;B`. If written with colons, the colour can contain a colour space
    after the 2 (`with_space`). The colour space can be empty: `2::R:G:B`.
    """
    kind = codes.pop(0) if codes else ""
    if kind == "5" and codes:
        number = _number(codes.pop(0))
        return number if 0 <= number <= 255 else None
    if kind == "2":
        if with_space and len(codes) > 3:
            codes.pop(0)  # the colour space, usually empty
        values = [_number(code) for code in codes[:3]]
        del codes[:3]
        if len(values) == 3 and all(0 <= value <= 255 for value in values):
            return (values[0], values[1], values[2])
    return None
