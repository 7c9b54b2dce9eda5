"""Masks the secrets from a server's definition in the server's output and in error messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer

MIN_SECRET_CHARACTERS = 6
"""Shorter values are not masked, because they occur in ordinary words."""


def secret_values(server: ResolvedServer) -> tuple[str, ...]:
    """Return the secret values in a definition.

    These are the values of variables and headers whose names suggest a secret. If the definition contains the
    value of a secret variable of acp-tui's own environment, this value is also returned. Of a value with
    spaces, the last word is also returned. Values shorter than `MIN_SECRET_CHARACTERS` are left out.
    """
    named = {**server.env, **server.headers}
    found = {value for name, value in named.items() if is_secret_name(name)}
    texts = "\n".join([server.url, *server.args, *named.values()])
    found.update(value for name, value in os.environ.items() if is_secret_name(name) and value in texts)
    # Of "Bearer TOKEN", the server may print the token alone.
    found.update([value.rpartition(" ")[2] for value in found])
    return tuple(
        sorted((value for value in found if len(value) >= MIN_SECRET_CHARACTERS), key=len, reverse=True)
    )


def mask_secrets(text: str, values: tuple[str, ...]) -> str:
    """Replace the given values, and everything else that looks like a secret, with a mask."""
    for value in values:
        text = text.replace(value, MASK)
    return redact_text(text)
