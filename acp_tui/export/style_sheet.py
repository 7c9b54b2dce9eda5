"""The style sheet of the HTML export, made from the same theme files as the colours of the screen."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_tui.config.paths import paths
from acp_tui.errors import UsageError

_NAME = re.compile(r"\w[\w .-]*")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_ATTRIBUTES = {
    "bold": "font-weight:bold",
    "italic": "font-style:italic",
    "underline": "text-decoration:underline",
    "strike": "text-decoration:line-through",
    "dim": "opacity:.75",
}
_TERMINAL_COLOURS = 16


def style_sheet(theme: str) -> str:
    """Return the CSS of a theme.

    Values that are missing or invalid in a user's theme are those of its base.
    """
    data = _read(theme, own=True)
    rules = [*_rules(data), _LAYOUT]
    if data["dark"]:  # print in light colours
        rules += ["@media print{", *_rules(_read("light", own=False)), "}"]
    return "\n".join(rules)


def _rules(data: dict[str, Any]) -> list[str]:
    """Return the CSS rules for the colours of a theme."""
    colours = data["colors"]
    rules = [f":root{{color-scheme:{'dark' if data['dark'] else 'light'}}}"]
    rules += [f":root{{--{name}:{colours[name]}}}" for name in _USED if name in colours]
    for table, prefix in (("styles", ""), ("syntax", "s-")):
        for name, value in data[table].items():
            if declarations := _declarations(value, colours):
                rules.append(f".{prefix}{_class_name(name)}{{{declarations}}}")
    for number, value in enumerate(data["terminal"]["colors"]):
        if colour := _colour(value, colours):
            rules.append(f".f{number}{{color:{colour}}}.b{number}{{background:{colour}}}")
    return rules


def _read(name: str, *, own: bool) -> dict[str, Any]:
    """Return a theme, completed with the values of its base.

    If `own` is true, the user's themes are searched too. Their base is chosen as for the screen: see
    `acp_tui.ui.theme.themes`.
    """
    file = _file(name, own=own)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f'No theme "{name}".') from None
    except (OSError, ValueError) as error:
        raise UsageError(f'Cannot read the theme "{name}" ({file}): {error}.') from None
    base = data.get("base")
    if file.parent == _own_themes() and not _is_built_in(base):
        has_switch = any(isinstance(data.get(key), bool) for key in ("dark", "ansi"))
        default = "light" if data.get("dark") is False else "dark"
        base = name if _is_built_in(name) and not has_switch else default
    if base is None:
        return data
    fallback = _read(base, own=False)
    if data.get("ansi") is True:  # its colours are those of the terminal, which CSS does not know
        return fallback
    dark = data.get("dark")
    colours = _merge("colors", fallback, data, lambda value: bool(_colour(value, {})))
    return {
        "dark": dark if isinstance(dark, bool) else fallback["dark"],
        "colors": colours,
        "styles": _merge("styles", fallback, data, lambda value: _is_style(value, colours)),
        "syntax": _merge("syntax", fallback, data, lambda value: _is_style(value, colours)),
        "terminal": _merge("terminal", fallback, data, lambda value: _is_terminal(value, colours)),
    }


def _merge(
    table: str, fallback: dict[str, Any], data: dict[str, Any], is_valid: Callable[[Any], bool]
) -> dict[str, Any]:
    """Return a table of the theme `fallback` with the valid values of the same table in `data`."""
    own = data.get(table)
    valid = {key: value for key, value in own.items() if is_valid(value)} if isinstance(own, dict) else {}
    return {**fallback[table], **valid}


def _is_style(value: Any, colours: dict[str, str]) -> bool:
    return isinstance(value, str) and all(
        word in {"on", "reverse"} or word in _ATTRIBUTES or _colour(word, colours) for word in value.split()
    )


def _is_terminal(value: Any, colours: dict[str, str]) -> bool:
    """Return True for a list of the 16 colours of a terminal."""
    return (
        isinstance(value, list)
        and len(value) == _TERMINAL_COLOURS
        and all(_colour(colour, colours) for colour in value)
    )


def _is_built_in(name: Any) -> bool:
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and _file(name, own=False).is_file()


def _own_themes() -> Path:
    return paths().config / "themes"


def _file(name: str, *, own: bool) -> Path:
    """Return the path of a theme's file, which need not exist.

    acp-tui's themes are in the package or, in a source checkout, beside the package. If `own` is true, the
    user's themes are searched first.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" is not a valid theme name.')
    package = Path(__file__).parent.parent
    places = [package / "themes", package.parent / "themes"]
    if own:
        places.insert(0, _own_themes())
    files = [place / f"{name}.toml" for place in places]
    return next((file for file in files if file.is_file()), files[-1])


def _declarations(style: Any, colours: dict[str, str]) -> str:
    """Translate a style such as `bold blue on panel` to CSS declarations."""
    declarations: list[str] = []
    is_background = False
    for word in style.split() if isinstance(style, str) else ():
        if word == "on":
            is_background = True
        elif word in _ATTRIBUTES:
            declarations.append(_ATTRIBUTES[word])
        elif colour := _colour(word, colours):
            declarations.append(f"{'background' if is_background else 'color'}:{colour}")
    return ";".join(declarations)


def _colour(value: Any, colours: dict[str, str]) -> str:
    """Return a colour as `#rrggbb`. `value` is such text already, or is the name of one of `colours`.

    For anything else return an empty string, so that a theme cannot inject CSS.
    """
    value = colours.get(value, value) if isinstance(value, str) else ""
    return value if _COLOUR.fullmatch(value) else ""


def _class_name(name: str) -> str:
    return re.sub("[^a-z0-9]", "-", name.lower())


_USED = ("page", "code_page", "line", "ink", "soft", "quiet", "amber", "red")
_LAYOUT = """\
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
header,main,footer{max-width:60rem;margin:0 auto;padding:1rem 1.5rem}
header{border-bottom:1px solid var(--line)}
h1{margin:.3em 0;font-size:1.6rem;line-height:1.25}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0;
 color:var(--soft);font-size:.9rem}
dd{margin:0;overflow-wrap:anywhere}
footer{color:var(--quiet);font-size:.85rem}
.entry{margin:1rem 0;overflow-wrap:anywhere}
.user{border-left:3px solid var(--amber);padding:.1rem 0 .1rem 1rem}
.user .typed{white-space:pre-wrap;margin:0}
.withdrawn{opacity:.6}
.aside{color:var(--soft);font-size:.9rem;margin:.4rem 0}
details.entry{margin:.5rem 0}
summary{cursor:pointer}
summary .icon{display:inline-block;min-width:1.4em}
.beside{float:right;margin-left:1rem;color:var(--soft);font-size:.9rem}
.beside span+span{margin-left:.7rem}
.diff-gone{color:var(--red)}
.inner{margin:.3rem 0 .8rem 1.2rem;padding-left:.9rem;border-left:1px solid var(--line)}
pre{margin:.5rem 0;padding:.6rem .8rem;overflow-x:auto;border-radius:4px;
 font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre,.inline-code{background:var(--code_page)}
.md :is(h1,h2,h3,h4,h5,h6){font-size:1rem;line-height:1.3;margin:1.2em 0 .5em}
.md h1{font-size:1.4rem}
.md h2{font-size:1.2rem}
.md h3{font-size:1.05rem}
.md code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
.label{display:block;color:var(--soft);font-size:.85rem;margin-top:.5rem}
.diff{padding:.6rem 0}
.diff code{display:inline-block;min-width:100%;font:inherit}
.diff span{display:block;min-height:1.45em;padding:0 .8rem}
.long{max-height:36rem;overflow-y:auto}
table{display:block;max-width:100%;overflow-x:auto;border-collapse:collapse}
th,td{border:1px solid var(--line);padding:.25rem .6rem;overflow-wrap:normal}
hr{border:0;border-top:1px solid var(--line)}
blockquote{margin:.5rem 0;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
img{max-width:100%}
ul.plan{list-style:none;margin:.3rem 0;padding-left:.5rem}
@media print{
 .long{max-height:none}
 pre{white-space:pre-wrap;overflow-wrap:anywhere}
 .diff code{display:block}
 body{background:none;print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""
