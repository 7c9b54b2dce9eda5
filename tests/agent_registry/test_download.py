"""Downloads: only from acceptable addresses, and only so much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.agent_registry.download import address_fault, download, redirect_target
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from tests.support.agent_registry import Site


async def downloaded(address: str, max_bytes: int = 1000) -> bytes:
    data = bytearray()
    await download(address, data.extend, max_bytes=max_bytes)
    return bytes(data)


async def test_a_redirect_is_followed(site: Site) -> None:
    site.add("/there", b"content")
    site.redirects["/here"] = "/there"
    assert await downloaded(f"{site.address}/here") == b"content"


async def test_a_redirect_to_plain_http_elsewhere_is_refused(site: Site) -> None:
    site.redirects["/here"] = "http://example.com/there"
    with pytest.raises(UserError, match="it does not begin with https://"):
        await downloaded(f"{site.address}/here")


def test_a_redirect_from_https_to_this_machine_is_refused() -> None:
    assert redirect_target("https://example.com/a", "/b") == "https://example.com/b"
    assert redirect_target("https://example.com/a", "https://example.org/b") == "https://example.org/b"
    with pytest.raises(UserError, match=r"redirects to http://127.0.0.1:8080/, not to https://"):
        redirect_target("https://example.com/a", "http://127.0.0.1:8080/")
    with pytest.raises(UserError, match="redirects to what is not an address"):
        redirect_target("https://example.com/a", "https://[")


async def test_this_machine_is_not_reached_through_a_proxy(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    assert await downloaded(site.add("/here", b"content")) == b"content"


async def test_redirects_end(site: Site) -> None:
    site.redirects["/loop"] = "/loop"
    with pytest.raises(UserError, match="redirects too often"):
        await downloaded(f"{site.address}/loop")


@pytest.mark.parametrize("states_sizes", [True, False])
async def test_too_large_a_file_is_given_up(site: Site, states_sizes: bool) -> None:
    site.states_sizes = states_sizes
    address = site.add("/large", b"x" * 5000)
    with pytest.raises(UserError, match="is larger than 1 kB"):
        await downloaded(address)


async def test_failures_name_the_address(site: Site) -> None:
    with pytest.raises(UserError, match="/missing answered with status 404"):
        await downloaded(f"{site.address}/missing")
    with pytest.raises(UserError, match=r"http://127.0.0.1:1/ cannot be downloaded: "):
        await downloaded("http://127.0.0.1:1/")


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/a",
        "https://[::1]:8/a",
        "http://127.0.0.1:80/a",
        "http://localhost/a",
        "http://[::1]/a",
    ],
)
def test_https_and_this_machine_are_accepted(address: str) -> None:
    assert address_fault(address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/a",
        "http://127.0.0.1.example.com/a",
        "http://127.0.0.1@example.com/a",
        "ftp://example.com/a",
        "file:///etc/passwd",
        "https:///a",
        "https://example.com:port/a",
        "https://exa mple.com/",
        "https://example.com/\x1b[2J",
        "https://ex\u0430mple.com/",
        "-o /tmp/x",
        "",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    assert address_fault(address)
