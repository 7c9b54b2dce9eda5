"""Settings: layers, origins, validation, and problems that are reported without stopping the start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.config import early_settings
from acp_tui.config.settings import VALIDATORS, Settings, config_file, find_origin, load, variable_name
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def problems_of(settings: Settings) -> list[tuple[int | None, str, str]]:
    """Return line, key and sentence of each problem."""
    return [(problem.line, problem.key, problem.sentence) for problem in settings.problems]


def test_without_settings_files_the_defaults_apply(project: Path) -> None:
    settings = load(project, environ={})
    assert settings == Settings()
    assert str(settings.origin("policy")) == "built in"
    assert not config_file().exists()


def test_every_key_of_the_file_is_read_with_its_line(write_config: WriteConfig, project: Path) -> None:
    (project / "more").mkdir()
    file = write_config(
        f"""
agent = "gemini"
policy = "read-only"
theme = "nord"
theme_dark = "gruvbox"
theme_light = "mine"
panes = "plan"
notify = "bell"
notify_command = "notify-send --app-name acp-tui"
type_to_prompt = false
restore_tabs = true
context_warning = 90
terminal_progress = false
timeouts = {{ initialize = 5, session = 1.5 }}
log.enabled = false
log.keep_sessions = 3
log.keep_bytes = "1.5 GB"
log.max_session_bytes = "2 MB"

[workspace]
additional_directories = [
  "{project}/more",
]
sensitive = ["*.secret"]
max_baseline_file_size = 100
max_rewind_turns = 7
max_rewind_bytes = "3 MB"
keep_baseline_days = 8
keep_baseline_bytes = "4 MB"

[own_server]
enabled = true
agents = ["pi"]

[telemetry]
traceparent = "random"

[registry]
url = "https://example.com/agents.json"
"""
    )
    settings = load(project, environ={})
    assert settings.problems == []
    assert (settings.agent, settings.policy) == ("gemini", "read-only")
    assert (settings.theme, settings.panes, settings.context_warning) == ("nord", "plan", 90)
    assert (settings.terminal_progress, settings.restore_tabs) == ("off", True)
    assert (settings.theme_dark, settings.theme_light) == ("gruvbox", "mine")
    assert (settings.timeouts.initialize, settings.timeouts.session) == (5.0, 1.5)
    assert (settings.log.enabled, settings.log.keep_sessions, settings.log.keep_bytes) == (
        False,
        3,
        1_500_000_000,
    )
    assert settings.workspace.additional_directories == [project / "more"]
    assert (settings.workspace.sensitive, settings.workspace.max_baseline_file_size) == (["*.secret"], 100)
    assert (settings.workspace.max_rewind_turns, settings.workspace.max_rewind_bytes) == (7, 3_000_000)
    assert (settings.workspace.keep_baseline_days, settings.workspace.keep_baseline_bytes) == (8, 4_000_000)
    assert (settings.own_server.enabled, settings.own_server.agents) == (True, ["pi"])
    assert settings.telemetry.traceparent == "random"
    assert settings.registry.url == "https://example.com/agents.json"
    lines = [settings.origin(key).line for key in VALIDATORS]
    assert lines == [
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        14,
        15,
        16,
        17,
        18,
        21,
        24,
        25,
        26,
        27,
        28,
        29,
        32,
        33,
        36,
        39,
    ]
    assert str(settings.origin("policy")) == f"{file}:3"


def test_each_layer_overrides_the_one_before(write_config: WriteConfig, project: Path) -> None:
    write_config('agent = "from-config"\npolicy = "deny"\n')
    assert load(project, environ={}).agent == "from-config"
    (project / ".acp-tui.toml").write_text('agent = "from-project"\n')
    settings = load(project, environ={})
    assert (settings.agent, settings.origin("agent").layer) == ("from-project", "project")
    environ = {"ACP_TUI_AGENT": "from-environment"}
    settings = load(project, environ=environ)
    assert (settings.agent, str(settings.origin("agent"))) == (
        "from-environment",
        "environment ACP_TUI_AGENT",
    )
    settings = load(project, environ=environ, overrides={"agent": "from-command-line", "policy": None})
    assert (settings.agent, str(settings.origin("agent"))) == ("from-command-line", "command line")
    assert (settings.policy, settings.origin("policy").layer) == ("deny", "config")


@pytest.mark.parametrize(
    ("text", "line", "key", "sentence"),
    [
        ('\npolcy = "ask"', 2, "polcy", "unknown key; did you mean 'policy'?"),
        ("[timeouts]\nsesion = 3", 2, "timeouts.sesion", "unknown key; did you mean 'session'?"),
        (
            "[log]\nzzz = 3",
            2,
            "log.zzz",
            "unknown key; valid keys: enabled, keep_bytes, keep_sessions, max_session_bytes",
        ),
        ("[timeout]\nsession = 3", 1, "timeout", "unknown key; did you mean 'timeouts'?"),
        ("agent = 3", 1, "agent", "expected a string that is not empty, got 3"),
        ('agent = " "', 1, "agent", "expected a string that is not empty, got ' '"),
        (
            'policy = "yoloo"',
            1,
            "policy",
            "expected one of deny, read-only, ask, accept-edits, yolo, got 'yoloo'; did you mean 'yolo'?",
        ),
        ("timeouts = 3", 1, "timeouts", "expected a table, [timeouts], got 3"),
        ("timeouts.session = 0", 1, "timeouts.session", "expected a number of seconds above 0, got 0"),
        ("timeouts.session = inf", 1, "timeouts.session", "expected a number of seconds above 0, got inf"),
        (
            "timeouts.session = 1_000_000_000",
            1,
            "timeouts.session",
            "expected a number of seconds above 0, got 1000000000",
        ),
        ("timeouts.session = true", 1, "timeouts.session", "expected a number of seconds above 0, got True"),
        ('log.enabled = "no"', 1, "log.enabled", "expected true or false, got 'no'"),
        ("log.keep_sessions = -1", 1, "log.keep_sessions", "expected a whole number, 0 or above, got -1"),
        (
            'log.keep_bytes = "1 pound"',
            1,
            "log.keep_bytes",
            "expected a number of bytes or a size such as \"500 MB\", got '1 pound'",
        ),
        ('workspace.sensitive = "*.x"', 1, "workspace.sensitive", "expected a list of strings, got '*.x'"),
    ],
)
def test_an_invalid_key_or_value_is_reported_and_the_default_applies(
    write_config: WriteConfig, project: Path, text: str, line: int, key: str, sentence: str
) -> None:
    file = write_config(text)
    settings = load(project, environ={})
    assert problems_of(settings) == [(line, key, sentence)]
    assert str(settings.problems[0]) == f"{file}:{line}: {key}: {sentence}"
    settings.problems.clear()
    assert settings == Settings()


def test_an_invalid_value_does_not_affect_the_other_settings(
    write_config: WriteConfig, project: Path
) -> None:
    write_config('policy = 1\nagent = "demo"\n')
    assert load(project, environ={}).agent == "demo"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('agent = "demo"\npolicy = \n', 2, "not valid TOML: "),
        ('agent = "demo"\n[timeouts\n', 2, "not valid TOML: "),
        ('\n\nagent = """demo', 3, "not valid TOML: "),
        ("agent = 1\nagent = 2", 2, "not valid TOML: "),
        ("a = " + "9" * 5000, None, "not valid TOML: "),
        ("a = " + "[" * 5000 + "]" * 5000, None, "nested too deeply"),
    ],
)
def test_a_file_that_is_not_toml_is_reported_with_the_line_and_ignored(
    write_config: WriteConfig, project: Path, text: str, line: int | None, reason: str
) -> None:
    write_config(text)
    settings = load(project, environ={})
    [(found_line, key, sentence)] = problems_of(settings)
    assert (found_line, key) == (line, "")
    assert sentence.startswith(reason)
    assert sentence.endswith("; the whole file is ignored")
    assert settings.agent is None


def test_a_file_that_is_not_utf8_is_reported_with_the_line_and_ignored(
    write_config: WriteConfig, project: Path
) -> None:
    write_config("").write_bytes(b'agent = "demo"\n# caf\xe9\n')
    settings = load(project, environ={})
    assert problems_of(settings) == [(2, "", "the file is not UTF-8 text; the whole file is ignored")]


def test_a_byte_order_mark_and_crlf_line_ends_are_accepted(write_config: WriteConfig, project: Path) -> None:
    write_config("").write_bytes(b'\xef\xbb\xbf# hello\r\nagent = "demo"\r\npolcy = 1\r\n')
    settings = load(project, environ={})
    assert settings.agent == "demo"
    assert settings.problems[0].line == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_reported(write_config: WriteConfig, project: Path) -> None:
    write_config('agent = "demo"').chmod(0)
    assert "cannot be read: Permission denied" in load(project, environ={}).problems[0].sentence


def test_a_fifo_in_place_of_the_project_file_does_not_block(project: Path) -> None:
    os.mkfifo(project / ".acp-tui.toml")
    assert load(project, environ={}) == Settings()


# --------------------------------------------------------------------------- the project's file


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("policy", 'policy = "yolo"'),
        ("mcp_servers", '[mcp_servers.evil]\ncommand = "sh"'),
        ("agents", '[agents.demo]\ncommand = "sh"'),
        ("workspace", '[workspace]\nadditional_directories = ["/"]'),
        ("log", "[log]\nenabled = false"),
        ("timeouts", "timeouts.session = 1"),
        ("keys", '[keys]\n"app.quit" = "f9"'),
    ],
)
def test_a_project_can_only_set_agent_theme_and_panes(project: Path, key: str, text: str) -> None:
    (project / ".acp-tui.toml").write_text(text)
    settings = load(project, environ={})
    assert problems_of(settings) == [
        (1, key, "ignored: a project may only set agent, theme, panes; set other keys in config.toml")
    ]
    settings.problems.clear()
    assert settings == Settings()


def test_a_misspelt_key_of_a_project_is_reported(project: Path) -> None:
    (project / ".acp-tui.toml").write_text('agnet = "demo"')
    assert problems_of(load(project, environ={})) == [(1, "agnet", "unknown key; did you mean 'agent'?")]


# --------------------------------------------------------------------------- keys and early settings


def test_keys_are_read_with_quoted_and_dotted_action_ids(write_config: WriteConfig, project: Path) -> None:
    file = write_config('[keys]\n"app.help" = "f2"\ntranscript.copy = ["c", " ctrl+y "]\n')
    settings = load(project, environ={})
    assert settings.keys == {"app.help": "f2", "transcript.copy": "c,ctrl+y"}
    assert [str(settings.origin(f"keys.{name}")) for name in settings.keys] == [f"{file}:2", f"{file}:3"]
    assert settings.problems == []


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('keys = "f1"', 1, "keys"),
        ('[keys]\n"app.help" = 1', 2, "keys.app.help"),
        ("[keys]\napp.help = []", 2, "keys.app.help"),
        ('[keys]\napp.help = ["f1", ""]', 2, "keys.app.help"),
    ],
)
def test_invalid_keys_are_reported(
    write_config: WriteConfig, project: Path, text: str, line: int, key: str
) -> None:
    write_config(text)
    settings = load(project, environ={})
    assert [(problem.line, problem.key) for problem in settings.problems] == [(line, key)]
    assert settings.keys == {}
    assert early_settings.read(project, {}).keys == {}


@pytest.mark.parametrize(
    ("config", "own", "environ"),
    [
        ("", "", {}),
        ('agent = "a"\ntheme = "b"\n[keys]\n"app.help" = "f2"\nx.y = ["a", "b"]', "", {}),
        ('agent = "a"\ntheme = "b"', 'agent = "c"\ntheme = "d"', {}),
        ('agent = "a"', 'agent = "c"', {"ACP_TUI_AGENT": "e", "ACP_TUI_THEME": "f"}),
        ("agent = 1", 'theme = ""', {"ACP_TUI_AGENT": " "}),
        ("agent = ", "[", {}),
        ("\ufeffagent = 'bom'", "", {}),
    ],
)
def test_early_settings_equal_the_full_settings(
    write_config: WriteConfig, project: Path, config: str, own: str, environ: dict[str, str]
) -> None:
    write_config(config)
    (project / ".acp-tui.toml").write_text(own)
    settings, early = load(project, environ=environ), early_settings.read(project, environ)
    assert (early.agent, early.theme or "auto", early.keys) == (settings.agent, settings.theme, settings.keys)


def test_find_origin_returns_file_and_line(write_config: WriteConfig, project: Path) -> None:
    file = write_config('\ntheme = "x"\n')
    assert str(find_origin(project, "theme")) == f"{file}:2"


# --------------------------------------------------------------------------- directories


def test_additional_directories_are_relative_to_the_file_and_must_exist(
    write_config: WriteConfig, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    file = write_config(
        '[workspace]\nadditional_directories = [\n"beside",\n"gone",\n"~",\n"~nobody-here/x"]'
    )
    (file.parent / "beside").mkdir()
    settings = load(project, environ={})
    assert settings.workspace.additional_directories == [file.parent / "beside", project]
    assert problems_of(settings) == [
        (4, "workspace.additional_directories.1", f"directory {file.parent / 'gone'} does not exist"),
        (
            6,
            "workspace.additional_directories.3",
            f"directory {file.parent / '~nobody-here/x'} does not exist",
        ),
    ]


# --------------------------------------------------------------------------- environment, command line


def test_environment_variables_are_parsed_by_the_type_of_their_key(project: Path) -> None:
    environ = {
        "ACP_TUI_TIMEOUTS_SESSION": "2.5",
        "ACP_TUI_LOG_ENABLED": "false",
        "ACP_TUI_LOG_KEEP_BYTES": "10 MB",
        "ACP_TUI_AGENT": "7",  # a string setting keeps digits as a string
    }
    settings = load(project, environ=environ)
    assert settings.problems == []
    assert (settings.timeouts.session, settings.log.enabled) == (2.5, False)
    assert (settings.log.keep_bytes, settings.agent) == (10_000_000, "7")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ACP_TUI_LOG_ENABLED", "no", "expected true or false, got 'no'"),
        (
            "ACP_TUI_TIMEOUTS_SESSION",
            "1\nagent = 2",
            "expected a number of seconds above 0, got '1\\nagent = 2'",
        ),
        ("ACP_TUI_POLCY", "yolo", "ignored; did you mean ACP_TUI_POLICY?"),
    ],
)
def test_invalid_variables_are_reported(project: Path, name: str, value: str, sentence: str) -> None:
    settings = load(project, environ={name: value})
    assert [str(problem) for problem in settings.problems] == [f"environment: {name}: {sentence}"]


def test_other_variables_are_ignored(project: Path) -> None:
    environ = {"ACP_TUI_HOME": "/x", "ACP_TUI_DEBUG": "1", "PATH": "/bin"}
    assert load(project, environ=environ) == Settings()


def test_directories_on_the_command_line_are_relative_to_the_working_directory(project: Path) -> None:
    (project / "more").mkdir()
    settings = load(project, environ={}, overrides={"workspace.additional_directories": ["more", "/"]})
    assert [str(path) for path in settings.workspace.additional_directories] == [f"{project}/more", "/"]
    with pytest.raises(UserError, match=r"directory .*/gone does not exist"):
        load(project, environ={}, overrides={"workspace.additional_directories": ["gone"]})


def test_every_key_has_its_own_variable() -> None:
    assert len({variable_name(key) for key in VALIDATORS}) == len(VALIDATORS)


def test_an_invalid_value_on_the_command_line_is_a_usage_error(project: Path) -> None:
    with pytest.raises(UserError, match="policy: expected one of deny") as caught:
        load(project, environ={}, overrides={"policy": "maybe"})
    assert caught.value.exit_code == 2


def test_a_project_file_above_1_mb_is_ignored(project: Path) -> None:
    with open(project / ".acp-tui.toml", "wb") as file:
        file.truncate(10_000_000_000)  # sparse: takes no room on the disk, but would take all memory

    assert early_settings.read(project).theme is None
    assert problems_of(load(project, environ={})) == [
        (None, "", "cannot be read: larger than 1 MB; the whole file is ignored")
    ]


def test_unknown_keys_after_the_first_20_are_only_counted(project: Path) -> None:
    (project / ".acp-tui.toml").write_text("".join(f"k{number} = 1\n" for number in range(1_000)))

    problems = load(project, environ={}).problems

    assert len(problems) == 21
    assert str(problems[0]).startswith(f"{project}/.acp-tui.toml:1: k0: unknown key")
    assert str(problems[-1]) == f"{project}/.acp-tui.toml: 980 more unknown keys"
