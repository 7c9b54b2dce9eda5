"""Themes: TOML files with every colour, made into a theme for Textual and a palette for the transcript.

The first frame waits for this, so it is quick: a small file or two, and no library beside those on screen
anyway. A theme may be laid over a built-in one, its base; those of the user always are. So whatever one of
them leaves out, or gets wrong, still has a colour that fits.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.style import Style
from textual.theme import Theme

from acp_tui.config.paths import paths
from acp_tui.ui.theme.palette import SYNTAX, Palette

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.config.problems import Problem
    from acp_tui.config.settings import Settings

DEFAULT_THEME = "dark"
BUILT_IN = ("dark", "light", "high-contrast", "ansi", "nord", "gruvbox")
TERMINAL_COLOURS = 16
PREFIX = "acp-"
"""Before what Textual calls a theme: it has some of the same names."""

ANSI = "ansi_"
"""Before the names of the terminal's own colours."""

_SIXTEEN = "black|red|green|yellow|blue|magenta|cyan|white"
_COLOUR = re.compile(rf"#[0-9a-fA-F]{{6}}|{ANSI}(default|(bright_)?({_SIXTEEN}))")
_ATTRIBUTES = frozenset({"bold", "dim", "italic", "underline", "strike", "reverse"})
_SHARE = re.compile(r"\d{1,3}%\Z")
_THEME_KEYS = (
    *("background", "surface", "panel", "foreground"),
    *("primary", "secondary", "accent", "success", "warning", "error"),
)
_STYLES = tuple(part.name for part in fields(Palette) if part.name not in ("dark", "syntax", "terminal"))


@dataclass(frozen=True, slots=True)
class LoadedTheme:
    """A theme, ready to be used, and what was not understood of its file, as sentences for a person."""

    name: str
    theme: Theme
    palette: Palette
    problems: list[str] = field(default_factory=list)


def available() -> list[str]:
    """The names of all themes: the built-in ones, then the user's."""
    own = sorted(file.stem for file in _own_directory().glob("*.toml"))
    return [*BUILT_IN, *(name for name in own if name not in BUILT_IN)]


def problems(settings: Settings) -> list[Problem]:
    """What is wrong with the theme of the settings, and with its file."""
    from acp_tui.config.problems import Problem

    if settings.theme not in available():
        origin = settings.origin("theme")
        return [Problem(origin.file, origin.line, "theme", _no_theme(settings.theme))]
    own = _own_directory() / f"{settings.theme}.toml"
    return _read_own(settings.theme, own)[1] if own.is_file() else []


def load(name: str = DEFAULT_THEME, place: Callable[[], str] | None = None) -> LoadedTheme:
    """The theme of that name. Whatever is wrong with it, there is a usable one.

    `place` tells where the name was read, when it is an unknown one.
    """
    own = _own_directory() / f"{name}.toml"
    if _NAMES_A_FILE.fullmatch(name) and own.is_file():
        return _load_own(name, own)
    if name in BUILT_IN:
        return _build(name, _built_in(name))
    where = f"{place()}: " if place is not None else ""
    return _build(name, _built_in(DEFAULT_THEME), [f"{where}{_no_theme(name)} ({DEFAULT_THEME!r} is used)"])


def _no_theme(name: str) -> str:
    from acp_tui.config.problems import closest_match

    meant = closest_match(name, available())
    return f"there is no theme {name!r}; " + (
        f"did you mean {meant!r}?" if meant else f"known: {', '.join(available())}"
    )


_NAMES_A_FILE = re.compile(r"[\w][\w .-]*")


def _own_directory() -> Path:
    return paths().config / "themes"


def _built_in(name: str) -> dict[str, Any]:
    """From the installed package, or from beside it in a working copy."""
    package = Path(__file__).parents[2]
    file = package / "themes" / f"{name}.toml"
    if not file.is_file():
        file = package.parent / "themes" / f"{name}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return _merge(_built_in(data["base"]), data) if "base" in data else data


def _merge(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """All that the one says, and what it does not say as in its base."""
    merged = {key: base[key] | data.get(key, {}) for key in _TABLES}
    return {key: data.get(key, base.get(key)) for key in _SWITCHES} | merged


# --------------------------------------------------------------------------- a theme of the user's


def _load_own(name: str, file: Path) -> LoadedTheme:
    data, problems = _read_own(name, file)
    return _build(name, data, [str(problem) for problem in problems])


def _read_own(name: str, file: Path) -> tuple[dict[str, Any], list[Problem]]:
    from acp_tui.config import toml_document

    own = toml_document.read(file)
    data = _base_of(name, own)
    colours = _checked_table(own, "colors", None, _colour_complaint)
    data["colors"] |= colours
    styled = _style_complaint(data["colors"])
    coloured = _named_complaint(data["colors"])
    data["theme"] |= _checked_table(own, "theme", _THEME_KEYS, coloured)
    data["variables"] |= _checked_table(own, "variables", None, _variable_complaint(data["colors"]))
    data["styles"] |= _checked_table(own, "styles", _STYLES, styled)
    data["syntax"] |= _checked_table(own, "syntax", SYNTAX, styled)
    data["terminal"] |= _checked_table(own, "terminal", ("colors",), _sixteen_complaint(data["colors"]))
    known = ("base", *_SWITCHES, *_TABLES)
    for key in own.data.keys() - set(known):
        own.report_unknown_key((key,), known)
    return data, own.problems


_SWITCHES = ("dark", "ansi")
_TABLES = ("colors", "theme", "variables", "styles", "syntax", "terminal")

if TYPE_CHECKING:
    from acp_tui.config.toml_document import TomlDocument

    Complaint = Callable[[Any], str | None]


def _base_of(name: str, own: TomlDocument) -> dict[str, Any]:
    """What the user's theme is laid over: the one it names, else the one of its own name or darkness."""
    switches = {}
    for key in _SWITCHES:
        value = own.data.get(key)
        if isinstance(value, bool):
            switches[key] = value
        elif value is not None:
            own.report((key,), "must be true or false")
    base = own.data.get("base")
    if base is not None and base not in BUILT_IN:
        own.report(("base",), f"must be one of {', '.join(BUILT_IN)}")
    if base not in BUILT_IN:
        usual = "dark" if switches.get("dark", True) else "light"
        base = name if name in BUILT_IN and not switches else usual
    return _built_in(base) | switches


def _checked_table(
    own: TomlDocument, table: str, known: Iterable[str] | None, complaint: Complaint
) -> dict[str, Any]:
    """The values of one table that can be used; the others are complained about."""
    values = own.data.get(table, {})
    if not isinstance(values, dict):
        own.report((table,), "must be a table")
        return {}
    good: dict[str, Any] = {}
    for key, value in values.items():
        if known is not None and key not in known:
            own.report_unknown_key((table, key), known)
        elif (wrong := complaint(value)) is not None:
            own.report((table, key), f"{wrong}; the built-in value is used")
        else:
            good[key] = value
    return good


def _colour_complaint(value: Any) -> str | None:
    good = isinstance(value, str) and _COLOUR.fullmatch(value)
    return None if good else "must be a colour such as '#8ab4f0'"


def _named_complaint(colours: dict[str, str]) -> Complaint:
    def complaint(value: Any) -> str | None:
        good = isinstance(value, str) and (value in colours or _COLOUR.fullmatch(value))
        return None if good else "must be a name from [colors] or a colour such as '#8ab4f0'"

    return complaint


def _variable_complaint(colours: dict[str, str]) -> Complaint:
    named = _named_complaint(colours)

    def complaint(value: Any) -> str | None:
        words = value.split() if isinstance(value, str) else []
        if words and all(word in _ATTRIBUTES or word in ("none", "not") for word in words):
            return None
        colour = (
            bool(words)
            and not named(words[0])
            and (len(words) == 1 or bool(_SHARE.match(" ".join(words[1:]))))
        )
        return None if colour else "must be a colour such as 'blue' or 'blue 40%', or for a style 'bold'"

    return complaint


def _style_complaint(colours: dict[str, str]) -> Complaint:
    named = _named_complaint(colours)

    def complaint(value: Any) -> str | None:
        if not isinstance(value, str):
            return "must be a style such as 'bold blue on panel'"
        words = [word for word in value.split() if word not in _ATTRIBUTES and word != "on"]
        wrong = next((word for word in words if named(word)), None)
        if wrong is not None:
            return f"{wrong!r} is neither a colour nor one of {', '.join(sorted(_ATTRIBUTES))}"
        return "'on' must be followed by a colour" if value.split()[-1:] == ["on"] else None

    return complaint


def _sixteen_complaint(colours: dict[str, str]) -> Complaint:
    named = _named_complaint(colours)

    def complaint(value: Any) -> str | None:
        good = isinstance(value, list) and len(value) == TERMINAL_COLOURS and not any(map(named, value))
        return None if good else f"must be a list of {TERMINAL_COLOURS} colours"

    return complaint


# --------------------------------------------------------------------------- from data to colours


def _build(name: str, data: dict[str, Any], problems: list[str] | None = None) -> LoadedTheme:
    colours: dict[str, str] = data["colors"]
    dark: bool = data["dark"]
    variables = {key: _variable(value, colours) for key, value in data["variables"].items()}
    theme = Theme(
        name=f"{PREFIX}{name}",
        dark=dark,
        ansi=bool(data.get("ansi")),
        variables=_chosen_row(data["styles"]["selected"], colours) | _selected_text(variables) | variables,
        **{key: colours.get(value, value) for key, value in data["theme"].items()},
    )
    palette = Palette(
        dark=dark,
        syntax={key: _style(value, colours) for key, value in data["syntax"].items()},
        terminal=tuple(_named(value, colours) for value in data["terminal"]["colors"]),
        **{key: _style(value, colours) for key, value in data["styles"].items()},
    )
    return LoadedTheme(name, theme, palette, problems or [])


def _chosen_row(style: str, colours: dict[str, str]) -> dict[str, str]:
    """For lists that are coloured by CSS: the row that Enter takes looks as it does in all others."""
    _, front, back = _read(style)
    row = {"selected-foreground": front or "ink", "selected-background": back or "panel"}
    return {key: _variable(colour, colours) for key, colour in row.items()}


def _selected_text(variables: dict[str, str]) -> dict[str, str]:
    """The colour of text that is selected with the mouse.

    Textual's default is transparent, which in our line renderers becomes the background's own colour.
    """
    background = variables.get("screen-selection-background")
    if background is None or background.startswith("ansi_"):
        return {}
    from textual.color import Color

    return {"screen-selection-foreground": Color.parse(background).get_contrast_text(1.0).hex}


def _style(text: str, colours: dict[str, str]) -> Style:
    """`bold blue on panel`, with the names of the theme's own colours."""
    attributes, *pair = _read(text)
    front, back = (None if name is None else _named(name, colours) for name in pair)
    return Style(color=front, bgcolor=back, **attributes)  # type: ignore[arg-type]  # flags


def _read(text: str) -> tuple[dict[str, bool], str | None, str | None]:
    """Attributes, colour, and the colour behind it."""
    attributes: dict[str, bool] = {}
    front = back = None
    words = iter(text.split())
    for word in words:
        if word in _ATTRIBUTES:
            attributes[word] = True
        elif word == "on":
            back = next(words)
        else:
            front = word
    return attributes, front, back


def _named(name: str, colours: dict[str, str]) -> str:
    """A colour as Rich calls it."""
    return colours.get(name, name).removeprefix(ANSI)


def _variable(text: str, colours: dict[str, str]) -> str:
    """A value of Textual's, such as `blue 40%`: names of ours are replaced."""
    return " ".join(colours.get(word, word) for word in text.split())
