"""`acp-tui mcp import`: the servers of other programs, whose files are only read."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import mcp_file

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, Any] = {
    ".config/Claude/claude_desktop_config.json": {
        "mcpServers": {
            "files": {"command": "sh", "args": ["x"], "env": {"API_KEY": "hush-hush", "HOST": "${HOST}"}},
            "own": {"command": "./run.sh", "autoApprove": ["a"]},
        }
    },
    ".claude.json": {
        "mcpServers": {"shell": {"type": "stdio", "command": "sh"}},
        "projects": {"/srv/p": {"mcpServers": {"files": {"type": "http", "url": "https://p.org"}}}},
        "history": [{"mcpServers": {}}],
    },
    ".gemini/settings.json": {
        "mcpServers": {
            "web": {
                "httpUrl": "https://x.org/mcp",
                "timeout": 30_000,
                "headers": {"Authorization": "Bearer $KEY"},
                "includeTools": ["a"],
            },
            "socket": {"url": "ws://x"},
        }
    },
    ".cursor/mcp.json": {"mcpServers": {"shell": {"command": "sh"}}},
}


@pytest.fixture(autouse=True)
def user(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with the files of other programs."""
    user = tmp_path / "user"
    for name, content in FILES.items():
        file = user / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return user


def written() -> dict[str, Any]:
    """Return the servers in `mcp.toml`."""
    servers: dict[str, Any] = tomllib.loads(mcp_file().read_text())["mcp_servers"]
    return servers


def test_without_names_everything_found_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "import", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["found"]
    assert [(one["client"], one["name"], one["for_project"]) for one in found] == [
        ("claude-desktop", "files", None),
        ("claude-desktop", "own", None),
        ("claude-code", "shell", None),
        ("claude-code", "files", "/srv/p"),
        ("gemini", "web", None),
        ("gemini", "socket", None),
        ("cursor", "shell", None),
    ]
    assert main(["mcp", "import"]) == 0
    out = capsys.readouterr().out
    assert "socket  ws://x             cannot be imported\n" in out
    assert "         socket: MCP has no WebSocket transport; use an http or sse address\n" in out
    assert "hush" not in out
    assert not mcp_file().exists()


def test_all_are_imported_once_and_the_files_stay_as_they_are(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "import", "--all", "--yes"]) == 0
    assert written() == {
        "files": {"command": "sh", "args": ["x"], "env": {"API_KEY": "hush-hush", "HOST": "${HOST}"}},
        "own": {"command": f"{user}/.config/Claude/run.sh", "autoApprove": ["a"]},
        "shell": {"command": "sh"},
        "web": {
            "url": "https://x.org/mcp",
            "type": "http",
            "headers": {"Authorization": "Bearer ${KEY}"},
            "timeout": 30,
            "include_tools": ["a"],
        },
    }
    out, err = capsys.readouterr()
    assert "Stored in plain text, readable only by you: API_KEY." in " ".join(out.split())
    assert "hush" not in out
    assert f"files ({user}/.claude.json:1) is not imported" in err
    assert {name: json.loads((user / name).read_text()) for name in FILES} == FILES
    assert main(["config", "check"]) == 0  # the unknown key is not a mistake of the user


def test_one_of_several_is_chosen_by_program_or_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "import", "files"]) == 2
    assert "Choose one: --from claude-desktop; --from /srv/p" in capsys.readouterr().err
    assert main(["mcp", "import", "files", "--from", "/srv/p", "--as", "remote", "--yes"]) == 0
    assert written() == {"remote": {"url": "https://p.org", "type": "http"}}
    assert "The server was defined for one project;" in capsys.readouterr().out


def test_a_folder_is_imported_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"web": {"command": "python3"}}}')
    assert main(["mcp", "import", "--from", str(tmp_path)]) == 0
    assert "web" in capsys.readouterr().out
    assert main(["mcp", "import", "--from", "x" * 300]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_any_json_file_can_be_imported_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.json").write_text('{"mcpServers": {"x": {"command": "sh"}}}')
    assert main(["mcp", "import", "x", "--from", "mine.json", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["added"][0]["name"] == "x"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fles"], "No other client has a server named fles; did you mean files?"),
        (["socket"], "socket cannot be imported: MCP has no WebSocket transport"),
        (["--from", "gone.json"], "gone.json does not exist."),
        (["shell", "web", "--as", "x"], "--as needs exactly one server."),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "import", *words, "--yes"]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_a_broken_file_is_named_and_the_others_are_read(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user / ".cursor/mcp.json").write_text("{")
    assert main(["mcp", "import", "--json"]) == 0
    out, err = capsys.readouterr()
    assert len(json.loads(out)["found"]) == 6
    assert f"{user}/.cursor/mcp.json:1: not valid JSON" in err


OTHERS = {
    ".codex/config.toml": """
model = "gpt"
[mcp_servers.db]
command = "sh"
args = ["-c", "x"]
startup_timeout_sec = 40
tool_timeout_sec = 90.5
enabled_tools = ["query"]
[mcp_servers.wiki]
url = "https://wiki.org/mcp"
bearer_token_env_var = "WIKI_TOKEN"
http_headers = { X-Team = "a" }
env_http_headers = { X-User = "USER_ID" }
""",
    ".config/opencode/opencode.jsonc": """{
  // comments are allowed
  "mcp": {
    "db": {"type": "local", "command": ["sh", "-c", "x"], "environment": {"KEY": "{env:DB_KEY}"}},
    "wiki": {"type": "remote", "url": "https://wiki.org/mcp", "headers": {"A": "b"}, "enabled": false},
  },
}""",
    ".config/zed/settings.json": """{
  "theme": "One",
  "context_servers": {
    "db": {"source": "custom", "command": "sh", "args": ["-c", "x"], "env": null},
    "old": {"command": {"path": "sh", "args": ["y"], "env": {"A": "b"}}, "settings": {}},
    "added": {"source": "extension", "settings": {}},
  },
}""",
    ".config/Code/User/mcp.json": '{"servers": {"wiki": {"type": "http", "url": "https://wiki.org/mcp"}}}',
    ".config/Code/User/settings.json": '{"mcp": {"servers": {"older": {"command": "sh"}}}}',
    ".codeium/windsurf/mcp_config.json": (
        '{"mcpServers": {"wiki": {"serverUrl": "https://wiki.org/mcp", "disabledTools": ["drop"]}}}'
    ),
}


@pytest.fixture
def others(user: Path) -> Path:
    """The files of programs with notations of their own."""
    for name, content in OTHERS.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_text(content)
    return user


@pytest.mark.parametrize(
    ("source", "servers"),
    [
        (
            "codex",
            {
                "db": {
                    "command": "sh",
                    "args": ["-c", "x"],
                    "timeout": 90.5,
                    "connect_timeout": 40,
                    "include_tools": ["query"],
                },
                "wiki": {
                    "url": "https://wiki.org/mcp",
                    "type": "http",
                    "headers": {
                        "X-Team": "a",
                        "X-User": "${USER_ID}",
                        "Authorization": "Bearer ${WIKI_TOKEN}",
                    },
                },
            },
        ),
        (
            "opencode",
            {
                "db": {"command": "sh", "args": ["-c", "x"], "env": {"KEY": "${DB_KEY}"}},
                "wiki": {
                    "url": "https://wiki.org/mcp",
                    "type": "http",
                    "headers": {"A": "b"},
                    "enabled": False,
                },
            },
        ),
        (
            "zed",
            {
                "db": {"command": "sh", "args": ["-c", "x"]},
                "old": {"command": "sh", "args": ["y"], "env": {"A": "b"}},
            },
        ),
        ("vscode", {"wiki": {"url": "https://wiki.org/mcp", "type": "http"}, "older": {"command": "sh"}}),
        (
            "windsurf",
            {"wiki": {"url": "https://wiki.org/mcp", "type": "http", "exclude_tools": ["drop"]}},
        ),
    ],
)
def test_servers_of_programs_with_another_notation_are_imported(
    others: Path, source: str, servers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "import", "--from", source, "--all", "--yes"]) == 0
    assert written() == servers


@pytest.mark.parametrize("file", [".config/zed/settings.json", ".codex/config.toml"])
def test_any_file_in_another_notation_can_be_named(others: Path, file: str) -> None:
    assert main(["mcp", "import", "db", "--from", str(others / file), "--yes"]) == 0
    assert written()["db"]["command"] == "sh"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", '{"theme": 1}', "it has none of the keys that can contain them: mcpServers, servers,"),
        ("a.toml", "x = 1", "it has none of the keys that can contain them: mcp_servers."),
        ("a.json", '{"mcpServers": {}}', "it has an empty list of them."),
        ("a.toml", "x = ", "a.toml:1: "),
    ],
)
def test_a_file_without_servers_is_an_error_that_names_the_key_and_the_programs(
    name: str, content: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    assert main(["mcp", "import", "--from", name]) == 1
    err = capsys.readouterr().err
    assert sentence in " ".join(err.split())
    assert "opencode: " in err or "a.toml:1" in err


def test_a_program_without_a_file_is_an_error_that_names_the_file(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "import", "--from", "codex"]) == 1
    assert f"looked in {user}/.codex/config.toml." in " ".join(capsys.readouterr().err.split())
