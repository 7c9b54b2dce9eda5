"""Removes secrets from what is stored with a session. Traffic is not changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

MASK = "[redacted]"
MIN_SECRET_LENGTH = 8
"""Shorter values are not masked: they are placeholders such as `ollama`, and occur in ordinary words."""

# The text is JSON: a value ends at the latest at a quote or a backslash.
_SHAPES = re.compile(
    r"""-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[^"]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|(?="))
      | (?<=://)[^\s/:@"\\]+:[^\s/@"\\]+(?=@)
      | (?:(?<![\w-])|(?<=\\[nrtbf]))(?:  # not within the Base64 of an image
            (?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}
          | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
          | xox[abeoprs]-[A-Za-z0-9-]{10,} | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{20,}
          | (?:AKIA|ASIA)[A-Z0-9]{16}\b | AIza[A-Za-z0-9_-]{30,}
          | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
        )
    """,
    re.VERBOSE,
)
_ASSIGNMENT = re.compile(
    r"""(?P<name>(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|authorization)
         (?:\\?["'])?\s{0,8}[:=]\s{0,8}(?:\\?["'])?(?:bearer\s|basic\s)?)
        (?P<value>(?=[A-Za-z_./+-]{0,200}\d)[A-Za-z0-9_./+=-]{12,})""",
    re.VERBOSE | re.IGNORECASE,
)
_SECRET_NAME = re.compile(r"passw|pwd|secret|token|credential|cookie|auth|key|pat$", re.IGNORECASE)


class Redactor:
    """Masks known secrets, and texts that look like secrets, in JSON texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._known: set[str] = set()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Mask these values from now on, such as the variables that an MCP server is started with."""
        self._known.update(
            json.dumps(secret, ensure_ascii=False)[1:-1]
            for secret in secrets
            if len(secret) >= MIN_SECRET_LENGTH
        )

    def redact(self, text: str) -> str:
        """Return a JSON text without secrets. It remains valid JSON."""
        for secret in self._known:
            text = text.replace(secret, MASK)
        text = _SHAPES.sub(MASK, text)
        return _ASSIGNMENT.sub(lambda match: match["name"] + MASK, text)


def is_secret_name(name: str) -> bool:
    """Return True if an environment variable or header of this name probably contains a secret."""
    return _SECRET_NAME.search(name) is not None
