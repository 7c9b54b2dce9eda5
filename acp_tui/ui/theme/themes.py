"""Loads themes: TOML files from which a Textual theme and the palette of the transcript are made.

A theme can have a base theme, whose values are used in place of missing and invalid ones. A theme made by the
user always has a base theme. The first frame waits for the theme, so nothing heavy is imported here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.style import Style
from textual.theme import Theme

from acp_tui.config.early_settings import AUTO_THEME, EarlySettings
from acp_tui.config.paths import paths
from acp_tui.ui.theme.palette import SYNTAX, Palette, set_current_palette

if TYPE_CHECKING:
    from textual.app import App

    from acp_tui.config.settings import Settings
    from acp_tui.config.toml_document import TomlDocument
    from acp_tui.config.validators import Problem
    from acp_tui.ui.terminal.passthrough import BackgroundReply, BackgroundWatcher


DEFAULT_THEME = "dark"
BUILT_IN = ("dark", "light", "high-contrast", "ansi", "nord", "gruvbox")
TERMINAL_COLOURS = 16
PREFIX = "acp-"
"""The prefix of acp-tui's themes in Textual, which has themes of its own with the same names."""

ANSI = "ansi_"
"""The prefix of names for the terminal's own colours, as in `ansi_red`."""

_ANSI_NAMES = "black|red|green|yellow|blue|magenta|cyan|white"
_COLOUR = re.compile(rf"#[0-9a-fA-F]{{6}}|{ANSI}(default|(bright_)?({_ANSI_NAMES}))")
_ATTRIBUTES = frozenset({"bold", "dim", "italic", "underline", "strike", "reverse"})
_OPACITY = re.compile(r"\d{1,3}%\Z")
_THEME_KEYS = (
    *("background", "surface", "panel", "foreground"),
    *("primary", "secondary", "accent", "success", "warning", "error"),
)
_STYLES = tuple(part.name for part in fields(Palette) if part.name not in ("dark", "syntax", "terminal"))


@dataclass(frozen=True, slots=True)
class LoadedTheme:
    """A theme, and the problems found in its file."""

    name: str
    theme: Theme
    palette: Palette
    problems: list[str] = field(default_factory=list)


def available_themes() -> list[str]:
    """Return the names of all themes: the built-in ones, then the user's."""
    own = sorted(file.stem for file in _user_directory().glob("*.toml"))
    return [*BUILT_IN, *(name for name in own if name not in BUILT_IN)]


def theme_problems(settings: Settings) -> list[Problem]:
    """Return the problems with the themes that the settings name, and with the files of these themes."""
    from acp_tui.config.validators import Problem

    problems: list[Problem] = []
    chosen = {"theme": settings.theme}
    if settings.theme == AUTO_THEME:
        chosen = {"theme_dark": settings.theme_dark, "theme_light": settings.theme_light}
    for key, name in chosen.items():
        file = _user_directory() / f"{name}.toml"
        if name not in available_themes():
            origin = settings.origin(key)
            problems.append(Problem(origin.file, origin.line, key, _unknown_theme_message(name)))
        elif file.is_file():
            problems += _read_user_theme(name, file)[1]
    return problems


def load_theme(name: str = DEFAULT_THEME, origin: Callable[[], str] | None = None) -> LoadedTheme:
    """Load a theme. If the name is unknown, return the default theme with a message in `problems`.

    `origin` returns where the name comes from, for the message about an unknown theme.
    """
    file = _user_directory() / f"{name}.toml"
    if _THEME_NAME.fullmatch(name) and file.is_file():
        data, problems = _read_user_theme(name, file)
        return _build(name, data, [str(problem) for problem in problems])
    if name in BUILT_IN:
        return _build(name, _read_built_in(name))
    where = f"{origin()}: " if origin is not None else ""
    problem = f"{where}{_unknown_theme_message(name)} (using {DEFAULT_THEME!r})"
    return _build(name, _read_built_in(DEFAULT_THEME), [problem])


def _unknown_theme_message(name: str) -> str:
    from acp_tui.config.validators import closest_match

    known = [AUTO_THEME, *available_themes()]
    meant = closest_match(name, known)
    hint = f"did you mean {meant!r}?" if meant else f"known: {', '.join(known)}"
    return f"unknown theme {name!r}; {hint}"


_THEME_NAME = re.compile(r"[\w][\w .-]*")


def _user_directory() -> Path:
    return paths().config / "themes"


def _read_built_in(name: str) -> dict[str, Any]:
    """Read a built-in theme from the installed package, or from the folder `themes` of a working copy."""
    package = Path(__file__).parents[2]
    file = package / "themes" / f"{name}.toml"
    if not file.is_file():
        file = package.parent / "themes" / f"{name}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return _merge(_read_built_in(data["base"]), data) if "base" in data else data


def _merge(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Return a theme's data with missing values filled in from its base theme."""
    merged = {key: base[key] | data.get(key, {}) for key in _TABLES}
    return {key: data.get(key, base.get(key)) for key in _SWITCHES} | merged


# --------------------------------------------------------------------------- themes of users


def _read_user_theme(name: str, file: Path) -> tuple[dict[str, Any], list[Problem]]:
    from acp_tui.config import toml_document

    document = toml_document.read(file)
    data = _read_base(name, document)
    data["colors"] |= _read_table(document, "colors", None, _check_colour)
    check_style = _style_check(data["colors"])
    check_colour = _named_colour_check(data["colors"])
    data["theme"] |= _read_table(document, "theme", _THEME_KEYS, check_colour)
    data["variables"] |= _read_table(document, "variables", None, _variable_check(data["colors"]))
    data["styles"] |= _read_table(document, "styles", _STYLES, check_style)
    data["syntax"] |= _read_table(document, "syntax", SYNTAX, check_style)
    data["terminal"] |= _read_table(document, "terminal", ("colors",), _terminal_check(data["colors"]))
    known = ("base", *_SWITCHES, *_TABLES)
    for key in document.data.keys() - set(known):
        document.report_unknown_key((key,), known)
    return data, document.problems


_SWITCHES = ("dark", "ansi")
_TABLES = ("colors", "theme", "variables", "styles", "syntax", "terminal")

if TYPE_CHECKING:
    Check = Callable[[Any], str | None]
    """A function that returns what is wrong with a value; None if the value is valid."""


def _read_base(name: str, document: TomlDocument) -> dict[str, Any]:
    """Return the base of a user's theme, with `dark` and `ansi` from the user's file if the file sets them.

    The base is a built-in theme, chosen by the first of these rules that applies:

    1. If the key `base` in the file is the name of a built-in theme, that theme.
    2. If a built-in theme has the same name as the user's theme, and the file sets neither `dark` nor
       `ansi`, the built-in theme.
    3. If the file sets `dark` to false, "light".
    4. Otherwise "dark".
    """
    switches = {}
    for key in _SWITCHES:
        value = document.data.get(key)
        if isinstance(value, bool):
            switches[key] = value
        elif value is not None:
            document.report((key,), "must be true or false")
    base = document.data.get("base")
    if base is not None and base not in BUILT_IN:
        document.report(("base",), f"must be one of {', '.join(BUILT_IN)}")
    if base not in BUILT_IN:
        default = "dark" if switches.get("dark", True) else "light"
        base = name if name in BUILT_IN and not switches else default
    return _read_built_in(base) | switches


def _read_table(
    document: TomlDocument, table: str, known: Iterable[str] | None, check: Check
) -> dict[str, Any]:
    """Return the valid values of a table in a theme file. Report the others as problems of the document.

    `known` contains the valid keys of the table; None if all keys are valid.
    """
    values = document.data.get(table, {})
    if not isinstance(values, dict):
        document.report((table,), "must be a table")
        return {}
    valid: dict[str, Any] = {}
    for key, value in values.items():
        if known is not None and key not in known:
            document.report_unknown_key((table, key), known)
        elif (problem := check(value)) is not None:
            document.report((table, key), f"{problem}; the built-in value is used")
        else:
            valid[key] = value
    return valid


def _check_colour(value: Any) -> str | None:
    valid = isinstance(value, str) and _COLOUR.fullmatch(value)
    return None if valid else "must be a colour such as '#8ab4f0'"


def _named_colour_check(colours: dict[str, str]) -> Check:
    def check(value: Any) -> str | None:
        valid = isinstance(value, str) and (value in colours or _COLOUR.fullmatch(value))
        return None if valid else "must be a name from [colors] or a colour such as '#8ab4f0'"

    return check


def _variable_check(colours: dict[str, str]) -> Check:
    check_colour = _named_colour_check(colours)

    def check(value: Any) -> str | None:
        words = value.split() if isinstance(value, str) else []
        if words and all(word in _ATTRIBUTES or word in ("none", "not") for word in words):
            return None
        valid = (
            bool(words)
            and not check_colour(words[0])
            and (len(words) == 1 or bool(_OPACITY.match(" ".join(words[1:]))))
        )
        return None if valid else "must be a colour such as 'blue' or 'blue 40%', or a style such as 'bold'"

    return check


def _style_check(colours: dict[str, str]) -> Check:
    check_colour = _named_colour_check(colours)

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return "must be a style such as 'bold blue on panel'"
        words = value.split()
        names = [word for word in words if word not in _ATTRIBUTES and word != "on"]
        wrong = next((name for name in names if check_colour(name)), None)
        if wrong is not None:
            return f"{wrong!r} is neither a colour nor one of {', '.join(sorted(_ATTRIBUTES))}"
        following = (after for word, after in pairwise([*words, ""]) if word == "on")
        return None if all(after in names for after in following) else "'on' must be followed by a colour"

    return check


def _terminal_check(colours: dict[str, str]) -> Check:
    check_colour = _named_colour_check(colours)

    def check(value: Any) -> str | None:
        valid = (
            isinstance(value, list) and len(value) == TERMINAL_COLOURS and not any(map(check_colour, value))
        )
        return None if valid else f"must be a list of {TERMINAL_COLOURS} colours"

    return check


# --------------------------------------------------------------------------- from data to styles


def _build(name: str, data: dict[str, Any], problems: list[str] | None = None) -> LoadedTheme:
    colours: dict[str, str] = data["colors"]
    dark: bool = data["dark"]
    variables = {key: _textual_value(value, colours) for key, value in data["variables"].items()}
    theme = Theme(
        name=f"{PREFIX}{name}",
        dark=dark,
        ansi=bool(data.get("ansi")),
        variables=_selected_row(data["styles"]["selected"], colours) | _selected_text(variables) | variables,
        **{key: colours.get(value, value) for key, value in data["theme"].items()},
    )
    palette = Palette(
        dark=dark,
        syntax={key: _style(value, colours) for key, value in data["syntax"].items()},
        terminal=tuple(_rich_colour(value, colours) for value in data["terminal"]["colors"]),
        **{key: _style(value, colours) for key, value in data["styles"].items()},
    )
    return LoadedTheme(name, theme, palette, problems or [])


def _selected_row(style: str, colours: dict[str, str]) -> dict[str, str]:
    """Return CSS variables that make selected rows in Textual's lists look like selected rows of acp-tui.

    `style` is the theme's style for selected rows.
    """
    _, foreground, background = _parse_style(style)
    row = {"selected-foreground": foreground or "ink", "selected-background": background or "panel"}
    return {key: _textual_value(colour, colours) for key, colour in row.items()}


def _selected_text(variables: dict[str, str]) -> dict[str, str]:
    """Return the CSS variable for the colour of text selected with the mouse.

    Textual's default, a transparent colour, makes the text invisible in lines that acp-tui draws itself.
    """
    background = variables.get("screen-selection-background")
    if background is None or background.startswith("ansi_"):
        return {}
    from textual.color import Color

    return {"screen-selection-foreground": Color.parse(background).get_contrast_text(1.0).hex}


def _style(text: str, colours: dict[str, str]) -> Style:
    """Convert a style such as `bold blue on panel` to a Rich style.

    `colours` has the theme's colours by name.
    """
    attributes, *names = _parse_style(text)
    foreground, background = (None if name is None else _rich_colour(name, colours) for name in names)
    return Style(color=foreground, bgcolor=background, **attributes)  # type: ignore[arg-type]  # flags


def _parse_style(text: str) -> tuple[dict[str, bool], str | None, str | None]:
    """Split a style such as `bold blue on panel` into its attributes, foreground and background."""
    attributes: dict[str, bool] = {}
    foreground = background = None
    words = iter(text.split())
    for word in words:
        if word in _ATTRIBUTES:
            attributes[word] = True
        elif word == "on":
            background = next(words)
        else:
            foreground = word
    return attributes, foreground, background


def _rich_colour(name: str, colours: dict[str, str]) -> str:
    """Convert a colour of the theme, or a value such as `ansi_red`, to Rich's notation."""
    return colours.get(name, name).removeprefix(ANSI)


def _textual_value(text: str, colours: dict[str, str]) -> str:
    """Convert a value such as `blue 40%` to Textual's notation."""
    return " ".join(colours.get(word, word) for word in text.split())


class ThemeChoice:
    """The name of the chosen theme. For `auto`, also decides which theme is used on which background."""

    def __init__(self, settings: EarlySettings | None, name: str | None) -> None:
        """Choose the theme `name`; if that is None, the theme in the settings."""
        self._settings = settings
        self._key: str | None = None  # the setting that `name` comes from
        if name is None and settings is not None and settings.theme is not None:
            name, self._key = settings.theme, "theme"
        self.name = name or AUTO_THEME
        """The name of the chosen theme, as in the settings."""

    @property
    def is_auto(self) -> bool:
        """True if the theme depends on the terminal's background."""
        return self.name == AUTO_THEME

    def choose(self, name: str) -> None:
        """Choose another theme, or `auto`."""
        self.name, self._key = name, None

    def load(self, *, dark: bool) -> LoadedTheme:
        """Load the chosen theme, for a `dark` or a light background."""
        name, key = (self.name, self._key) if not self.is_auto else self._for_background(dark=dark)
        return load_theme(name, None if key is None else lambda: f"{self._origin(key)}: {key}")

    def _for_background(self, *, dark: bool) -> tuple[str, str | None]:
        """Return the theme that `auto` uses, and the key of the setting that names the theme.

        The key is None if no setting names a theme for this background.
        """
        default, key = ("dark", "theme_dark") if dark else ("light", "theme_light")
        name: str | None = getattr(self._settings, key, None)
        return (name, key) if name is not None else (default, None)

    def _origin(self, key: str) -> str:
        """Return where the value of the setting `key` comes from, such as a file and a line."""
        from acp_tui.config.settings import find_origin

        assert self._settings is not None  # the key comes from them
        return str(find_origin(self._settings.cwd, key))


class AppTheme:
    """Applies the chosen theme to the app. With the theme `auto`, follows the terminal's background."""

    def __init__(
        self,
        app: App[Any],
        choice: ThemeChoice,
        background: BackgroundWatcher,
        problems: list[str],
    ) -> None:
        """Store the arguments. No theme is applied before `use` is called.

        Args:
            app: The app.
            choice: The chosen theme.
            background: Used to ask the terminal for its background if the theme is `auto`.
            problems: A list to which problems with themes are added, one sentence each.
        """
        self._app = app
        self._choice = choice
        self._background = background
        self._problems = problems

    @property
    def name(self) -> str:
        """The name of the chosen theme, as in the settings."""
        return self._choice.name

    def choose(self, name: str) -> None:
        """Switch to another theme."""
        self._choice.choose(name)
        self.use(self._choice.load(dark=self._background.dark))

    def follow(self, reply: BackgroundReply) -> bool:
        """Apply another theme if the terminal's background has changed and the theme is `auto`.

        Return True if a theme has been applied.
        """
        follows = self._background.receive(reply) and self._choice.is_auto
        if follows:
            self.use(self._choice.load(dark=reply.dark))
        return follows

    def use(self, loaded: LoadedTheme) -> None:
        """Apply a theme."""
        if self._choice.is_auto:
            self._background.start()
        self._app.ansi_color = loaded.theme.ansi
        set_current_palette(loaded.palette)
        self._app.register_theme(loaded.theme)
        self._app.theme = loaded.theme.name
        self._problems += loaded.problems
