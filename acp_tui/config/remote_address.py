"""The address of an agent that runs on another machine, and what a connection to it needs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from acp_tui.config.validators import InvalidValueError, invalid_value
from acp_tui.errors import UsageError, UserError

TOKEN_VARIABLE = "ACP_TUI_TOKEN"  # noqa: S105 - the name, not a token
"""The environment variable with the token of an address that is given on the command line."""
MAX_TOKEN_BYTES = 16_384
_ADDRESS = re.compile(r"(wss?|https?)://", re.IGNORECASE)
_EXAMPLE = "an address such as wss://host/acp or https://host/acp"
_PRINTABLE = re.compile(r"[!-~]+")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[ -~]*")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OF_TRANSPORT = (
    *("connection", "host", "upgrade", "content-length", "transfer-encoding"),
    *("accept", "accept-encoding", "content-type", "acp-connection-id", "acp-session-id"),
)
TRANSPORTS = ("websocket", "http")


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The address of an agent, with the headers, the token and the certificates to use for it."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)  # the values can refer to variables: `${VAR}`
    token_command: tuple[str, ...] = ()  # prints the token
    token_file: Path | None = None
    token_variable: str | None = None  # the environment variable that can contain the token
    ca_file: Path | None = None  # trusted in place of the certificates that this machine trusts
    allow_insecure: bool = False  # `ws://` and `http://` may lead to another machine
    transport: str | None = None  # one of `TRANSPORTS`; None for what the URL stands for

    @property
    def host(self) -> str:
        """The name or the address of the machine, with the port if the URL has one."""
        return urlsplit(self.url).netloc

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return urlsplit(self.url).scheme in ("wss", "https")

    @property
    def is_this_machine(self) -> bool:
        """Whether the address is one of this machine, by its name."""
        return _is_this_machine(urlsplit(self.url))

    @property
    def transports(self) -> tuple[str, ...]:
        """The transports to try, in this order."""
        if urlsplit(self.url).scheme in ("ws", "wss"):
            return ("websocket",)
        return (self.transport,) if self.transport is not None else TRANSPORTS

    @property
    def websocket_url(self) -> str:
        """The URL for a WebSocket connection."""
        parts = urlsplit(self.url)
        return parts._replace(scheme="wss" if self.is_encrypted else "ws").geturl()

    def read_headers(self) -> dict[str, str]:
        """Return the headers with their variables expanded. Raises `UserError`."""
        return expand_headers(self.headers)

    def read_token(self) -> str | None:
        """Return the token of the file or of the environment; None if there is none. Raises `UserError`."""
        if self.token_file is not None:
            try:
                with self.token_file.open("rb") as file:
                    content = file.read(MAX_TOKEN_BYTES + 1)
            except OSError as error:
                raise UserError(f"the token file {self.token_file}: {error.strerror}") from None
            return checked_token(content, f"the token file {self.token_file}")
        if self.token_variable is not None and (text := os.environ.get(self.token_variable)):
            return checked_token(os.fsencode(text), self.token_variable)
        return None


def checked_token(content: bytes, source: str) -> str:
    """Return a token without the line end. Raises `UserError`, which names the source but never the token."""
    text = content.strip().decode("ascii", "replace")
    if not text:
        raise UserError(f"{source} contains no token")
    if len(content) > MAX_TOKEN_BYTES or not _PRINTABLE.fullmatch(text):
        raise UserError(f"{source} contains something else than one token on one line")
    return text


def is_remote_address(text: str) -> bool:
    """Return True for what begins with `wss://`, `https://`, `ws://` or `http://`."""
    return _ADDRESS.match(text) is not None


def checked_url(value: Any) -> str:
    """Validate the URL of a remote agent, except for `require_safe`."""
    if not isinstance(value, str) or not is_remote_address(value):
        raise invalid_value(_EXAMPLE, value)
    if not _PRINTABLE.fullmatch(value) or "\\" in value:
        raise InvalidValueError("an address contains no spaces, and only ASCII characters")
    try:
        parts = urlsplit(value)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host:
        raise invalid_value(_EXAMPLE, value)
    if "@" in parts.netloc:
        raise InvalidValueError("an address contains no user name and no password; use a token")
    if parts.fragment:
        raise InvalidValueError("an address has no part after #")
    return value


def require_safe(address: RemoteAddress) -> None:
    """Raise `UsageError` if messages would reach another machine without encryption."""
    parts = urlsplit(address.url)
    if not address.is_encrypted and not address.allow_insecure and not address.is_this_machine:
        raise UsageError(
            f"{parts.hostname} is another machine, and {parts.scheme}:// is not encrypted: "
            f"use {'wss' if parts.scheme == 'ws' else 'https'}://, an SSH tunnel, "
            "or `allow_insecure = true` in the agent's settings."
        )


def _is_this_machine(parts: SplitResult) -> bool:
    import ipaddress

    host = (parts.hostname or "").lower()
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def headers(value: Any) -> dict[str, str]:
    """Validate a table of headers."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise invalid_value("a table of strings", value)
    for name in value:
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OF_TRANSPORT or name.lower()[:4] == "sec-":
            raise InvalidValueError(f"{name!r} cannot be used as the name of a header")
    return dict(value)


def expand_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Return headers with their variables expanded. Raises `UserError`."""
    found = {name: _VARIABLE.sub(_value_of, value) for name, value in given.items()}
    for name, value in found.items():
        if not _HEADER_VALUE.fullmatch(value):
            raise UserError(f"the header {name} contains characters that a header cannot have")
    return found


def remote_folder(value: Any) -> str:
    """Validate the path of a folder on another machine."""
    if isinstance(value, str) and value.startswith("/") and "\0" not in value:
        return value
    raise invalid_value("an absolute path", value)


def _value_of(reference: re.Match[str]) -> str:
    value = os.environ.get(reference[1])
    if value is None:
        raise UserError(f"the environment variable {reference[1]} is not set")
    return value
