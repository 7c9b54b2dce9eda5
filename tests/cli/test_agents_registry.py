"""`acp-tui agents update`, `search`, `install`, `upgrade` and `remove`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.config.installed_agents import installed_agents
from tests.support.agent_registry import BROKEN_AGENT, binary_entry, entry, serve_site
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.agent_registry import Site


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve a registry with one agent, which the settings name."""
    with serve_site() as served:
        monkeypatch.setenv("ACP_TUI_REGISTRY_URL", served.registry)
        served.list_agents(binary_entry(served))
        yield served


class Run:
    """Runs a command, and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = main(["agents", *words])
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(capsys)


def test_without_a_list_nothing_is_fetched(site: Site, run: Run) -> None:
    assert run() == 0
    assert run("search") == 1
    assert (
        "There is no list of agents yet. `acp-tui agents update` fetches it from http://127.0.0.1" in run.err
    )
    assert run("install", "tiny") == 1
    assert run("upgrade") == 1
    assert site.requests == []


def test_an_agent_is_found_installed_and_removed(site: Site, run: Run) -> None:
    assert run("update") == 0
    assert run.out.startswith("1 agent, 1 of them can be installed here.\n")
    assert run("search", "tin") == 0
    assert (
        run.out == "ID    NAME  VERSION  KIND    INSTALLED\ntiny  Tiny  1.0.0    binary\n  The agent tiny\n"
    )
    assert run("install", "tiny", "--yes") == 0
    assert "Install Tiny 1.0.0\n" in run.out
    assert f"  Download  {site.address}/tiny-1.0.0.tar.gz\n" in run.out
    assert "  ! The registry states no checksum" in run.out
    assert "tiny 1.0.0 is installed. Start it with `acp-tui tiny`.\n" in run.out
    assert "(the registry states none)\nIt answers as tiny 1.\n" in run.out
    assert run() == 0
    assert "tiny          Tiny            installed 1.0.0  from the registry\n" in run.out
    assert run("tiny") == 0
    assert f"Version  1.0.0, binary: {site.address}/tiny-1.0.0.tar.gz" in run.out
    assert f"Source   installed from {site.registry}\n" in run.out
    assert run("search", "--json") == 0
    assert json.loads(run.out)["agents"][0]["installed"] == "1.0.0"
    assert run("remove", "tiny", "--yes") == 0
    assert run.out == "tiny 1.0.0 was removed.\n"
    assert run("tiny") == 2
    assert run("remove", "tiny", "--yes") == 1
    assert "tiny was not installed by acp-tui" in run.err


def test_an_installed_agent_is_used_like_any_other(
    site: Site, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("update")
    run("install", "tiny", "--yes")
    assert main(["doctor", "tiny", "--json"]) == 0


def test_without_a_terminal_and_yes_nothing_is_installed(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("update")
    with open("/dev/null", encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert run("install", "tiny") == 2
    assert "Nothing installed: no terminal" in run.err
    assert "Install Tiny 1.0.0\n" in run.out
    assert installed_agents() == {}
    assert site.requests == ["/registry.json"]


def test_a_failed_update_keeps_the_list_and_says_of_when_it_is(site: Site, run: Run) -> None:
    run("update")
    site.files.clear()
    assert run("update") == 1
    assert "answered with status 404. The list of " in run.err
    assert run.err.count("\n") == 1
    assert run("search") == 0


def test_an_update_names_new_agents_newer_versions_and_broken_entries(site: Site, run: Run) -> None:
    run("update")
    run("install", "tiny", "--yes")
    newer = binary_entry(site, "1.1.0")
    site.list_agents(newer, entry("fresh", npx={"package": "fresh@1.0.0"}), {"id": "\x1b[2J"})
    assert run("update") == 0
    assert "New  fresh\n" in run.out
    assert "Newer  Tiny 1.0.0 → 1.1.0\n" in run.out
    assert "Entry 3 (␛[2J) is left out" in run.err


def test_upgrade_keeps_what_works_and_goes_on(site: Site, run: Run) -> None:
    other = {**binary_entry(site), "id": "other", "name": "Other"}
    site.list_agents(binary_entry(site), other)
    run("update")
    run("install", "tiny", "--yes")
    run("install", "other", "--yes")
    assert run("upgrade") == 0
    assert run.out == "other 1.0.0 is up to date.\ntiny 1.0.0 is up to date.\n"
    broken = {**binary_entry(site, "2.0.0", BROKEN_AGENT), "id": "other"}
    site.list_agents(broken, binary_entry(site, "3.0.0"))
    run("update")
    assert run("upgrade", "--yes") == 1
    assert "Version 1.0.0 stays installed." in run.err
    assert "Upgrade Tiny 1.0.0 → 3.0.0\n" in run.out
    assert {agent.id: agent.version for agent in installed_agents().values()} == {
        "other": "1.0.0",
        "tiny": "3.0.0",
    }


def test_on_a_terminal_it_asks(site: Site, run: Run, tmp_path: Path) -> None:
    run("update")
    with Terminal("agents", "install", "tiny", cwd=tmp_path) as terminal:
        terminal.wait_for("Install it? [y/N]")
        terminal.type("n\r")
        assert terminal.process.wait() == 1
    assert installed_agents() == {}
    with Terminal("agents", "install", "tiny", cwd=tmp_path) as terminal:
        terminal.wait_for("Install it? [y/N]")
        terminal.type("y\r")
        terminal.wait_for("It answers as tiny 1.")
        assert terminal.process.wait() == 0
    assert list(installed_agents()) == ["tiny"]


def test_a_mistyped_action_is_not_the_name_of_an_agent(
    site: Site, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run("instal", "tiny")
    assert "did you mean 'install'?" in capsys.readouterr().err


def test_a_wrong_address_in_the_settings_is_mentioned(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TUI_REGISTRY_URL", "ftp://example.com/agents.json")
    assert run("search") == 1
    assert "1 problem in the settings; run `acp-tui config check`." in run.err
    assert main(["config", "check"]) == 1
