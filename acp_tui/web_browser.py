"""Opens web addresses in the user's browser, after checking them."""

from __future__ import annotations

import ipaddress
import os
import shlex
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

from acp_tui.session.safe_text import escape_invisible, escape_line

TERMINAL_BROWSERS = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
_OPENERS = ("xdg-open", "open", "wslview")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")


def has_browser() -> bool:
    """Return whether there is a browser that does not run in the terminal."""
    return bool(_command(""))


def open_page(url: str) -> bool:
    """Open a page. Return False if there is no browser, or if it could not be started."""
    command = _command(url)
    return bool(command) and start_detached(command)


def start_detached(command: list[str]) -> bool:
    """Start a program that gets no access to the terminal. Return False if it could not be started."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie
    return True


def _command(url: str) -> list[str]:
    """Return the command that opens a page; empty if there is no browser.

    As in other programs, `$BROWSER` can list several commands. In a command, `%s` stands for the address.
    Without `%s`, the address is appended.
    """
    choices = [words for one in os.environ.get("BROWSER", "").split(os.pathsep) if (words := _split(one))]
    for words in choices:
        is_usable = os.path.basename(words[0]) not in TERMINAL_BROWSERS  # noqa: PTH119  # any text
        if is_usable and shutil.which(words[0]):
            has_place = any("%s" in word for word in words)
            return [word.replace("%s", url) for word in words] if has_place else [*words, url]
    if choices:
        return []
    has_display = sys.platform == "darwin" or any(os.environ.get(name) for name in _DISPLAYS)
    opener = next(filter(None, map(shutil.which, _OPENERS)), None) if has_display else None
    return [opener, url] if opener else []


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation mark is missing
        return []


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that may be opened if the user agrees. All texts are safe to display."""

    url: str
    host: str
    warnings: tuple[str, ...]  # sentences


def check_web_address(url: str) -> WebAddress:
    """Return an address with its host and warnings. Raises `ValueError` if the URL must not be opened."""
    if escape_invisible(escape_line(url)) != url or any(char.isspace() for char in url):
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
        return escape_line(label[4:].encode("ascii").decode("punycode"))
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
