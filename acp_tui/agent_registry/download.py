"""Downloads over HTTPS with limits. Plain HTTP is accepted from this machine only."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from acp_tui import __version__
from acp_tui.console import format_size
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import httpx2

MAX_REDIRECTS = 10
TIMEOUT_SECONDS = 30.0
"""Seconds to wait for a connection, or for the next bytes."""


def is_web_address(address: str) -> bool:
    """Return True for an address that begins with `http://` or `https://`."""
    return address.lower().startswith(("http://", "https://"))


def address_fault(address: str) -> str:
    """Return why nothing is downloaded from an address, as a clause that follows it; empty if it may be."""
    if not address.isascii() or not address.isprintable() or " " in address:
        return "contains characters that an address cannot have"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    if not host:
        return "is not an address"
    if parts.username is not None:
        return "contains a user name"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)):
        return ""
    return "does not begin with https://"


def is_loopback(host: str) -> bool:
    """Return True for the name or address of this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def redirect_target(address: str, location: str) -> str:
    """Return where a redirect leads. Raises `UserError` if it leads from https:// to another scheme."""
    try:
        target = urljoin(address, location)
        leaves_https = urlsplit(address).scheme == "https" and urlsplit(target).scheme != "https"
    except ValueError:
        raise UserError(f"{escape_line(address)} redirects to what is not an address.") from None
    if leaves_https:
        raise UserError(f"{escape_line(address)} redirects to {escape_line(target)}, not to https://.")
    return target


async def download(
    address: str,
    write: Callable[[bytes], object],
    *,
    max_bytes: int,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> None:
    """Download a file. Raises `UserError`.

    Args:
        address: Where to download from. Redirects are followed to https:// only.
        write: Called with each block.
        max_bytes: The download is given up when the file is larger.
        on_progress: Called after each block with the number of bytes so far, and the size if it is known.
    """
    import httpx2

    headers = {"User-Agent": f"acp-tui/{__version__}", "Accept-Encoding": "identity"}
    uses_proxy = urlsplit(address).scheme == "https"  # this machine is not reached through a proxy
    try:
        async with httpx2.AsyncClient(
            headers=headers, timeout=TIMEOUT_SECONDS, trust_env=uses_proxy
        ) as client:
            for _ in range(MAX_REDIRECTS + 1):
                if fault := address_fault(address):
                    raise UserError(f"{escape_line(address)} is not downloaded: it {fault}.")
                async with client.stream("GET", address) as response:
                    if response.has_redirect_location:
                        address = redirect_target(address, response.headers["location"])
                        continue
                    if response.status_code != httpx2.codes.OK:
                        raise UserError(
                            f"{escape_line(address)} answered with status {response.status_code}."
                        )
                    await _receive(response, address, write, max_bytes, on_progress)
                    return
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        reason = escape_line(str(error)) or type(error).__name__
        raise UserError(f"{escape_line(address)} cannot be downloaded: {reason}.") from None
    raise UserError(f"{escape_line(address)} redirects too often.")


async def _receive(
    response: httpx2.Response,
    address: str,
    write: Callable[[bytes], object],
    max_bytes: int,
    on_progress: Callable[[int, int | None], None] | None,
) -> None:
    stated = response.headers.get("content-length", "")
    is_size = stated.isdecimal() and len(stated) < 20 and "content-encoding" not in response.headers
    size = int(stated) if is_size else None
    received = 0
    if size is not None and size > max_bytes:
        raise UserError(f"{escape_line(address)} is larger than {format_size(max_bytes)}.")
    async for block in response.aiter_bytes():
        received += len(block)
        if received > max_bytes:
            raise UserError(f"{escape_line(address)} is larger than {format_size(max_bytes)}.")
        write(block)
        if on_progress is not None:
            on_progress(received, size)
