"""The stored sign-ins: one private file per server URL in the state directory, which sign-out deletes.

Several processes share a file: the app, bridges and commands. A process that renews a token takes the file's
lock and reads the file again first, because another process may have replaced the refresh token.

Importing this module does not import the SDK.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from acp_tui.config.own_files import open_own, read_own_json
from acp_tui.config.paths import paths, private_directory, write_private
from acp_tui.mcp.sign_in.interaction import SignInError
from acp_tui.store.locks import try_lock

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer, Server


VERSION = 1
LOCK_SECONDS = 60.0
"""How long to wait for the lock. Another process holds it for the one or two requests of a renewal."""
_POLL_SECONDS = 0.02
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """The stored sign-in for one server. Its `repr` contains neither tokens nor the client's secret."""

    url: str
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    scope: str | None = None
    expires_at: float | None = None  # seconds since the epoch; None: the server did not say
    signed_in_at: float = 0.0
    client: dict[str, Any] = field(default_factory=dict, repr=False)  # the registration, with its secret
    server_metadata: dict[str, Any] = field(default_factory=dict, repr=False)  # of the authorization server
    resource_metadata: dict[str, Any] = field(default_factory=dict, repr=False)
    private_addresses: list[str] = field(default_factory=list)  # see `RequestGuard.accepted`

    @property
    def renewable(self) -> bool:
        """Whether a new access token can be requested without the user."""
        return bool(self.refresh_token)

    def is_valid(self, now: float) -> bool:
        """Return whether the access token has not expired, or can be renewed."""
        return self.renewable or self.expires_at is None or now < self.expires_at


class TokenStore:
    """The stored sign-in of one server URL. Servers with the same URL share the sign-in."""

    def __init__(self, url: str, state_dir: Path | None = None) -> None:
        self.url = normalized_url(url)
        name = hashlib.sha256(self.url.encode()).hexdigest()[:32]
        self._folder = (paths().state if state_dir is None else state_dir) / "mcp-sign-in"
        self.path = self._folder / f"{name}.json"
        self._lock_path = self._folder / f".{name}.lock"
        self._sign_in_lock_path = self._folder / f".{name}.sign-in.lock"

    def stamp(self) -> tuple[int, int] | None:
        """Return a value that changes whenever the file is replaced; None if there is no file."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def read(self) -> StoredSignIn | None:
        """Return the stored sign-in; None if there is none that can be read."""
        try:
            content = read_own_json(self.path)
            stored = StoredSignIn(**content["sign_in"]) if content["version"] == VERSION else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return stored if stored is not None and stored.url == self.url else None

    def write(self, stored: StoredSignIn) -> None:
        """Replace the stored sign-in. The caller holds the lock. Raises `SignInError`."""
        try:
            write_private(self.path, json.dumps({"version": VERSION, "sign_in": asdict(stored)}, indent=2))
        except OSError as error:
            raise SignInError(f"Could not save the sign-in to {self.path}: {error.strerror}.") from error

    def delete(self) -> bool:
        """Delete tokens and client registration. Return False if there were none. Raises `SignInError`."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SignInError(f"Could not delete {self.path}: {error.strerror}.") from error
        return True

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Hold the lock that is needed to replace the file. Raises `SignInError`."""
        import asyncio  # here, because importing it takes as long as the rest of `acp-tui mcp list`

        descriptor = self._open_lock(self._lock_path)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while not try_lock(descriptor):
                if time.monotonic() >= deadline:
                    raise SignInError(
                        f"Another process holds the lock {self._lock_path}; end that process and try again."
                    )
                await asyncio.sleep(_POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def sign_in_lock(self) -> Iterator[None]:
        """Hold the lock that is needed to ask the user to sign in.

        Raises `SignInError` if another sign-in is under way.
        """
        descriptor = self._open_lock(self._sign_in_lock_path)
        try:
            if not try_lock(descriptor):
                raise SignInError(f"Another sign-in for {self.url} is under way; finish or cancel it first.")
            yield
        finally:
            os.close(descriptor)

    def _open_lock(self, path: Path) -> int:
        try:
            private_directory(self._folder)
            return open_own(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise SignInError(f"Could not open {path}: {error.strerror}.") from error


def normalized_url(url: str) -> str:
    """Return a server's URL with scheme and host in lower case, without default port and fragment."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if ":" in host:
        host = f"[{host}]"
    port = None
    with suppress(ValueError):
        port = parts.port
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


# --------------------------------------------------------------------------- for screens and commands


@dataclass(frozen=True, slots=True)
class SignInState:
    """A stored sign-in, which the server may have revoked."""

    signed_in_at: float  # seconds since the epoch
    expires_at: float | None  # of the access token; None: the server did not say
    renewable: bool  # whether acp-tui can renew it without asking
    scope: str | None

    def is_valid(self, now: float | None = None) -> bool:
        """Return whether the sign-in can be used, perhaps after renewing the token."""
        return self.renewable or not self.has_expired(now)

    def has_expired(self, now: float | None = None) -> bool:
        """Return whether the access token has expired."""
        return self.expires_at is not None and (time.time() if now is None else now) >= self.expires_at

    def describe(self) -> str:
        """Return a clause such as "signed in until 2026-11-22 15:04, then renewed"."""
        if self.expires_at is None:
            return "signed in"
        end = local_time(self.expires_at)
        if not self.has_expired():
            return f"signed in until {end}" + (", then renewed" if self.renewable else "")
        if not self.renewable:
            return f"expired {end}"
        return f"signed in (the token expired {end}; it will be renewed on the next use)"

    def as_json(self) -> dict[str, object]:
        """Return the fields for `--json`. Times are in ISO 8601, in the user's time zone."""
        return {
            "signed_in_at": _iso(self.signed_in_at),
            "expires_at": None if self.expires_at is None else _iso(self.expires_at),
            "renewable": self.renewable,
            "valid": self.is_valid(),
            "scope": self.scope,
        }


def uses_sign_in(server: Server | ResolvedServer) -> bool:
    """Return whether acp-tui can sign in to the server.

    acp-tui can sign in to http and sse servers for which the user has not set an Authorization header.
    """
    return server.transport != "stdio" and "authorization" not in map(str.lower, server.headers)


def sign_in_state(url: str) -> SignInState | None:
    """Return the stored sign-in for a server URL; None if there is none."""
    stored = TokenStore(url).read()
    if stored is None:
        return None
    return SignInState(stored.signed_in_at, stored.expires_at, stored.renewable, stored.scope)


async def sign_out(url: str) -> bool:
    """Delete the tokens and the client registration for a server URL. Return False if nothing was stored.

    Running bridges and connections stop using the tokens at their next request. Raises `SignInError`.
    """
    store = TokenStore(url)
    async with store.lock():
        return store.delete()


def local_time(seconds: float) -> str:
    """Return a time in the user's time zone, such as "2026-11-22 15:04"."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
