"""`acp-tui mcp sign-in` and `sign-out`, on a terminal and without one."""

from __future__ import annotations

import json
import signal
import sys
import urllib.request
from typing import TYPE_CHECKING
from urllib.error import HTTPError

import pytest

from acp_tui.mcp.sign_in.token_store import StoredSignIn, TokenStore, sign_in_state
from tests.support.cli import run
from tests.support.terminal import PreloadedTerminal, Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_servers import HttpServers

PROMPT = "Address or code (not shown):"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _last_address(url: str) -> str:
    """Sign in in a browser that cannot open the last page, and return the address of that page."""
    try:
        urllib.request.build_opener(_NoRedirect).open(url)
    except HTTPError as redirect:
        return redirect.headers["Location"]
    raise AssertionError("no redirect")


def _define(home: Path, url: str, options: str = "true") -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(
        f'[mcp_servers.calendar]\nurl = "{url}"\nsign_in = {options}\n'
    )


@pytest.fixture
def url(home: Path, http_servers: HttpServers) -> str:
    """Return the URL of the server `calendar`."""
    url = http_servers.url("/guarded/cli/mcp")
    _define(home, url)
    return url


def _address(terminal: Terminal) -> str:
    """Return the address to open, which is printed on a line of its own."""
    return next(line for line in terminal.new_text().splitlines() if line.startswith("http"))


def _wait_for_address(terminal: Terminal, prompt: str = PROMPT) -> str:
    terminal.until(lambda: prompt in terminal.new_text(), prompt)
    address = _address(terminal)
    terminal.wait_for(prompt)
    return address


def test_address_is_pasted_after_signing_in_on_another_machine(tmp_path: Path, url: str) -> None:
    with PreloadedTerminal("mcp", "sign-in", "calendar", cwd=tmp_path) as terminal:
        last = _last_address(_wait_for_address(terminal))
        terminal.type("not what was asked for\n")
        terminal.wait_for("This is neither a code nor the address of the page after the sign-in", PROMPT)
        terminal.type(last + "&more=" + "x" * 5000 + "\n")  # more than a line of a terminal may have
        assert terminal.ended() == 0
        assert "calendar: signed in until" in terminal.new_text()
        assert last not in terminal.raw.decode()
        assert terminal.settings == terminal.before
    assert sign_in_state(url) is not None


@pytest.mark.parametrize(("answer", "opens"), [("\n", True), ("n\n", False)])
def test_browser_is_opened_after_consent(tmp_path: Path, url: str, answer: str, opens: bool) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text("import sys, urllib.request\nurllib.request.urlopen(sys.argv[1])\n")
    command = f"{sys.executable} {browser}"
    with PreloadedTerminal("mcp", "sign-in", "calendar", cwd=tmp_path, BROWSER=command) as terminal:
        _wait_for_address(terminal, "Open 127.0.0.1 in your browser? [Y/n]")
        terminal.type(answer)
        if opens:
            assert terminal.ended() == 0
        else:
            terminal.wait_for(PROMPT)
    assert (sign_in_state(url) is not None) is opens


def test_ctrl_c_cancels_and_restores_the_terminal(tmp_path: Path, url: str) -> None:
    with PreloadedTerminal("mcp", "sign-in", "calendar", "--no-browser", cwd=tmp_path) as terminal:
        _wait_for_address(terminal)
        terminal.signal(signal.SIGINT)
        assert terminal.ended() == 130
        assert "The sign-in to calendar was cancelled." in terminal.new_text()
        assert terminal.settings == terminal.before


def test_another_service_on_this_machine_is_asked_about(
    tmp_path: Path, home: Path, http_servers: HttpServers
) -> None:
    url = http_servers.url(f"/guarded/cli,authorization_servers@localhost:{http_servers.port}/mcp")
    _define(home, url)
    with PreloadedTerminal("mcp", "sign-in", "calendar", cwd=tmp_path) as terminal:
        terminal.wait_for(f"localhost:{http_servers.port}, another service on", "[y/N]")
        terminal.type("\n")
        assert terminal.ended() == 1
        assert "which you did not allow" in " ".join(terminal.new_text().split())


def test_end_of_input_cancels(tmp_path: Path, url: str) -> None:
    result = run("mcp", "sign-in", "calendar", "--paste", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("acp-tui: The sign-in was cancelled: there is no more input.\n")


def test_client_credentials_need_no_terminal(tmp_path: Path, home: Path, http_servers: HttpServers) -> None:
    url = http_servers.url("/guarded/ci/mcp")
    options = '{ grant = "client_credentials", client_id = "known-client", client_secret = "${SECRET}" }'
    _define(home, url, options)
    result = run("mcp", "sign-in", "calendar", "--json", cwd=tmp_path, SECRET="known-secret")
    facts = json.loads(result.out)
    assert (facts["signed_in"], facts["valid"], facts["renewable"]) == (True, True, False)
    assert facts["expires_at"] > facts["signed_in_at"]
    assert "known-secret" not in TokenStore(url).path.read_text()


def test_sign_out_deletes_the_tokens(tmp_path: Path, url: str) -> None:
    store = TokenStore(url)
    store.write(StoredSignIn(store.url, "access", "refresh"))
    first, second = (run("mcp", "sign-out", "calendar", cwd=tmp_path) for _ in range(2))
    assert first.out == "Signed out of calendar. Its tokens and client registration were deleted.\n"
    assert second.out == "You were not signed in to calendar.\n"
    assert not store.path.exists()


def test_sign_out_works_for_a_server_of_a_folder_that_is_not_trusted(
    tmp_path: Path, http_servers: HttpServers
) -> None:
    url = http_servers.url("/guarded/cli/mcp")
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"team": {"type": "http", "url": url}}}))
    store = TokenStore(url)
    store.write(StoredSignIn(store.url, "access", "refresh"))
    result = run("mcp", "sign-out", "team", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert not store.path.exists()


@pytest.mark.parametrize(("signed_in", "words"), [(True, "signed in until 2100-"), (False, "not signed in")])
def test_list_says_until_when_the_user_is_signed_in(
    tmp_path: Path, url: str, signed_in: bool, words: str
) -> None:
    if signed_in:
        store = TokenStore(url)
        store.write(StoredSignIn(store.url, "the-access-token", expires_at=4_102_531_200.0))
    listed, as_json = (run("mcp", "list", *options, cwd=tmp_path) for options in ([], ["--json"]))
    assert words in listed.out
    [server] = json.loads(as_json.out)["servers"]
    assert (server["signed_in"] is not None) is signed_in
    assert "the-access-token" not in listed.out + as_json.out
