"""What a secret looks like: by the name it goes under, and by its shape within a text.

Shapes are found by a few letters that each must contain (`str.find` is fast), and only there a pattern is
tried. That keeps a megabyte of ordinary text cheap, which one pattern with thirty alternatives would not.
A secret that is cut in two, as by the chunks of a message, is not found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MASK = "[redacted]"

_SECRET_NAME = re.compile(
    r"""passw(or)?d|passphrase|[_-]pwd$|secret|token(?!iz|s$)|credential|cookie|authoriz|auth(?!or)
        |api[_-]?key|(^|[_-])(key|pat|dsn)s?$|(?-i:[a-z]Key$)""",
    re.IGNORECASE | re.VERBOSE,
)


def secret_name(name: str) -> bool:
    """Would a variable of the environment, or a header, of this name hold a secret?"""
    return _SECRET_NAME.search(name) is not None


def may_hold_secret(text: str) -> bool:
    """A quick look, at a text or its JSON: False is certain."""
    for hint in _HINTS:  # noqa: SIM110 - any() with a generator takes three times as long, and this runs per chunk
        if hint in text:
            return True
    return False


def redact_text(text: str) -> str:
    """The text with what looks like a secret replaced by `MASK`."""
    if not may_hold_secret(text):
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(_secrets(text)):
        if stop > end:
            if start >= end:
                pieces += text[end:start], MASK
            end = stop
    return "".join([*pieces, text[end:]])


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    for rule in _RULES:
        position = text.find(rule.letters)
        while position >= 0:
            match = rule.pattern.match(text, position)
            if match and rule.accepts(match):
                yield match.span(match.lastgroup or 0)
            position = text.find(rule.letters, max(match.end() if match else 0, position + 1))


# --------------------------------------------------------------------------- the shapes

# Every shape contains one of these. A value given to a name has `=`, or a quote and a colon.
_HINTS = (
    *("=", "@", '":', "':", "--", "sk-", "gh", "glpat-", "xox", "AKIA", "ASIA", "AIza", "hf_", "npm_", "eyJ"),
    *("earer", "EARER", "uthoriz", "UTHORIZ"),
)

_TOKENS = {
    "sk-": r"(?:(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{20,})",
    "ghp_": r"[A-Za-z0-9]{8,}",
    "gho_": r"[A-Za-z0-9]{8,}",
    "ghu_": r"[A-Za-z0-9]{8,}",
    "ghs_": r"[A-Za-z0-9]{8,}",
    "ghr_": r"[A-Za-z0-9]{8,}",
    "github_pat_": r"[A-Za-z0-9_]{8,}",
    "glpat-": r"[A-Za-z0-9_-]{8,}",
    "xox": r"[a-z]-[A-Za-z0-9-]{6,}",
    "AKIA": r"[A-Z0-9]{12,}",
    "ASIA": r"[A-Z0-9]{12,}",
    "AIza": r"[A-Za-z0-9_-]{30,}",
    "hf_": r"[A-Za-z0-9]{20,}",
    "npm_": r"[A-Za-z0-9]{30,}",
    "eyJ": r"[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # a JSON web token
}

# Whatever is assigned to a name with one of these is a secret …
_CERTAIN_NAMES = {
    "passw(?:or)?d": ("assw", "ASSW"),
    "passphrase": ("assphrase", "ASSPHRASE"),
    "secret": ("ecret", "ECRET"),
    "credential": ("redential", "REDENTIAL"),
}
# … and to one of these only what looks like it: programs are full of `token=token`.
_LIKELY_NAMES = {
    "token(?!iz|s)": ("oken", "OKEN"),
    "api[_-]?key": ("pikey", "pi_key", "pi-key", "piKey", "pi-Key", "PI_KEY", "PIKEY"),
    "_key": ("_key", "_KEY"),
}

# A quoted value goes on to its closing quote (an escaped one, where the text is JSON within a text), or to
# the end of the line when it was cut.
_VALUE = r"""(?:(?P<quote>\\?["'])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n]))+)|(?P<bare>[^\s"'&]+))"""
# name=…, name = …, "name": …, --name …
_SEPARATOR = r"""(?:\s{0,2}:?=\s{0,2}|\\?["']:\s{0,2}|(?P<blank>[ \t]{1,8})(?!-))"""
_BEARER = r"(?<=b)earer[ \t]+(?P<bare>[a-z0-9._~+/=-]{6,})"
_AUTHORIZATION = (
    r"""(?<=a)uthorization\\?["']?\s{0,2}[:=]\s{0,2}\\?["']?(?:(?:basic|bearer|token|digest)\s+)?"""
    r"""(?P<bare>[^\s"',;\\]{4,})"""
)
_PRIVATE_KEY = r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<bare>.+?)(?=-----END|\Z)"
_IN_ADDRESS = r"""://[^\s/:@"'\\]{0,100}:(?P<bare>[^\s/@"']+)@"""

_FLAG_BEFORE = re.compile("--[A-Za-z0-9-]*$")

# A variable, a placeholder, a literal: not the secret itself.
_HARMLESS = re.compile(
    r"(?:none|null|nil|true|false|undefined)?[,;)}\]]*|[$<{%(*].*", re.IGNORECASE | re.DOTALL
)


def _value(match: re.Match[str]) -> str:
    return match["quoted"] or match["bare"]


def _always(_match: re.Match[str]) -> bool:
    return True


def _meant(match: re.Match[str]) -> bool:
    if match["blank"] and not _is_flag(match):
        return False
    return not _HARMLESS.fullmatch(_value(match))


def _likely(match: re.Match[str]) -> bool:
    return _meant(match) and (match["name"].isupper() or _is_flag(match) or _random(_value(match)))


def _is_flag(match: re.Match[str]) -> bool:
    start = match.start()
    return _FLAG_BEFORE.search(match.string[max(0, start - 40) : start]) is not None


def _bearer(match: re.Match[str]) -> bool:
    return len(match["bare"]) >= 20 or _random(match["bare"])


def _random(value: str) -> bool:
    return len(value) >= 8 and "(" not in value and any(letter.isdigit() for letter in value)


class _Rule(NamedTuple):
    letters: str  # the pattern is tried where these are …
    pattern: re.Pattern[str]  # … its last group is the secret …
    accepts: Callable[[re.Match[str]], bool]  # … when this says so


def _rules() -> Iterator[_Rule]:
    for prefix, rest in _TOKENS.items():
        # The n of an escaped line end is no letter of a word.
        pattern = rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))(?P<bare>{prefix}{rest})"
        yield _Rule(prefix, re.compile(pattern), _always)
    for names, accepts in ((_CERTAIN_NAMES, _meant), (_LIKELY_NAMES, _likely)):
        for name, needles in names.items():
            tail = name if name.startswith("_") else f"(?<={name[0]}){name[1:]}"
            assigned = re.compile(rf"(?P<name>{tail}[a-z0-9_-]{{0,40}}+){_SEPARATOR}{_VALUE}", re.IGNORECASE)
            yield from (_Rule(letters, assigned, accepts) for letters in needles)
    yield from (_Rule(letters, re.compile(_BEARER, re.IGNORECASE), _bearer) for letters in ("earer", "EARER"))
    for letters in ("uthorization", "UTHORIZATION"):
        yield _Rule(letters, re.compile(_AUTHORIZATION, re.IGNORECASE), _always)
    yield _Rule("-----BEGIN", re.compile(_PRIVATE_KEY), _always)
    yield _Rule("://", re.compile(_IN_ADDRESS), _always)


_RULES = tuple(_rules())
