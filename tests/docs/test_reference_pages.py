"""The reference pages describe every setting, key, option and exit code, and no others."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_tui.cli import options
from acp_tui.cli.commands import exec as exec_command
from acp_tui.cli.commands import local as local_command
from acp_tui.cli.commands import run as run_command
from acp_tui.config import agent_catalogue, local_profiles, user_agents
from acp_tui.config.mcp_sources import OWN_KEYS as SERVER_KEYS
from acp_tui.config.settings import VALIDATORS, Settings
from acp_tui.config.validators import POLICIES
from acp_tui.doctor.suite.bench import read_prompts
from acp_tui.doctor.suite.check_table import CHECKS
from acp_tui.ui.keys import TABLE
from tests.docs.key_page import quoted_keys, render_page

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
ROW = re.compile(r"^\| (`[^|]*?`|\d+) \|", re.MULTILINE)


def page(name: str) -> str:
    """Return the text of a page."""
    return (PROJECT / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """Return the text below a heading, up to the next heading."""
    _, _, rest = text.partition(f"## {title}\n")
    assert rest, f"no section {title}"
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_column(text: str) -> list[str]:
    """Return the first cell of each table row, without backticks."""
    return [cell.strip("`") for cell in ROW.findall(text)]


def option_names(configure: Callable[[argparse.ArgumentParser], None]) -> set[str]:
    """Return the long options of a command."""
    parser = argparse.ArgumentParser()
    configure(parser)
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")}


def test_every_setting_is_described_once() -> None:
    assert sorted(first_column(section(page("docs/settings.md"), "Keys and defaults"))) == sorted(VALIDATORS)


def test_the_defaults_of_the_settings_are_right() -> None:
    text = section(page("docs/settings.md"), "Keys and defaults")
    stated = dict(re.findall(r"^\| `([\w.]+)` \| `(.+?)` \|", text, re.MULTILINE))
    settings = Settings()
    for key, written in stated.items():
        value = settings.value(key)
        expected = f'"{value}"' if isinstance(value, str) else str(value).lower().replace(".0", "")
        assert written.replace("_", "") == expected.replace("_", ""), key


def test_every_key_of_an_mcp_server_is_described() -> None:
    assert sorted(first_column(section(page("docs/mcp.md"), "Defining a server"))) == sorted(SERVER_KEYS)


def test_every_key_of_an_agent_is_described() -> None:
    assert sorted(first_column(section(page("docs/settings.md"), "Agents"))) == sorted(user_agents.VALIDATORS)


def test_every_key_of_a_local_model_is_described() -> None:
    described = first_column(section(page("docs/local.md"), "Settings"))
    assert sorted(described) == sorted(local_profiles.VALIDATORS)


def test_every_option_of_local_is_described() -> None:
    described = re.findall(r"^\| `(--[a-z-]+)", page("docs/local.md"), re.MULTILINE)
    assert set(described) == option_names(local_command.configure) - option_names(run_command.configure)


def test_the_page_of_keys_equals_the_table() -> None:
    assert page("docs/keys.md") == render_page(page("docs/keys.md"))


def test_the_keys_of_the_review_are_right() -> None:
    table = {name for key in TABLE if key.scope == "review" for name in quoted_keys(key).split()}
    rows = re.findall(r"^\| (`.*?) \|", section(page("docs/review.md"), "Keys"), re.MULTILINE)
    assert {name for row in rows for name in row.split()} <= table


def test_every_option_of_exec_is_described() -> None:
    actual = option_names(exec_command.configure)

    described = set(re.findall(r"`(--[a-z-]+)", section(page("docs/exec.md"), "Options")))

    assert described == actual


def test_every_exit_code_of_exec_is_described() -> None:
    actual = {options.OK, options.FAILED, options.USAGE, options.OTHER_STOP, options.CANCELLED}
    assert {int(code) for code in first_column(section(page("docs/exec.md"), "Exit codes"))} == actual


def test_every_known_agent_is_listed() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \|", page("docs/agents.md"), re.MULTILINE)
    assert sorted(listed) == sorted(agent_catalogue.known_agents(Settings()))


def test_the_tested_versions_of_agents_are_right() -> None:
    text = page("docs/agents.md")
    for agent in agent_catalogue.known_agents(Settings()).values():
        assert f"| {agent.tested_version or ''}".rstrip() in re.sub(" +", " ", text), agent.name


def test_the_readme_has_a_column_for_each_policy() -> None:
    header = next(line for line in page("README.md").splitlines() if line.startswith("| request |"))
    assert re.findall(r"`([\w-]+)`", header) == list(POLICIES)


def test_the_readme_has_at_most_250_lines() -> None:
    assert len(page("README.md").splitlines()) <= 250


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_to_a_file_works(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, target


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_in_the_contributor_pages_exists(name: str) -> None:
    known = [f"/{path.relative_to(PROJECT).as_posix()}" for path in (PROJECT / "acp_tui").rglob("*")]
    names = re.findall(r"`(\w[\w./]*(?:/|\.(?:py|toml)))`", page(name))
    assert names
    assert [
        each
        for each in names
        if not (PROJECT / each).exists() and not any(path.endswith(f"/{each.rstrip('/')}") for path in known)
    ] == []


def test_the_groups_and_purposes_of_the_conformance_suite_are_described() -> None:
    text = page("docs/doctor.md")
    assert first_column(section(text, "Groups")) == list(dict.fromkeys(check.group for check in CHECKS))
    named = {purpose for cell in first_column(section(text, "Prompts")) for purpose in cell.split("`, `")}
    prompts = read_prompts(PROJECT / "acp_tui" / "doctor" / "suite" / "prompts.toml")
    assert named == set(prompts)
    assert set(read_prompts(PROJECT / "acp_tui" / "doctor" / "suite" / "demo_prompts.toml")) == set(prompts)
