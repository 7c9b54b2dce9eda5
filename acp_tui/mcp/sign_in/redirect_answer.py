"""The answer of an authorization server, read from the redirect of the browser or from a pasted text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.secret_patterns import redact_text

_CODE = re.compile(r"[\x21-\x7e]{4,}")
_MAX_ERROR_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class RedirectAnswer:
    """The parameters of the redirect."""

    code: str = field(default="", repr=False)
    state: str | None = field(default=None, repr=False)  # None: only the code was pasted
    issuer: str | None = None
    error: str = ""  # such as "access_denied"
    error_text: str = ""  # the server's description of the error, safe to display


def answer_of_url(url: str) -> RedirectAnswer | None:
    """Return the answer in an address; None if the address is invalid or has neither a code nor an error."""
    try:
        query = parse_qs(urlsplit(url).query)
    except ValueError:
        return None
    values = {name: given[0] for name, given in query.items()}
    if "code" not in values and "error" not in values:
        return None
    return RedirectAnswer(
        code=values.get("code", ""),
        state=values.get("state", ""),
        issuer=values.get("iss"),
        error=shown_error(values.get("error", "")),
        error_text=shown_error(values.get("error_description", "")),
    )


def answer_of_pasted_text(text: str) -> RedirectAnswer | None:
    """Return the answer in a pasted address or code; None if the text contains no answer."""
    text = text.strip().strip("'\"<>")
    if "://" in text or text.startswith("/"):
        return answer_of_url(text)
    return RedirectAnswer(code=text) if _CODE.fullmatch(text) else None


def shown_error(text: str) -> str:
    """Return a server's description of an error, made safe to display and to log."""
    return redact_text(visible_line(text[:_MAX_ERROR_CHARACTERS]))
