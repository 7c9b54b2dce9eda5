"""No command writes control characters, wherever its text comes from."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui import cli
from tests.fake_agents.hostile import EVIL
from tests.support.cli import agent, on_a_terminal, run
from tests.support.hostile_world import MARKER, NAME, TEXT, World, assert_no_control, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION = "20260101-evil"
HOSTILE_AGENT = agent("hostile")
LINE = "\n\nFORGED"
PROGRESS = re.compile(rb"\r(acp-tui: [^\r\n\x1b]*)?\x1b\[K")
"""The line that says what the conformance suite is doing, on a terminal."""
SUITE = ("--suite", "--check", "handshake", "--check", "sessions", "--timeout", "5")
PRINT_A_PATH = {"config path", "sessions path"}
PRINT_AN_ANSWER = {"exec", "doctor", "export"}
Case = tuple[str, ...]
"""Arguments after the command; `MCP` and `LOG` stand for files, see `_argument`."""
CASES: dict[str, list[Case]] = {
    "run": [(), (NAME,), ("--cwd", NAME), ("--theme", NAME)],
    "exec": [
        (NAME, "hello"),
        ("evil", "hello"),
        ("--command", NAME, "hello"),
        ("--command", HOSTILE_AGENT, "show-all", "--mcp-config", "MCP"),
        ("--command", HOSTILE_AGENT, "show-all", "--output", "json"),
        ("--command", HOSTILE_AGENT, "show-all", "--output", "ndjson"),
        ("--command", HOSTILE_AGENT, "show-permission"),
        ("--command", HOSTILE_AGENT, "show-error"),
        ("--command", HOSTILE_AGENT, "show-stop"),
        ("--command", HOSTILE_AGENT, "show-death"),
        ("--command", shlex.join([sys.executable, "-m", "tests.fake_agents.hostile", "signed-out"]), "hello"),
        ("--command", HOSTILE_AGENT, "hello", "--mode", NAME),
        ("--command", HOSTILE_AGENT, "hello", "--set", f"{NAME}={NAME}"),
        ("--command", HOSTILE_AGENT, "hello", "--sign-in", NAME),
        ("--command", HOSTILE_AGENT, "hello", "--allow", NAME),
        ("--command", HOSTILE_AGENT, "hello", "--cwd", NAME),
        ("--command", HOSTILE_AGENT, "hello", "--add-dir", NAME),
        ("--command", HOSTILE_AGENT, "hello", "--mcp-config", NAME),
        ("--resume", NAME, "hello"),
    ],
    "local": [
        (NAME,),
        ("--profile", NAME, "--acp"),
        ("--base-url", NAME, "--acp"),
        ("--base-url", "http://127.0.0.1:9/v1", "--api-key-env", NAME, "--acp"),
        ("--model", NAME, "--acp"),
    ],
    "compare": [
        (NAME, NAME, "hello"),
        ("--command", NAME, "--command", NAME, "hello", "--output", "json"),
        ("--command", HOSTILE_AGENT, "--command", HOSTILE_AGENT, NAME, "--check", NAME, "--output", "json"),
    ],
    "wire": [
        (SESSION, "--text"),
        (SESSION, "--text", "--filter", f"method:{NAME}"),
        ("LOG", "--text"),
        (NAME,),
    ],
    "tap": [
        (NAME,),
        ("--print-config", "zed", "--", NAME),
        ("--log", NAME, "--", NAME),
        ("--max-size", NAME, "demo"),
    ],
    "serve": [
        (NAME,),
        ("demo", "--token-file", NAME),
        ("demo", "--listen", NAME),
        ("demo", "--folder", NAME),
    ],
    "doctor": [
        (NAME,),
        ("--command", NAME),
        ("--command", HOSTILE_AGENT, "--prompt", "show-all"),
        ("--command", HOSTILE_AGENT, "--prompt", "show-all", "--json"),
        ("--command", HOSTILE_AGENT, *SUITE),
        ("--command", HOSTILE_AGENT, *SUITE, "--markdown"),
        ("--command", HOSTILE_AGENT, "--suite", "--check", NAME),
        ("--command", HOSTILE_AGENT, "--suite", "--prompts", NAME),
    ],
    "agents": [()],
    "agents list": [()],
    "agents update": [()],
    "agents search": [(), (NAME,), ("pwn", "--json")],
    "agents install": [(NAME, "--yes"), ("pwn",), ("pwn", "--version", NAME, "--yes")],
    "agents upgrade": [(NAME,)],
    "agents remove": [(NAME, "--yes")],
    "agents show": [("evil",), ("worse",), (NAME,)],
    "login": [("--command", HOSTILE_AGENT), ("--command", HOSTILE_AGENT, "--method", NAME), (NAME,)],
    "logout": [("--command", HOSTILE_AGENT), (NAME,)],
    "sessions": [()],
    "sessions list": [()],
    "sessions show": [(SESSION,), (SESSION, "--thoughts"), (NAME,)],
    "sessions path": [(SESSION,), (NAME,)],
    "sessions search": [(TEXT,), (NAME, "--json")],
    "sessions prune": [("--keep", "0"), ("--keep", NAME), ("--max-size", NAME)],
    "permissions": [()],
    "permissions list": [()],
    "permissions revoke": [(NAME,), ("1",)],
    "permissions edit": [
        (NAME,),
        ("1",),
        ("1", "--agent", NAME),
        ("1", "--project", NAME),
        ("1", "--scope", "everywhere"),
    ],
    "permissions undo": [()],
    "permissions explain": [
        ("execute", NAME),
        ("execute", TEXT),
        ("edit", NAME),
        ("mcp", f"{NAME}/{NAME}"),
        ("execute", "ls", "--agent", NAME, "--allow", f"execute:{NAME}"),
        ("execute", "ls", "--cwd", NAME),
        (NAME,),
    ],
    "trust": [()],
    "trust list": [()],
    "trust forget": [(), (NAME,)],
    "mcp": [("--agent", NAME)],
    "mcp list": [("--mcp-config", "MCP"), ("--mcp-config", "MCP", "--json")],
    "mcp add": [(NAME, "--yes", "--", NAME), ("x", "--yes", "--header", f"{NAME}: {NAME}", "--url", NAME)],
    "mcp import": [("--from", "MCP"), ("--from", "MCP", "--all", "--yes")],
    "mcp remove": [(NAME,)],
    "mcp enable": [(NAME,)],
    "mcp disable": [(TEXT, "--agent", NAME)],
    "mcp serve": [("--socket", NAME, "--session", NAME)],
    "mcp test": [(TEXT, "--mcp-config", "MCP")],
    "mcp call": [(TEXT, NAME, "--mcp-config", "MCP")],
    "mcp prompts": [(NAME,)],
    "mcp resources": [(NAME,)],
    "mcp log": [(NAME,)],
    "mcp sign-in": [(NAME,)],
    "mcp sign-out": [(NAME,)],
    "mcp bridge": [(NAME, "--socket", NAME, "--session", NAME)],
    "export": [(SESSION,), (SESSION, "--html"), (SESSION, "--json"), ("LOG", "--theme", NAME), (NAME,)],
    "config": [()],
    "config show": [()],
    "config path": [()],
    "config keys": [()],
    "config check": [()],
    "replay": [("LOG", "--text"), (SESSION, "--text", "--thoughts"), (NAME,), (SESSION, "--speed", NAME)],
}


def command_names() -> Iterator[str]:
    """Yield every command and every action of a command from the parsers."""
    for name in cli.COMMANDS:
        parser = _choices(cli._parser([name]))[name]
        yield name
        yield from (f"{name} {action}" for action in _choices(parser))


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: subparser for action in found for name, subparser in action.choices.items()}


@pytest.fixture(scope="module")
def world_of_lines(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    name = f"{MARKER}{LINE}\x1b[31m\x9b6666m\u202e"
    return with_agents(make_world(folder, name=name, text=f"{MARKER}{LINE}{EVIL}"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return with_agents(make_world(tmp_path_factory.mktemp("world")))


def with_agents(world: World) -> World:
    """Read the list of agents of a world."""
    assert run("agents", "update", cwd=world.project, **world.environment).code == 0
    return world


def test_every_command_has_a_case() -> None:
    assert set(CASES) == set(command_names())


@pytest.mark.parametrize("command", CASES)
def test_no_command_writes_control_characters_to_a_terminal(command: str, world: World) -> None:
    output = b""
    too_many = [(*([""] * 4), NAME)] if command in cli.COMMANDS else []
    for case in [*CASES[command], (f"--{NAME}",), *too_many]:
        words = [*command.split(), *(_argument(word, world) for word in case)]
        _, chunk = on_a_terminal(*words, cwd=world.project, stderr=True, **world.environment)
        assert b"Traceback" not in chunk
        assert_no_control(PROGRESS.sub(b"", chunk))
        output += chunk
    assert MARKER.encode() in output  # the hostile text was printed


@pytest.mark.parametrize("command", sorted(set(CASES) - {"run"}))
def test_names_in_a_pipe_contain_neither_newlines_nor_control_characters(
    command: str, world_of_lines: World
) -> None:
    world = world_of_lines
    for case in (case for case in CASES[command] if "--html" not in case):  # in HTML, newlines are spaces
        words = [_argument(word, world).replace(NAME, world.name).replace(TEXT, world.text) for word in case]
        output = written([*command.split(), *words], world)
        assert command in PRINT_A_PATH or LINE.encode() not in output
        if command not in PRINT_AN_ANSWER or "--output" in case:  # JSON escapes control characters
            assert_no_control(output)


def _argument(word: str, world: World) -> str:
    return {"MCP": str(world.mcp_file), "LOG": str(world.foreign_log)}.get(word, word)


def written(words: list[str], world: World) -> bytes:
    """Run the command and return what it writes to stdout and stderr, which are files."""
    done = run(*words, cwd=world.project, **world.environment)
    return (done.out + done.err).encode()
