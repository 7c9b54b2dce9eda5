"""`acp-tui mcp add`, `remove`, `enable` and `disable`: everything is written to acp-tui's own file."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import config_file, mcp_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def written() -> dict[str, Any]:
    """Return the content of `mcp.toml`."""
    return tomllib.loads(mcp_file().read_text()) if mcp_file().exists() else {}


def add(*words: str) -> None:
    """Add a server without being asked."""
    assert main(["mcp", "add", *words]) == 0


def left_out(name: str, capsys: pytest.CaptureFixture[str], *words: str) -> str | None:
    """Return why a server is left out according to `mcp list --json`."""
    capsys.readouterr()
    assert main(["mcp", "list", "--json", *words]) == 0
    servers = json.loads(capsys.readouterr().out)["servers"]
    [reason] = [server["left_out"] for server in servers if server["name"] == name]
    return reason  # type: ignore[no-any-return]


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mcp.toml"
    target.parent.mkdir()
    target.touch()
    mcp_file().parent.mkdir(parents=True)
    mcp_file().symlink_to(target)
    add("mine", "--yes", "--", "sh")
    assert mcp_file().is_symlink()
    assert "mine" in tomllib.loads(target.read_text())["mcp_servers"]


def test_secrets_in_arguments_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    add("mine", "--yes", "--", "sh", "--token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    out = " ".join(capsys.readouterr().out.split())
    assert "Stored in plain text, readable only by you: the argument --token." in out
    assert "ghp_" not in out


def test_a_command_after_two_dashes_is_written_with_absolute_paths(folder: Path) -> None:
    (folder / "server.py").touch(mode=0o755)
    (folder / "data.txt").touch()
    options = ["--env", "A=${B:-c}", "--timeout", "20", "--agent", "codex"]
    add("mine", *options, "--yes", "--", "./server.py", "-v", "data.txt", "--yes")
    assert written()["mcp_servers"]["mine"] == {
        "command": f"{folder}/server.py",
        "args": ["-v", f"{folder}/data.txt", "--yes"],
        "env": {"A": "${B:-c}"},
        "timeout": 20,
        "agents": ["codex"],
    }
    assert mcp_file().stat().st_mode & 0o777 == 0o600


def test_a_server_on_the_network_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    add(
        "docs",
        "--url",
        "https://x.org/mcp",
        "--header",
        "Authorization: Bearer ${KEY:-k}",
        "--sign-in",
        "--yes",
    )
    assert written()["mcp_servers"]["docs"] == {
        "url": "https://x.org/mcp",
        "headers": {"Authorization": "Bearer ${KEY:-k}"},
        "sign_in": True,
    }
    assert left_out("docs", capsys) is None


def test_a_well_known_server_is_pinned_and_names_its_key(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add("filesystem", ".", "~", "--as", "notes", "--yes")
    add("brave-search", "--yes")
    servers = written()["mcp_servers"]
    package, here, home = servers["notes"]["args"][1:]
    assert package.startswith("@modelcontextprotocol/server-filesystem@2")
    assert (here, "~" in home) == (str(folder), False)
    assert servers["brave-search"]["env"] == {"BRAVE_API_KEY": "${BRAVE_API_KEY}"}
    out = " ".join(capsys.readouterr().out.split())
    assert "Nothing is installed now. npx downloads the server when it is first started" in out


def test_without_a_name_the_well_known_servers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "add", "--json"]) == 0
    names = [server["name"] for server in json.loads(capsys.readouterr().out)["servers"]]
    assert names == ["filesystem", "github", "postgres", "brave-search", "playwright", "sqlite"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["githb"], "githb is not a well-known server. Did you mean github?"),
        (["filesystem"], "Usage: acp-tui mcp add filesystem DIR…"),
        (["x", "--url", "https://y", "--", "sh"], "Give either a command or --url, not both."),
        (
            ["x", "--url", "wss://y"],
            "x cannot be added: MCP has no WebSocket transport",
        ),
        (["x", "y", "--", "sh"], "Unexpected argument 'y'. Write the command after --."),
        (["a\x1b[31mb", "--", "sh"], "is not a valid name"),
        (["x", "--", "sh", "\udcff"], "x cannot be added: it contains an invalid character"),
        (["x", "--agent", "codx", "--", "sh"], 'Unknown agent "codx"; did you mean codex?'),
        (["x", "--json", "--", "sh"], "--json needs --yes"),
        (["x", "--sign-in", "--", "sh"], "only servers with a URL can use sign-in"),
    ],
)
def test_what_cannot_be_added_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    position = words.index("--") if "--" in words else len(words)
    yes = [] if "--json" in words else ["--yes"]
    assert main(["mcp", "add", *words[:position], *yes, *words[position:]]) in (1, 2)
    assert sentence in capsys.readouterr().err
    assert written() == {}


def test_nothing_is_written_before_the_user_agrees(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["mcp", "add", "x", "--env", "API_KEY=hush-hush", "--", "sh"]
    assert main(words) == 2
    assert "Nothing was written: no terminal" in capsys.readouterr().err
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: "")
    assert main(words) == 1
    out = capsys.readouterr().out
    assert written() == {}
    assert "API_KEY=[redacted]" in out
    assert "Stored in plain text, readable only by you: API_KEY." in out
    monkeypatch.setattr("builtins.input", lambda: "y")
    assert main(words) == 0
    assert written()["mcp_servers"]["x"]["env"] == {"API_KEY": "hush-hush"}


def test_a_name_is_not_used_twice(capsys: pytest.CaptureFixture[str]) -> None:
    add("x", "--yes", "--", "sh")
    assert main(["mcp", "add", "x", "--yes", "--", "cat"]) == 1
    assert "has a server named x already" in capsys.readouterr().err
    add("x", "--yes", "--replace", "--", "cat")
    config_file().write_text('[mcp_servers.mine]\ncommand = "sh"\n')
    assert main(["mcp", "add", "mine", "--yes", "--", "cat"]) == 1
    assert (
        f"{config_file()}:1 defines mine already, and that definition takes precedence"
        in capsys.readouterr().err
    )
    assert written()["mcp_servers"] == {"x": {"command": "cat"}}


def test_the_same_server_works_under_two_names(capsys: pytest.CaptureFixture[str]) -> None:
    add("a", "--yes", "--", "sh")
    add("b", "--yes", "--", "sh")
    assert (left_out("a", capsys), left_out("b", capsys)) == (None, None)


def test_strange_texts_survive(capsys: pytest.CaptureFixture[str]) -> None:
    args = ['quo"te', "back\\slash", "tab\tnew\nline", "\x7f\x01", "ünï 🎈", "[a]\nb = 1"]
    add("odd.name", "--yes", "--", "sh", *args)
    assert written()["mcp_servers"]["odd.name"]["args"] == args


def test_a_damaged_file_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    mcp_file().parent.mkdir(parents=True)
    mcp_file().write_text("[mcp_servers\n")
    assert main(["mcp", "add", "x", "--yes", "--", "sh"]) == 1
    assert f"{mcp_file()}:1: not valid TOML" in capsys.readouterr().err
    assert mcp_file().read_text() == "[mcp_servers\n"


def test_remove_removes_only_what_was_added(capsys: pytest.CaptureFixture[str]) -> None:
    add("x", "--yes", "--", "sh")
    assert main(["mcp", "disable", "x"]) == 0
    assert main(["mcp", "remove", "x"]) == 0
    assert written() == {}
    config_file().write_text('[mcp_servers.mine]\ncommand = "sh"\n')
    assert main(["mcp", "remove", "mine"]) == 1
    assert f"mine is defined in {config_file()}:1, which acp-tui does not change" in capsys.readouterr().err
    assert main(["mcp", "remove", "mne"]) == 2
    assert 'There is no MCP server "mne"; did you mean mine?' in capsys.readouterr().err


def test_servers_of_every_file_are_turned_on_and_off(capsys: pytest.CaptureFixture[str]) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text('[mcp_servers.mine]\ncommand = "sh"\n')
    assert main(["mcp", "disable", "mine", "--agent", "codex"]) == 0
    assert left_out("mine", capsys) is None
    assert left_out("mine", capsys, "--agent", "codex") == "you disabled it for codex"
    assert main(["mcp", "disable", "mine"]) == 0
    assert left_out("mine", capsys) == "you disabled it"
    assert main(["mcp", "enable", "mine"]) == 0
    assert (
        capsys.readouterr().out
        == "mine is on for every agent, in new sessions.\nThe server stays off for codex.\n"
    )
    assert main(["mcp", "enable", "mine", "--agent", "codex"]) == 0
    assert left_out("mine", capsys, "--agent", "codex") is None
    assert written() == {}
