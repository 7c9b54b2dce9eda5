"""The files with tokens."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from acp_tui.mcp.sign_in.interaction import SignInError
from acp_tui.mcp.sign_in.token_store import StoredSignIn, TokenStore, normalized_url

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://api.example.com/mcp"


def _stored(url: str = URL) -> StoredSignIn:
    return StoredSignIn(url, "the-access-token", "the-refresh-token", client={"client_secret": "the-secret"})


def test_only_the_user_can_read_the_tokens(tmp_path: Path) -> None:
    store = TokenStore(URL, tmp_path)
    store.write(_stored())
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert TokenStore(URL, tmp_path).read() == _stored()
    assert "api" not in store.path.name


def test_representation_contains_no_secret() -> None:
    assert "the-" not in repr(_stored())


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTPS://API.Example.com:443/mcp#part", True),
        ("https://api.example.com/mcp/", False),
        ("https://api.example.com/MCP", False),
        ("https://api.example.com:8443/mcp", False),
        ("https://api.example.com/mcp?team=1", False),
    ],
)
def test_urls_of_one_server_share_a_file(url: str, same: bool) -> None:
    assert (normalized_url(url) == URL) is same


def test_damaged_or_foreign_file_counts_as_no_sign_in(tmp_path: Path) -> None:
    store = TokenStore(URL, tmp_path)
    assert store.read() is None
    store.write(_stored("https://other.example/"))
    assert store.read() is None
    store.path.write_text('{"version": 1, "sign_in": {"url"')
    assert store.read() is None


async def test_one_sign_in_at_a_time(tmp_path: Path) -> None:
    first = TokenStore(URL, tmp_path)
    second = TokenStore(URL, tmp_path)
    with first.sign_in_lock(), pytest.raises(SignInError, match="is under way"):
        second.sign_in_lock().__enter__()
    with second.sign_in_lock():
        pass


async def test_deleting_says_whether_there_was_something(tmp_path: Path) -> None:
    store = TokenStore(URL, tmp_path)
    store.write(_stored())
    assert (store.delete(), store.delete(), store.stamp()) == (True, False, None)
