"""Agents on other machines, in the settings and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.agent_catalogue import (
    Launch,
    known_agents,
    launch_from_command,
    resolve_launch,
    settings_problems,
)
from acp_tui.config.settings import load
from acp_tui.errors import UserError
from acp_tui.permissions.rules import identity_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def test_a_remote_agent_is_read_from_the_settings(write_config: WriteConfig, project: Path) -> None:
    config = write_config(
        """
[agents.far]
url = "wss://host.example/acp"
headers = { X-Team = "${TEAM}" }
token_command = "./token far"
ca_file = "ca.pem"
folder = "/srv/project"
transport = "websocket"
"""
    )
    settings = load(project, environ={})
    assert settings_problems(settings) == []
    launch = resolve_launch("far", settings)
    assert launch.address is not None
    assert (launch.command, launch.is_remote) == (["wss://host.example/acp"], True)
    assert launch.address.headers == {"X-Team": "${TEAM}"}
    assert launch.address.token_command == (str(config.parent / "token"), "far")
    assert launch.address.ca_file == config.parent / "ca.pem"
    assert launch.address.token_variable is None  # the variable is for addresses on the command line
    assert launch.session_folder("/here") == "/srv/project"
    assert known_agents(settings)["far"].is_installed


def test_an_agent_started_by_a_command_can_be_remote(write_config: WriteConfig, project: Path) -> None:
    write_config('[agents.far]\ncommand = ["sh", "-c", "ssh host agent"]\nremote = true\nfolder = "/srv"\n')
    launch = resolve_launch("far", load(project, environ={}))
    assert (launch.address, launch.is_remote, launch.folder) == (None, True, "/srv")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('url = "ftp://host/acp"', "expected an address such as wss://host/acp or https://host/acp"),
        ('url = "wss:///acp"', "expected an address such as wss://host/acp"),
        ('url = "https://host:99999/acp"', "expected an address such as wss://host/acp"),
        ('url = "wss://me:secret@host/acp"', "an address contains no user name and no password"),
        ('url = "wss://host/a b"', "an address contains no spaces"),
        ('url = "wss://host/#x"', "an address has no part after #"),
        ('url = "wss://host/"\ncommand = "x"', "an agent has either `command` or `url`"),
        ('url = "https://host/"\ntransport = "stdio"', "expected one of websocket, http"),
        ('url = "wss://host/"\ntransport = "http"', 'is "http", which needs a url that begins with https://'),
        ('url = "https://host/"\nheaders = { Acp-Session-Id = "x" }', "'Acp-Session-Id' cannot be used"),
        ('url = "wss://host/"\nheaders = { Host = "x" }', "'Host' cannot be used as the name of a header"),
        ('url = "wss://host/"\nfolder = "here"', "expected an absolute path"),
        ('command = "x"\ntoken_command = "y"', "is only for agents with `url`"),
        ('command = "x"\nfolder = "/srv"', "is only for agents with `url` or `remote = true`"),
        ('command = "x"\nserve_workspace = true', "is only for agents with `url` or `remote = true`"),
    ],
)
def test_a_mistake_is_reported(write_config: WriteConfig, project: Path, line: str, sentence: str) -> None:
    write_config(f"[agents.far]\n{line}\n")
    problems = [str(problem) for problem in settings_problems(load(project, environ={}))]
    assert any(sentence in problem for problem in problems)
    assert not any("secret" in problem for problem in problems)


def test_a_wrong_address_does_not_start_the_known_agent(write_config: WriteConfig, project: Path) -> None:
    write_config('[agents.demo]\nurl = "ftp://host/acp"\n')
    assert "demo" not in load(project, environ={}).agents


def test_a_project_cannot_define_a_remote_agent(project: Path) -> None:
    (project / ".acp-tui.toml").write_text(
        'agent = "wss://evil.example/acp"\n[agents.demo]\nurl = "wss://evil.example/acp"\n'
    )
    settings = load(project, environ={})
    assert known_agents(settings)["demo"].address is None
    assert settings.agents == {}
    with pytest.raises(UserError, match="is an address"):
        resolve_launch("wss://evil.example/acp", settings)


@pytest.mark.parametrize(
    ("url", "transport", "transports"),
    [
        ("wss://host/acp", None, ("websocket",)),
        ("https://host/acp", None, ("websocket", "http")),
        ("https://host/acp", "websocket", ("websocket",)),
        ("HTTPS://host/acp", "http", ("http",)),
    ],
)
def test_the_address_and_the_settings_choose_the_transport(
    write_config: WriteConfig, project: Path, url: str, transport: str | None, transports: tuple[str, ...]
) -> None:
    choice = f'transport = "{transport}"\n' if transport else ""
    write_config(f'[agents.far]\nurl = "{url}"\n{choice}')
    address = resolve_launch("far", load(project, environ={})).address
    assert address is not None
    assert (address.transports, address.websocket_url) == (transports, "wss://host/acp")


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:1", "[::1]:1", "127.9.9.9"])
@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_this_machine_needs_no_encryption(scheme: str, host: str) -> None:
    assert launch_from_command(f"{scheme}://{host}/acp").is_remote


@pytest.mark.parametrize("host", ["host.example", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil"])
@pytest.mark.parametrize(("scheme", "safe"), [("ws", "wss"), ("http", "https")])
def test_another_machine_needs_encryption(scheme: str, safe: str, host: str) -> None:
    fault = f"is another machine, and {scheme}:// is not encrypted: use {safe}://,"
    with pytest.raises(UserError, match=fault):
        launch_from_command(f"{scheme}://{host}/acp")


def test_the_settings_can_allow_a_connection_without_encryption(
    write_config: WriteConfig, project: Path
) -> None:
    write_config('[agents.far]\nurl = "ws://10.0.0.1/acp"\n')
    with pytest.raises(UserError, match="not encrypted"):
        resolve_launch("far", load(project, environ={}))
    write_config('[agents.far]\nurl = "ws://10.0.0.1/acp"\nallow_insecure = true\n')
    assert resolve_launch("far", load(project, environ={})).address is not None


def test_rules_belong_to_the_address_and_not_to_the_name() -> None:
    first, other = (launch_from_command(f"wss://host/{path}") for path in ("a", "b"))
    named = Launch("demo", "Demo", ["wss://host/a"], address=first.address, is_remote=True)
    assert identity_of(first).id == identity_of(named).id
    assert identity_of(first).id != identity_of(other).id
    assert identity_of(named).id != identity_of(Launch("demo", "Demo", ["demo"])).id


def test_the_variable_with_the_token_is_no_mistyped_setting(project: Path) -> None:
    assert load(project, environ={"ACP_TUI_TOKEN": "x"}).problems == []
