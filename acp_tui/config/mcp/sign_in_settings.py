"""The `sign_in` settings of an http or sse server: what OAuth discovery cannot find out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from acp_tui.config import validators
from acp_tui.config.validators import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable

Grant = Literal["authorization_code", "client_credentials"]


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """The `sign_in` table of a server. All keys are optional."""

    client_id: str = ""  # of a client that the user has registered; "": acp-tui registers itself
    client_secret: str = field(default="", repr=False)
    scope: str = ""  # scopes separated by spaces; "": those that the server asks for
    grant: Grant = "authorization_code"
    issuer: str = ""  # the authorization server of client_id; "": the one found at the first sign-in
    client_metadata_url: str = ""  # the URL of a document that describes the client; used as the client id
    redirect_port: int = 0  # the port of 127.0.0.1 for the browser's redirect; 0: any free one
    allow_missing_pkce: bool = False  # whether to sign in where PKCE with S256 is not announced
    send_token: bool = False  # whether an agent that connects directly gets the token as a header

    def definition(self) -> dict[str, Any]:
        """Return the settings as a JSON object, from which the digest of the server is made."""
        values = asdict(self)
        if not self.allow_missing_pkce:  # a newer setting, which must not change the digest if it is unset
            del values["allow_missing_pkce"]
        return values

    def texts(self) -> list[str]:
        """Return the values that may contain references such as `${VAR}`."""
        return [getattr(self, name) for name in _TEXTS]

    def expanded(self, expand: Callable[[str], str]) -> SignInSettings:
        """Return the settings, with the references in the values expanded by `expand`."""
        expanded: dict[str, Any] = {name: expand(getattr(self, name)) for name in _TEXTS}
        return replace(self, **expanded)


_TEXTS = ("client_id", "client_secret", "scope", "issuer", "client_metadata_url")
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "grant": validators.one_of("authorization_code", "client_credentials"),
    "redirect_port": validators.count,
    "allow_missing_pkce": validators.boolean,
    "send_token": validators.boolean,
}


def sign_in_settings(value: Any) -> SignInSettings | None:
    """Validate `sign_in`: a table, `true` for the defaults, or `false` for no sign-in."""
    if isinstance(value, bool):
        return SignInSettings() if value else None
    if not isinstance(value, dict):
        raise validators.invalid_value("true, false or a table", value)
    values = {name: _checked(name, given) for name, given in value.items()}
    settings = SignInSettings(**values)
    if settings.grant == "client_credentials" and not (settings.client_id and settings.client_secret):
        raise InvalidValueError('grant "client_credentials" needs client_id and client_secret')
    if settings.client_secret and not settings.client_id:
        raise InvalidValueError("client_secret needs client_id")
    if settings.redirect_port > 65535:
        raise InvalidValueError("redirect_port is larger than 65535")
    url = settings.client_metadata_url
    if url and "${" not in url and not _is_metadata_url(url):
        raise InvalidValueError("client_metadata_url is not an https address with a path")
    return settings


def oauth_settings(value: Any) -> SignInSettings | None:
    """Validate `oauth` in the notation of Gemini CLI and Claude Code.

    Keys for values that acp-tui finds out by OAuth discovery are ignored.
    """
    if not isinstance(value, dict):
        raise validators.invalid_value("a table", value)
    if value.get("enabled") is False:
        return None
    given = {own: value[name] for name, own in _OAUTH_KEYS.items() if name in value}
    scopes = value.get("scopes", [])
    return sign_in_settings(given | {"scope": " ".join(validators.strings(scopes))})


_OAUTH_KEYS = {"clientId": "client_id", "clientSecret": "client_secret", "callbackPort": "redirect_port"}


def _checked(name: str, value: Any) -> Any:
    if name in _TEXTS:
        if not isinstance(value, str):  # the value may be a secret and is not quoted
            raise InvalidValueError(f"expected a string for {name!r}")
        return value
    if name not in _CHECKS:
        valid = ", ".join(sorted([*_TEXTS, *_CHECKS]))
        raise InvalidValueError(f"unknown key {name!r}; valid keys: {valid}")
    return _CHECKS[name](value)


def _is_metadata_url(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.path not in ("", "/")
