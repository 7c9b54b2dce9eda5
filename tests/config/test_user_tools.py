"""The user's own tools for agents, and the settings of acp-tui's own MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.settings import load
from acp_tui.config.user_tools import RESERVED_NAMES
from acp_tui.mcp.own_server import BUILT_IN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def test_a_tool_is_read_with_its_schema(write_config: WriteConfig, project: Path) -> None:
    config = write_config(
        """
[tools.lint]
description = "Lint the project"
command = "./lint --strict"
timeout = 5
[tools.lint.schema.properties.path]
type = "string"
"""
    )
    settings = load(project, environ={})
    assert settings.problems == []
    tool = settings.tools["lint"]
    assert tool.command == [str(config.parent / "lint"), "--strict"]
    assert tool.schema == {"type": "object", "properties": {"path": {"type": "string"}}}
    assert (tool.description, tool.timeout, tool.line) == ("Lint the project", 5.0, 2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tools = 3", ":1: tools: expected tables, [tools.NAME], got 3"),
        ("tools.x = 3", ":1: tools.x: expected a table, [tools.x], got 3"),
        (
            "[tools.x]",
            ":1: tools.x: no command and no description",
        ),
        (
            '[tools.x]\ncommand = "y"\ndescription = "z"\nschema = { type = "array" }',
            ':4: tools.x.schema: expected type = "object": the arguments of a tool are an object',
        ),
        (
            '[tools.x]\ncommand = "y"\ndescription = "z"\nschema = { default = 2026-01-01 }',
            ":4: tools.x.schema: contains a date or a time, which JSON does not have",
        ),
        (
            '[tools.notify]\ncommand = "y"',
            ":1: tools.notify: acp-tui has its own tool with this name; choose another name",
        ),
        (
            '[tools."a b"]\ncommand = "y"',
            ":1: tools.a b: 'a b' is not a valid tool name; use up to 64 letters, digits, _ and -",
        ),
    ],
)
def test_a_faulty_tool_is_left_out_and_reported(
    text: str, problem: str, write_config: WriteConfig, project: Path
) -> None:
    config = write_config(text)
    settings = load(project, environ={})
    assert settings.tools == {}
    (found,) = settings.problems
    assert str(found).removesuffix("; agents do not get the tool") == f"{config}{problem}"


def test_a_project_cannot_define_tools(project: Path) -> None:
    (project / ".acp-tui.toml").write_text('[tools.x]\ncommand = "y"\ndescription = "z"\n')
    settings = load(project, environ={})
    assert settings.tools == {}
    assert "a project may only set" in str(settings.problems[0])


def test_the_names_of_the_built_in_tools_are_reserved() -> None:
    assert {tool["name"] for tool in BUILT_IN} == RESERVED_NAMES


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", False),
        ("[own_server]\nenabled = true", True),
        ('[own_server]\nenabled = true\nagents = ["pi", "goose"]', True),
        ('[own_server]\nenabled = true\nagents = ["goose"]', False),
        ('[own_server]\nagents = ["pi"]', False),
    ],
)
def test_the_own_server_is_given_to_the_agents_of_the_settings(
    text: str, given: bool, write_config: WriteConfig, project: Path
) -> None:
    write_config(text)
    assert load(project, environ={}).own_server.is_for("pi") is given
