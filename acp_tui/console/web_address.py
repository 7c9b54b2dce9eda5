"""Checks web addresses that agents or servers ask the user to open, and warns about suspicious hosts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from acp_tui.session.text.invisible import reveal
from acp_tui.session.text.safe_text import visible_line


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that may be opened if the user agrees. All texts are safe to display."""

    url: str
    host: str
    warnings: tuple[str, ...]  # sentences


def check_web_address(url: str) -> WebAddress:
    """Return an address with its host and warnings. Raises `ValueError` if the URL must not be opened."""
    if reveal(visible_line(url)) != url or any(char.isspace() for char in url):
        raise ValueError("it contains control characters or whitespace")
    if "\\" in url:  # browsers read it as a slash and open another host
        raise ValueError("it contains a backslash")
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("https", "http") or not host:
        raise ValueError("it is not a valid http or https address")
    if not is_safe_scheme(url):
        raise ValueError("it is not encrypted (http)")
    return WebAddress(url, host, tuple(_warnings(host, parts.netloc)))


def is_safe_scheme(url: str) -> bool:
    """Return True if others cannot read requests to a URL: it is https, or http to a loopback address."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))


def _warnings(host: str, netloc: str) -> list[str]:
    found = []
    if "@" in netloc:
        found.append(f'The text before "@" is not the host. The host is {host}.')
    labels = host.split(".")
    if any(label.startswith("xn--") for label in labels):
        shown = ".".join(map(_decoded, labels))
        found.append(f"The host has non-ASCII characters and may imitate another one: {shown}.")
    if not host.isascii():
        found.append(f"The host has non-ASCII characters and may imitate another one: {host!a}.")
    if not _is_loopback(host) and _is_address(host):
        found.append("The host is an IP address instead of a name.")
    return found


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return visible_line(label[4:].encode("ascii").decode("punycode"))
    except UnicodeError:
        return label


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
