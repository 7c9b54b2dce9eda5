"""`acp-tui agents`: aligned lists without secrets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put only gemini and npx into PATH, and change to an empty folder."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in ("gemini", "npx"):
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.chdir(tmp_path)
    return directory


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of each row by its name. Columns are at least two spaces apart."""
    table = [
        [cell.strip() for cell in line.split("  ") if cell] for line in text.split("\n\n")[0].splitlines()
    ]
    return {name: cells for name, *cells in table}


def test_the_list_shows_which_agents_are_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents"]) == 0
    shown = capsys.readouterr()
    table = rows(shown.out)
    assert table["demo"] == ["Demo agent", "installed", "tested"]
    assert table["gemini"] == ["Gemini CLI", "installed", "tested"]
    assert table["claude-code"] == ["Claude Code", "via npx", "tested"]
    assert table["goose"] == ["goose", "missing", "untested"]
    assert table["local"] == ["Local agent", "not set up", "tested"]
    assert len(table) == 21
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    assert shown.err == ""
    assert main(["agents", "list"]) == 0
    assert capsys.readouterr().out == shown.out


def test_configured_and_default_agents_are_in_the_list(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(
        'agent = "own"\n[agents.own]\ncommand = "gemini"\ntitle = "Ein \\u001b[31m漢字"\n'
    )
    main(["agents"])
    out = capsys.readouterr().out
    assert rows(out)["own"] == ["Ein ␛[31m漢字 (default)", "installed", "yours"]
    # Wide characters count twice, so that the columns stay aligned.
    header, own = out.splitlines()[0], next(line for line in out.splitlines() if line.startswith("own"))
    assert own.index("installed") + 2 == header.index("STATE")


def test_the_name_of_an_agent_alone_shows_the_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "show", "gemini"]) == 0
    shown = capsys.readouterr().out
    assert main(["agents", "gemini"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["agents", "gemini", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "gemini"
    assert main(["agents", "unheardof"]) == 2
    assert 'Unknown agent "unheardof"' in capsys.readouterr().err


def test_show_prints_command_install_hint_and_keys(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "do-not-show-me")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    assert main(["agents", "show", "gemini"]) == 0
    out = capsys.readouterr().out
    assert "do-not-show-me" not in out
    fields = dict(re.split(" {2,}", line, maxsplit=1) for line in out.splitlines())
    assert fields["Command"] == f"{programs}/gemini --acp"
    assert fields["Install"] == "npm install -g @google/gemini-cli"
    assert fields["API key"] == "GEMINI_API_KEY (set), or GOOGLE_API_KEY (not set)"
    assert fields["Tested"] == "gemini-cli 0.61.0"
    assert fields["Source"] == "built in"


def test_show_prints_how_to_install_a_missing_agent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["agents", "show", "goose"]) == 0
    out = capsys.readouterr().out
    assert "Command    not installed: goose acp\n" in out
    assert "| bash\n" in out  # on one line, for copying


def test_show_prints_source_and_problems_of_a_configured_agent(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('[agents.gemini]\nenv = { GEMINI_API_KEY = "do-not-show-me" }\ntitel = "x"\n')
    assert main(["agents", "show", "gemini"]) == 0
    shown = capsys.readouterr()
    assert f"Source       {file}:1\n" in shown.out
    assert "GEMINI_API_KEY (set)" in shown.out
    assert "Environment  GEMINI_API_KEY\n" in shown.out
    assert "do-not-show-me" not in shown.out
    assert "did you mean 'title'?" in " ".join(shown.out.split())
    assert shown.err == "acp-tui: 1 problem in the settings; run `acp-tui config check`.\n"


def test_an_unknown_agent_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "show", "gemnii"]) == 2
    assert "did you mean gemini?" in capsys.readouterr().err


def test_sdk_and_textual_are_not_imported() -> None:
    program = (
        "import sys; from acp_tui.cli import main; "
        "assert [main([command]) for command in ('agents', 'config', 'mcp')] == [0, 0, 0]; "
        "print(*{'acp', 'textual', 'pydantic', 'asyncio'} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""


def test_an_agent_as_json_has_its_command_and_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "show", "gemini", "--json"]) == 0
    agent = json.loads(capsys.readouterr().out)
    assert (agent["name"], agent["installed"]) == ("gemini", True)
    assert agent["command"][0].endswith("/gemini")
