"""How to sign in at an http server: the settings of OAuth that cannot be discovered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from acp_tui.config import validators
from acp_tui.config.validators import InvalidValueError

Grant = Literal["authorization_code", "client_credentials"]

_grant = validators.one_of("authorization_code", "client_credentials")


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """The `sign_in` table of a server. Everything is optional."""

    client_id: str = ""  # of a client that was registered by hand; "": registered automatically
    client_secret: str = ""
    scope: str = ""  # separated by blanks; "": those that the server asks for
    grant: Grant = "authorization_code"

    def texts(self) -> list[str]:
        """Return the values that may contain references such as `${VAR}`."""
        return [self.client_id, self.client_secret, self.scope]


def sign_in_settings(value: Any) -> SignInSettings | None:
    """Validate `sign_in`: a table, `true` for the defaults, or `false` for no sign-in."""
    if isinstance(value, bool):
        return SignInSettings() if value else None
    if not isinstance(value, dict):
        raise validators.invalid_value("true, false or a table", value)
    known = {"client_id", "client_secret", "scope", "grant"}
    if unknown := sorted(set(value) - known):
        raise InvalidValueError(f"unknown key {unknown[0]!r}; valid keys: {', '.join(sorted(known))}")
    texts = {}
    for name in ("client_id", "client_secret", "scope"):
        text = value.get(name, "")
        if not isinstance(text, str):  # the value may be a secret and is not quoted
            raise InvalidValueError(f"expected a string for {name!r}")
        texts[name] = text
    grant: Grant = "authorization_code"
    if _grant(value.get("grant", grant)) == "client_credentials":
        grant = "client_credentials"
    if grant == "client_credentials" and not (texts["client_id"] and texts["client_secret"]):
        raise InvalidValueError('grant "client_credentials" needs client_id and client_secret')
    return SignInSettings(**texts, grant=grant)
