"""`acp-tui config`: values with their origin, problems with file and line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.config.agent_catalogue import KnownAgent
from acp_tui.config.settings import VALIDATORS
from acp_tui.ui.keys import TABLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an empty `config.toml`, and change to a project folder."""
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.touch()
    monkeypatch.chdir(tmp_path)
    return file


def test_path_prints_the_settings_file_even_if_it_is_missing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{home}/config/config.toml\n"


def test_every_value_is_shown_with_its_origin(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(
        'policy = "deny"\n[log]\nenabled = false\n[agents.own]\ncommand = ["x", "a b"]\n'
        '[agents.pi]\ntitle = "P"\n[mcp_servers.web]\nurl = "http://x"\n[keys]\n"app.help" = ["f2", "f1"]\n'
    )
    (tmp_path / ".acp-tui.toml").write_text('\nagent = "pi"\n')
    monkeypatch.setenv("ACP_TUI_TIMEOUTS_SESSION", "9")
    monkeypatch.setattr(KnownAgent, "is_installed", True)
    assert main(["config", "show"]) == 0
    shown = capsys.readouterr()
    files, values = shown.out.split("\n\n")
    assert str(config) in files
    assert str(tmp_path / ".acp-tui.toml") in files
    table = {line.split()[0]: " ".join(line.split()[1:]) for line in values.splitlines()}
    assert table == {
        "agent": '"pi" .acp-tui.toml:2',
        "policy": '"deny" config.toml:1',
        "theme": '"auto" built in',
        "theme_dark": '"dark" built in',
        "theme_light": '"light" built in',
        "panes": '"none" built in',
        "notify": '"all" built in',
        "notify_command": "[] built in",
        "restore_tabs": "false built in",
        "context_warning": "85 built in",
        "terminal_progress": '"auto" built in',
        "timeouts.initialize": "60.0 built in",
        "timeouts.session": "9.0 environment ACP_TUI_TIMEOUTS_SESSION",
        "log.enabled": "false config.toml:3",
        "log.keep_sessions": "200 built in",
        "log.keep_bytes": "1000000000 built in",
        "log.max_session_bytes": "100000000 built in",
        "workspace.additional_directories": "[] built in",
        "type_to_prompt": "true built in",
        "workspace.sensitive": "[] built in",
        "workspace.max_rewind_turns": "100 built in",
        "workspace.max_rewind_bytes": "200000000 built in",
        "workspace.keep_baseline_days": "30 built in",
        "workspace.keep_baseline_bytes": "2000000000 built in",
        "workspace.max_baseline_file_size": table["workspace.max_baseline_file_size"],
        "own_server.enabled": "false built in",
        "own_server.agents": "[] built in",
        "telemetry.traceparent": '"environment" built in',
        "registry.url": '"https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json" built in',
        "agents.own": "x 'a b' config.toml:4",
        "agents.pi": "(built-in command) config.toml:6",
        "mcp_servers.web": "http config.toml:8",
        "keys.app.help": "f2,f1 config.toml:11",
    }
    assert VALIDATORS.keys() <= table.keys()
    assert shown.err == ""


def test_show_is_the_default_action(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    values = capsys.readouterr().out.split("\n\n")[1]
    assert re.search(r"^policy +\(each command has its own default\)  built in$", values, re.MULTILINE)
    short = [line for line in values.splitlines() if not line.startswith("registry.url")]
    assert max(map(len, short)) <= 80


def test_show_mentions_problems_on_stderr(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('polcy = "ask"\nagent = "gemni"\n')
    assert main(["config"]) == 0
    assert capsys.readouterr().err == "acp-tui: 2 problems in the settings; run `acp-tui config check`.\n"


def test_check_prints_every_problem_and_fails(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('polcy = "ask"\nagent = "gemni"\n[mcp_servers.x]\n')
    assert main(["config", "check"]) == 1
    assert capsys.readouterr().out == (
        f"{config}:1: polcy\n"
        "    unknown key; did you mean 'policy'?\n"
        f"{config}:3: mcp_servers.x\n"
        "    no command; no agent gets the server\n"
        f"{config}:2: agent\n"
        '    Unknown agent "gemni"; did you mean gemini? `acp-tui agents` lists the known\n'
        "    agents, and --command 'PROG ARGS' starts any other.\n"
    )


def test_check_without_problems_says_so(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out == "No problems found.\n"


def test_control_characters_in_settings_are_replaced(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text('policy = "\\u001b]0;x\\u0007"\n"\\u001b[2J" = 1\nagent = "\\u001b[2J"\n')
    main(["config", "check"])
    main(["config", "show"])
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "\x07" not in shown.out + shown.err


def test_check_covers_keys_and_themes(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('theme = "grubbox"\n[keys]\n"app.hlep" = "f2"\n"transcript.copy" = "f"\n')
    assert main(["config", "check"]) == 1
    report = capsys.readouterr().out
    assert f"{config}:1: theme\n    unknown theme 'grubbox'; did you mean 'gruvbox'?" in report
    assert f"{config}:3: keys.app.hlep\n    there is no such action; did you mean 'app.help'?" in report
    assert f"{config}:4: keys.transcript.copy\n    f no longer runs transcript.fold_kind" in report


def test_check_reports_a_missing_notify_command(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('notify_command = "no-such-program {text}"\n')
    assert main(["config", "check"]) == 1
    assert f"{config}:1: notify_command\n    program not found: no-such-program" in capsys.readouterr().out


def test_keys_lists_every_action_with_its_keys(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('[keys]\n"app.help" = "F2"\n')
    assert main(["config", "keys"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["app.help", "f2"] in [row[:2] for row in rows]
    assert {key.id for key in TABLE} == {row[0] for row in rows[1:]}
