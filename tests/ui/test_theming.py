"""Contrast of the built-in themes, and themes of users."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from rich.color import Color, ColorSystem, ColorType
from rich.style import Style
from textual.design import ColorSystem as Design

from acp_tui.ui.theme.palette import SYNTAX, Palette
from acp_tui.ui.theme.themes import BUILT_IN, available_themes, load_theme

if TYPE_CHECKING:
    from pathlib import Path

QUIET = {"faint", "quote_bar", "rule", "table_border", "diff_number", "withdrawn", "terminal 0"}
"""Styles that may have less contrast."""
TERMINALS = {ColorType.DEFAULT, ColorType.STANDARD}
THEME_KEYS = ("background", "surface", "panel", "foreground", "primary", "success", "warning", "error")
COLOURED = [name for name in BUILT_IN if name != "ansi"]
"""Themes with colours of their own. Those of the ansi theme depend on the terminal."""

PASTEL = ("nord", "gruvbox")
"""Themes that lose their hues with 16 colours. Added and removed lines still differ by their signs."""


@pytest.fixture
def themes(home: Path) -> Path:
    """The directory of the user's themes."""
    directory = home / "config" / "themes"
    directory.mkdir(parents=True)
    return directory


def _styles(palette: Palette) -> dict[str, Style]:
    found = {part.name: getattr(palette, part.name) for part in fields(Palette)}
    styles = {name: style for name, style in found.items() if isinstance(style, Style)}
    styles |= {f"syntax {name}": style for name, style in palette.syntax.items()}
    return styles | {f"terminal {at}": Style(color=colour) for at, colour in enumerate(palette.terminal)}


def contrast_of(one: Color, other: Color) -> float:
    """Return the contrast ratio of WCAG, which requires 4.5 for text and 3 for large or secondary text."""
    darker, lighter = sorted(_luminance(colour) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    parts = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_style_has_a_colour(name: str) -> None:
    palette = load_theme(name).palette
    assert all(style.color is not None for style in _styles(palette).values())
    assert set(palette.syntax) == set(SYNTAX)
    assert len(palette.terminal) == 16


@pytest.mark.parametrize("name", COLOURED)
@pytest.mark.parametrize("surface", ["background", "surface"])
def test_text_has_enough_contrast(name: str, surface: str) -> None:
    loaded = load_theme(name)
    page = Color.parse(getattr(loaded.theme, surface))
    contrast = {
        what: contrast_of(style.color or page, style.bgcolor or page)
        for what, style in _styles(loaded.palette).items()
    }
    least = {what: 3.0 if what in QUIET else 4.5 for what in contrast}
    # Output that says white on a light page, or black on a dark one, asks to be dim.
    least |= {"terminal 15": 3.0, "terminal 8": 3.0}
    if name == "high-contrast":
        least = dict.fromkeys(contrast, 7.0)
    assert {what: ratio for what, ratio in contrast.items() if ratio < least[what]} == {}


@pytest.mark.parametrize("name", COLOURED)
def test_text_is_legible_with_sixteen_colours(name: str) -> None:
    loaded = load_theme(name)
    page = Color.parse(loaded.theme.background or "")
    same = [
        what
        for what, style in _styles(loaded.palette).items()
        if (style.color or page).downgrade(ColorSystem.STANDARD)
        == (style.bgcolor or page).downgrade(ColorSystem.STANDARD)
    ]
    assert same == []


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in PASTEL])
def test_added_and_removed_keep_their_hue_with_sixteen_colours(name: str) -> None:
    palette = load_theme(name).palette
    added, removed = palette.diff_added_mark.color, palette.diff_removed_mark.color
    assert added is not None
    assert removed is not None
    assert added.downgrade(ColorSystem.STANDARD).number in (2, 10)
    assert removed.downgrade(ColorSystem.STANDARD).number in (1, 9)


def test_the_ansi_theme_uses_terminal_colours_only() -> None:
    loaded = load_theme("ansi")
    assert loaded.theme.ansi
    for style in _styles(loaded.palette).values():
        assert {colour.type for colour in (style.color, style.bgcolor) if colour} <= TERMINALS
    generated = loaded.theme.to_color_system().generate()
    ours = {key: generated[key] for key in (*load_theme("dark").theme.variables, *THEME_KEYS)}
    assert [key for key, colour in ours.items() if "#" in colour] == []


def test_the_ansi_theme_fits_dark_and_light_terminals() -> None:
    """Neither black nor white on the background, which may be either; always black on a colour."""
    for what, style in _styles(load_theme("ansi").palette).items():
        if what.startswith("terminal"):
            continue  # a program's own choice
        assert style.color is not None
        if style.bgcolor is None or style.bgcolor.is_default:
            assert style.color.number in (None, 1, 2, 3, 4, 5, 6, 8), what
        else:
            assert style.color.number == 0, what
            assert style.bgcolor.number in (2, 3, 6, 1), what


@pytest.mark.parametrize("name", BUILT_IN)
def test_textual_knows_every_variable_of_the_theme(name: str) -> None:
    theme = load_theme(name).theme
    # Made without our variables, it still has all of their names: none of them is a slip of the pen.
    known = Design(primary=theme.primary, dark=theme.dark).generate()
    ours = {"selected-background", "selected-foreground"}  # made from a style
    variables = {key: value for key, value in theme.variables.items() if key not in ours}
    assert set(variables) <= set(known)
    generated = theme.to_color_system().generate()
    assert {key: generated[key] for key in variables} == variables


def test_the_built_in_themes_have_no_problems(home: Path) -> None:
    assert available_themes() == list(BUILT_IN)
    assert [problem for name in BUILT_IN for problem in load_theme(name).problems] == []
    assert load_theme().palette.dark
    assert not load_theme("light").theme.dark


def test_selected_rows_look_the_same_in_all_lists(themes: Path) -> None:
    (themes / "mine.toml").write_text(
        '[colors]\nice = "#aaccff"\n[styles]\nselected = "underline page on ice"\n'
    )
    variables = load_theme("mine").theme.variables
    assert variables["selected-background"] == "#aaccff"
    assert variables["selected-foreground"] == load_theme("dark").theme.background
    (themes / "mine.toml").write_text('[styles]\nselected = "reverse"\n')
    assert set(load_theme("mine").theme.variables) >= {"selected-background", "selected-foreground"}


def test_a_few_colours_make_a_theme(themes: Path) -> None:
    (themes / "sea.toml").write_text('[colors]\nblue = "#00aaff"\n')
    sea, dark = load_theme("sea"), load_theme("dark")
    assert available_themes() == [*BUILT_IN, "sea"]
    assert sea.problems == []
    assert sea.theme.primary == "#00aaff"
    assert sea.palette.link == dark.palette.link
    assert sea.palette.heading1.color == Color.parse("#00aaff")


def test_a_theme_may_be_light_and_style_anything(themes: Path) -> None:
    (themes / "paper.toml").write_text(
        'dark = false\n[styles]\nuser = "underline #123456 on panel"\n[syntax]\nkeyword = "bold red"\n'
        '[variables]\nscrollbar = "blue 40%"\n'
    )
    paper, light = load_theme("paper"), load_theme("light")
    assert paper.palette.user == Style(color="#123456", bgcolor=light.theme.panel, underline=True)
    assert paper.palette.syntax["keyword"].bold
    assert paper.theme.variables["scrollbar"] == f"{light.theme.primary} 40%"
    assert paper.theme.background == light.theme.background


def test_a_theme_may_be_based_on_any_built_in_one(themes: Path) -> None:
    (themes / "mine.toml").write_text('base = "nord"\n[colors]\ngreen = "#00ff00"\n')
    (themes / "gruvbox.toml").write_text('[colors]\ngreen = "ansi_bright_green"\n')
    mine, gruvbox = load_theme("mine"), load_theme("gruvbox")
    assert mine.problems == gruvbox.problems == []
    assert mine.theme.background == load_theme("nord").theme.background
    assert mine.palette.success == Style(color="#00ff00")
    assert gruvbox.theme.primary == "#8fb3a6"
    assert gruvbox.palette.success == Style(color="bright_green")
    assert available_themes() == [*BUILT_IN, "mine"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[colors\n", 1, "not valid TOML"),
        ('[styles]\n\nuser = "blau"\n', 3, "'blau' is neither a colour nor"),
        ('[styles]\nuser = "on"\n', 2, "'on' must be followed by a colour"),
        ('[styles]\nuser = "blue on bold"\n', 2, "'on' must be followed by a colour"),
        ('[styles]\nuser = "on on ansi_blue"\n', 2, "'on' must be followed by a colour"),
        ("[styles]\nuser = 3\n", 2, "must be a style"),
        ('[styles]\nusr = "red"\n', 2, "did you mean 'user'?"),
        ('[colors]\nblue = "azure"\n', 2, "must be a colour such as"),
        ('[theme]\nprimary = "azure"\n', 2, "must be a name from [colors]"),
        ("[variables]\nborder = 1\n", 2, "must be a colour such as 'blue' or"),
        ('[variables]\nborder = "no colour"\n', 2, "must be a colour such as 'blue' or"),
        ('[syntax]\nkeywords = "red"\n', 2, "did you mean 'keyword'?"),
        ('[terminal]\ncolors = ["red"]\n', 2, "must be a list of 16 colours"),
        ('colors = "red"\n', 1, "must be a table"),
        ('dark = "yes"\n', 1, "must be true or false"),
        ("[color]\n", 1, "did you mean 'colors'?"),
        ('base = "nrod"\n', 1, "must be one of dark, light"),
        ("ansi = 1\n", 1, "must be true or false"),
    ],
)
def test_invalid_values_are_reported_and_replaced(text: str, line: int, says: str, themes: Path) -> None:
    file = themes / "mine.toml"
    file.write_text(text)
    loaded = load_theme("mine")
    assert len(loaded.problems) == 1
    assert f"{file}:{line}: " in loaded.problems[0]
    assert says in loaded.problems[0]
    assert loaded.palette == load_theme("dark").palette
    assert loaded.theme.to_color_system().generate() == load_theme("dark").theme.to_color_system().generate()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nowhere", f"known: auto, {', '.join(BUILT_IN)}"),
        ("../config", f"known: auto, {', '.join(BUILT_IN)}"),
        ("", f"known: auto, {', '.join(BUILT_IN)}"),
        ("grubbox", "did you mean 'gruvbox'?"),
    ],
)
def test_an_unknown_theme_is_reported_and_replaced_by_dark(name: str, hint: str) -> None:
    loaded = load_theme(name)
    assert loaded.palette == load_theme("dark").palette
    assert loaded.problems == [f"unknown theme {name!r}; {hint} (using 'dark')"]
    assert load_theme(name, lambda: "here").problems == [f"here: {loaded.problems[0]}"]
