"""Launch commands of known agents, of the user's agents and of `--command`."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Protocol

import pytest

from acp_tui.config import agent_catalogue
from acp_tui.config.agent_catalogue import PACKAGE_RUNNERS, launch_from_command
from acp_tui.config.settings import Settings, load
from acp_tui.errors import UserError

MCP_PAGE = Path(__file__).parents[2] / "docs" / "mcp.md"
NAMES = [
    "demo",
    "local",
    "claude-code",
    "gemini",
    "codex",
    "opencode",
    "qwen-code",
    "kimi",
    "mistral-vibe",
    "goose",
    "copilot",
    "cursor",
    "cline",
    "openhands",
    "fast-agent",
    "auggie",
    "pi",
    "kilo",
    "hermes",
    "crow-cli",
]


class Install(Protocol):
    """A function that puts programs on the PATH and returns their directory."""

    def __call__(self, *names: str) -> Path: ...


class Configure(Protocol):
    """A function that writes `config.toml` and returns the settings."""

    def __call__(self, text: str = "") -> Settings: ...


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Replace the PATH with an empty directory, for the programs that a test installs."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))

    def put(*names: str) -> Path:
        for name in names:
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)
        return directory

    return put


@pytest.fixture
def configure(home: Path, tmp_path: Path) -> Configure:
    """Write `config.toml` and read the settings, without variables."""

    def read(text: str = "") -> Settings:
        (home / "config").mkdir(parents=True, exist_ok=True)
        (home / "config" / "config.toml").write_text(text)
        return load(tmp_path, environ={})

    return read


def test_an_installed_program_is_preferred(install: Install, configure: Configure) -> None:
    programs = install("gemini", "npx")
    launch = agent_catalogue.resolve_launch("gemini", configure())
    assert launch.command == [f"{programs}/gemini", "--acp"]
    assert (launch.name, launch.title) == ("gemini", "Gemini CLI")
    assert launch.install_hint == "npm install -g @google/gemini-cli"


def test_a_pinned_package_is_run_if_the_program_is_missing(install: Install, configure: Configure) -> None:
    programs = install("npx", "uvx")
    command = agent_catalogue.resolve_launch("gemini", configure()).command
    assert command[:2] == [f"{programs}/npx", "-y"]
    assert re.fullmatch(r"@google/gemini-cli@\d+\.\d+\.\d+", command[2])
    assert agent_catalogue.resolve_launch("fast-agent", configure()).command[0] == f"{programs}/uvx"


def test_a_missing_program_is_reported_with_every_way_to_install_it(
    install: Install, configure: Configure
) -> None:
    install()
    with pytest.raises(UserError) as caught:
        agent_catalogue.resolve_launch("gemini", configure())
    assert str(caught.value) == (
        "Gemini CLI cannot be started: gemini was not found; install it with "
        "`npm install -g @google/gemini-cli`, or install npx (which downloads it)"
    )
    with pytest.raises(UserError, match=r"goose was not found; install it with `curl [^`]*`$"):
        agent_catalogue.resolve_launch("goose", configure())
    with pytest.raises(UserError, match="cursor-agent or agent was not found"):
        agent_catalogue.resolve_launch("cursor", configure())


def test_two_agents_expect_missing_files_to_be_empty(install: Install, configure: Configure) -> None:
    install("gemini", "kimi", "codex-acp")
    assert agent_catalogue.resolve_launch("gemini", configure()).missing_file_is_empty
    assert agent_catalogue.resolve_launch("kimi", configure()).missing_file_is_empty
    assert not agent_catalogue.resolve_launch("codex", configure()).missing_file_is_empty


def test_the_option_of_openhands_that_allows_once_is_named(install: Install, configure: Configure) -> None:
    install("openhands", "codex-acp")
    settings = configure('[agents.codex]\nonce_option = "mine"\n')
    assert agent_catalogue.resolve_launch("openhands", settings).once_option == "accept"
    assert agent_catalogue.resolve_launch("codex", settings).once_option == "mine"


def test_only_qwen_code_has_questions_of_its_own(install: Install, configure: Configure) -> None:
    install("qwen", "codex-acp")
    assert agent_catalogue.resolve_launch("qwen-code", configure()).has_qwen_questions
    assert not agent_catalogue.resolve_launch("codex", configure()).has_qwen_questions


def test_an_unknown_agent_suggests_the_nearest_name(configure: Configure) -> None:
    with pytest.raises(UserError, match='Unknown agent "gemni"; did you mean gemini') as caught:
        agent_catalogue.resolve_launch("gemni", configure())
    assert caught.value.exit_code == 2
    with pytest.raises(UserError, match=r'Unknown agent "zzz"\. `acp-tui agents` lists'):
        agent_catalogue.resolve_launch("zzz", configure())


def test_a_folder_file_or_url_in_place_of_an_agent_is_called_what_it_is(
    tmp_path: Path, configure: Configure
) -> None:
    settings = configure()
    program = tmp_path / "agent.py"
    program.touch()
    with pytest.raises(UserError, match=r"is a folder, not the name of an agent.*--cwd") as caught:
        agent_catalogue.resolve_launch(str(tmp_path), settings)
    assert caught.value.exit_code == 2
    with pytest.raises(UserError, match=r"is a file, not the name of an agent.*--command"):
        agent_catalogue.resolve_launch(str(program), settings)
    with pytest.raises(UserError, match="is a URL, but the address of a remote agent"):
        agent_catalogue.resolve_launch("ftp://example.com/agent", settings)
    with pytest.raises(UserError, match="Unknown agent"):
        agent_catalogue.resolve_launch("x" * 5000, settings)


def test_a_program_is_looked_up_on_the_path_of_its_agent(install: Install, configure: Configure) -> None:
    programs = install("mine")
    programs = programs.rename(programs.with_name("elsewhere"))
    settings = configure(f'[agents.own]\ncommand = "mine"\nenv = {{PATH = "{programs}"}}\n')
    assert agent_catalogue.resolve_launch("own", settings).command == [f"{programs}/mine"]


def test_a_launch_has_the_environment_of_its_agent(install: Install, configure: Configure) -> None:
    install("auggie")
    assert agent_catalogue.resolve_launch("auggie", configure()).env == {"AUGMENT_DISABLE_AUTO_UPDATE": "1"}


# --------------------------------------------------------------------------- known agents


def test_all_known_agents_are_listed_in_order(configure: Configure) -> None:
    assert list(agent_catalogue.known_agents(configure())) == NAMES


@pytest.mark.parametrize("name", NAMES[2:])
def test_a_known_agent_has_all_fields_and_pinned_packages(name: str, configure: Configure) -> None:
    agent = agent_catalogue.known_agents(configure())[name]
    assert agent.title
    assert agent.about
    assert agent.install
    assert agent.homepage
    assert agent.key_variables or agent.sign_in
    assert agent.missing_file in {"error", "empty"}
    assert agent.commands[0][0] not in PACKAGE_RUNNERS
    for program, *arguments in agent.commands:
        if program == "npx":
            assert arguments[0] == "-y"
            assert re.fullmatch(r"(@[\w-]+/)?[\w-]+@\d+\.\d+\.\d+", arguments[1])
        elif program == "uvx":
            package = arguments[arguments.index("--from") + 1]
            assert re.fullmatch(r"[\w-]+(\[\w+\])?==\d+\.\d+\.\d+", package)


def test_the_page_about_mcp_names_the_versions_of_the_catalogue() -> None:
    seen = re.findall(
        r"^\|.*\| ([\w-]+ \d+\.\d+\.\d+) \|$", MCP_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    tested = {agent.tested_version for agent in agent_catalogue.known_agents(Settings()).values()}
    assert len(seen) > 8
    assert set(seen) <= tested


# --------------------------------------------------------------------------- agents of the user


def test_a_user_agent_is_resolved(install: Install, configure: Configure) -> None:
    programs = install("mine")
    settings = configure('[agents.own]\ncommand = "mine --acp"\nenv = {K = "v"}\nmissing_file = "empty"\n')
    launch = agent_catalogue.resolve_launch("own", settings)
    assert launch.command == [f"{programs}/mine", "--acp"]
    assert (launch.title, launch.env, launch.missing_file_is_empty) == ("own", {"K": "v"}, True)


def test_a_missing_user_agent_is_reported_with_its_install_command(
    install: Install, configure: Configure
) -> None:
    install()
    settings = configure(
        '[agents.own]\ncommand = "mine"\ninstall = "make mine"\n[agents.bare]\ncommand = "b"\n'
    )
    with pytest.raises(
        UserError, match=r"own cannot be started: mine was not found; install it with `make mine`$"
    ):
        agent_catalogue.resolve_launch("own", settings)
    with pytest.raises(UserError, match=r"bare cannot be started: b was not found$"):
        agent_catalogue.resolve_launch("bare", settings)


def test_a_file_that_is_not_executable_is_reported(tmp_path: Path, configure: Configure) -> None:
    (tmp_path / "mine").touch()
    settings = configure(f'[agents.own]\ncommand = "{tmp_path}/mine"\n')
    with pytest.raises(UserError, match=r"own cannot be started: .*/mine is not executable$"):
        agent_catalogue.resolve_launch("own", settings)


def test_a_user_agent_can_change_fields_of_a_known_agent(install: Install, configure: Configure) -> None:
    programs = install("gemini")
    launch = agent_catalogue.resolve_launch(
        "gemini", configure('[agents.gemini]\nenv = {GEMINI_API_KEY = "k"}\n')
    )
    assert launch.command == [f"{programs}/gemini", "--acp"]
    assert (launch.title, launch.env) == ("Gemini CLI", {"GEMINI_API_KEY": "k"})
    assert launch.missing_file_is_empty


def test_a_user_agent_with_a_command_replaces_a_known_agent(install: Install, configure: Configure) -> None:
    programs = install("claude-agent-acp", "my-claude")
    settings = configure('[agents.claude-code]\ncommand = "my-claude"\n')
    launch = agent_catalogue.resolve_launch("claude-code", settings)
    assert (launch.command, launch.install_hint) == ([f"{programs}/my-claude"], None)
    assert agent_catalogue.known_agents(settings)["claude-code"].tested_version is None


def test_an_agent_without_a_command_is_reported(configure: Configure) -> None:
    settings = configure('[agents.ours]\ntitle = "Ours"\n')
    [problem] = agent_catalogue.settings_problems(settings)
    assert (problem.line, problem.key) == (1, "agents.ours")
    with pytest.raises(
        UserError, match=r'The agent "ours" cannot be used: .*config\.toml:1: .*`command` or `url` is missing'
    ):
        agent_catalogue.resolve_launch("ours", settings)


def test_launching_an_agent_with_a_broken_file_reports_the_error(configure: Configure, home: Path) -> None:
    (home / "config" / "agents").mkdir(parents=True)
    (home / "config" / "agents" / "broken.toml").write_text("command =")
    with pytest.raises(UserError, match=r'"broken" cannot be used: .*broken\.toml:1: not valid TOML'):
        agent_catalogue.resolve_launch("broken", configure())


def test_an_unknown_default_agent_is_reported(configure: Configure) -> None:
    [problem] = agent_catalogue.settings_problems(configure('\nagent = "gemni"\n'))
    assert (problem.line, problem.key) == (2, "agent")
    assert "did you mean gemini" in problem.sentence


# --------------------------------------------------------------------------- --command


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("python3 -u /opt/my_agent.py --acp", "my_agent.py"),
        ("/usr/bin/python3.12 -m my.agent acp", "my.agent"),
        ("node dist/index.js", "index.js"),
        ("npx -y @scope/agent-acp@1.2.3 --stdio", "agent-acp"),
        ("uv run agent.py", "agent.py"),
        ("uvx agent@latest", "agent"),
        ("deno run -A agent.ts", "agent.ts"),
        ("bash -c 'exec agent'", "bash"),
        ("python3", "python3"),
        ("pythonista --acp agent", "pythonista"),
    ],
)
def test_an_ad_hoc_agent_is_not_named_after_its_runner(line: str, name: str) -> None:
    launch = launch_from_command(line)
    assert (launch.name, launch.title) == (name, name)


def test_a_command_line_is_split_as_in_a_shell() -> None:
    launch = launch_from_command("/opt/bin/agent --mode 'two words' \"\"")
    assert launch.command == ["/opt/bin/agent", "--mode", "two words", ""]
    assert (launch.name, launch.title) == ("agent", "agent")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("  ", "--command is empty: give it a program and its arguments"),
        ("''", "--command is empty: give it a program and its arguments"),
        ("it's", "--command cannot be split into words: no closing quotation"),
    ],
)
def test_an_invalid_command_line_is_a_usage_error(line: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        launch_from_command(line)
    assert (str(caught.value), caught.value.exit_code) == (sentence, 2)


# --------------------------------------------------------------------------- the demo


def test_modules_of_the_project_cannot_shadow_those_of_the_demo(tmp_path: Path, configure: Configure) -> None:
    for name in ("acp", "acp_tui", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'shadowed')!r}, 'w')")
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}},
    }
    with subprocess.Popen(
        agent_catalogue.resolve_launch("demo", configure()).command,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdin is not None
        assert demo.stdout is not None
        demo.stdin.write(json.dumps(request) + "\n")
        demo.stdin.flush()
        answer = json.loads(demo.stdout.readline())
        demo.stdin.close()
    assert answer["result"]["protocolVersion"] == 1
    assert not (tmp_path / "shadowed").exists()
