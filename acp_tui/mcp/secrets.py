"""Masks the secrets of a server's definition in what the server writes and in error messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer

MIN_SECRET_CHARACTERS = 6
"""Shorter values occur in ordinary words."""


def secret_values(server: ResolvedServer) -> tuple[str, ...]:
    """Return the values of the definition that are secret: by the name of the variable or header.

    Values of secret environment variables count wherever the definition contains them.
    """
    named = {**server.env, **server.headers}
    found = {value for name, value in named.items() if is_secret_name(name)}
    texts = "\n".join([server.url, *server.args, *named.values()])
    found.update(value for name, value in os.environ.items() if is_secret_name(name) and value in texts)
    # "Bearer TOKEN": the token may appear alone.
    found.update([value.rpartition(" ")[2] for value in found])
    return tuple(
        sorted((value for value in found if len(value) >= MIN_SECRET_CHARACTERS), key=len, reverse=True)
    )


def mask_secrets(text: str, values: tuple[str, ...]) -> str:
    """Replace these values, and everything else that looks like a secret, by a mask."""
    for value in values:
        text = text.replace(value, MASK)
    return redact_text(text)
