"""The models of the built-in agent in the settings, and how the agent is started with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.config import agent_catalogue
from acp_tui.config.settings import load
from acp_tui.errors import UsageError, UserError
from acp_tui.local_agent.settings import parse_settings

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.config.settings import Settings
    from acp_tui.local_agent.settings import Settings as AgentSettings
    from tests.config.conftest import WriteConfig

SIMPLE = '[local]\nbase_url = "http://127.0.0.1:11434/v1"\nmodel = "qwen3"\n'
FULL = """
[local]
base_url = "https://models.example/v1/"
model = "qwen3"
api_key_env = "MODEL_KEY"
context = 32768
temperature = 0.2
headers = { X-Team = "secret ${TEAM}" }
calls = "xml"
prices = { input = 1, output = 2.5, currency = "EUR" }
max_rounds = 7

[local.big]
model = "qwen3-big"

[local.laptop]
base_url = "http://127.0.0.1:8080/v1"
model = "-odd name"
"""


def agent_settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AgentSettings:
    """Return what the agent's program reads from its arguments and its environment."""
    launch = agent_catalogue.resolve_launch("local", settings)
    for name, value in launch.env.items():
        monkeypatch.setenv(name, value)
    assert launch.command[:4] == [sys.executable, "-P", "-m", "acp_tui.local_agent"]
    return parse_settings(launch.command[4:])


def test_the_agent_gets_every_profile_as_it_is_configured(
    write_config: WriteConfig, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "k1")
    monkeypatch.setenv("TEAM", "blue")
    write_config(FULL)
    read = agent_settings(load(project), monkeypatch)
    assert list(read.profiles) == ["local", "big", "laptop"]
    local, big, laptop = read.profiles.values()
    assert (local.base_url, local.model, local.api_key) == ("https://models.example/v1", "qwen3", "k1")
    assert (local.context, local.temperature, local.calls) == (32768, 0.2, "xml")
    assert local.prices is not None
    assert (local.prices.input, local.prices.output, local.prices.currency) == (1.0, 2.5, "EUR")
    assert local.headers == big.headers == {"X-Team": "secret blue"}
    assert (big.base_url, big.model, big.api_key, big.context) == (local.base_url, "qwen3-big", "k1", None)
    assert (laptop.model, laptop.api_key, laptop.headers) == ("-odd name", None, {})
    assert (read.max_rounds, read.data_dir, read.problems) == (7, home / "data" / "local-agent", [])


def test_no_key_and_no_header_is_in_the_arguments(
    write_config: WriteConfig, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "k1")
    monkeypatch.setenv("TEAM", "blue")
    write_config(FULL)
    words = " ".join(agent_catalogue.resolve_launch("local", load(project)).command)
    assert "k1" not in words
    assert "secret" not in words
    assert "blue" not in words


def test_a_header_with_a_missing_variable_is_an_obstacle(write_config: WriteConfig, project: Path) -> None:
    write_config(FULL)
    with pytest.raises(UserError, match="the environment variable TEAM is not set"):
        agent_catalogue.resolve_launch("local", load(project))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("local = 3", ":1: local: expected a table, [local], got 3"),
        ('[local]\nmodel = "x"', ":1: local: no base_url; the profile is ignored"),
        ('[local]\nbase_url = "http://h/v1"', ":1: local: no model; the profile is ignored"),
        ('[local]\nmodle = "x"', ":2: local.modle: unknown key; did you mean 'model'?"),
        (SIMPLE + "context = 0", ":4: local.context: expected a number of tokens above 0, got 0"),
        (SIMPLE + 'calls = "json"', ":4: local.calls: expected one of auto, native, xml, got 'json'"),
        (SIMPLE + "max_rounds = 0", ":4: local.max_rounds: expected a whole number above 0, got 0"),
        (SIMPLE + "temperature = -1", ":4: local.temperature: expected a number, 0 or above, got -1"),
        (
            SIMPLE + "prices = { input = 1 }",
            ":4: local.prices: expected { input = PRICE, output = PRICE, currency = CODE }",
        ),
        (
            SIMPLE + 'api_key_env = "sk-12345"',
            ":4: local.api_key_env: expected the name of an environment variable, not the key itself",
        ),
        (
            SIMPLE.replace("http://", "http://me:pw@"),
            ":2: local.base_url: an address contains no user name and no password; use api_key_env",
        ),
        (SIMPLE + "[local.local]", ":4: local.local: 'local' is not a valid profile name"),
        (SIMPLE + "[local.x]", ":4: local.x: no model; the profile is ignored"),
    ],
)
def test_mistakes_are_reported_with_their_line(
    text: str, problem: str, write_config: WriteConfig, project: Path
) -> None:
    config = write_config(text)
    assert str(config) + problem in [str(one) for one in load(project).problems]


def test_a_mistake_in_local_lets_no_other_profile_take_its_place(
    write_config: WriteConfig, project: Path
) -> None:
    write_config(FULL.replace("https://models", "htps://models"))
    with pytest.raises(UserError, match=r"Local agent cannot be started: .*local.base_url: expected an addr"):
        agent_catalogue.resolve_launch("local", load(project))


def test_a_project_cannot_choose_a_model(project: Path) -> None:
    (project / ".acp-tui.toml").write_text(SIMPLE)
    settings = load(project)
    assert settings.local.profiles == {}
    assert "a project may only set" in str(settings.problems[0])


# --------------------------------------------------------------------------- agents/local.toml


def test_the_file_of_the_first_start_has_the_same_keys(write_config: WriteConfig, project: Path) -> None:
    write_config('model = "m"\nbase_url = "http://h/v1"\nmode = "auto"', "agents/local.toml")
    write_config('[local.big]\nmodel = "big"\nbase_url = "http://big/v1"')
    settings = load(project)
    assert settings.problems == []
    assert [one.model for one in settings.local.profiles.values()] == ["m", "big"]
    assert settings.agents["local"].mode == "auto"


def test_local_in_the_config_takes_precedence_over_that_file(
    write_config: WriteConfig, project: Path
) -> None:
    file = write_config('model = "m"\nbase_url = "http://h/v1"', "agents/local.toml")
    config = write_config(SIMPLE)
    settings = load(project)
    assert settings.local.profiles["local"].model == "qwen3"
    assert [str(one) for one in settings.problems] == [
        f"{file}: its model is ignored, because {config}:1 has [local]"
    ]


def test_a_command_of_the_users_own_replaces_the_agent(write_config: WriteConfig, project: Path) -> None:
    write_config('[agents.local]\ncommand = ["sh", "-c", "true"]')
    assert agent_catalogue.resolve_launch("local", load(project)).command[1:] == ["-c", "true"]


# --------------------------------------------------------------------------- the command line's choice


def test_a_chosen_profile_comes_first(write_config: WriteConfig, project: Path) -> None:
    write_config(FULL)
    models = load(project).local.choose(profile="laptop")
    assert list(models.profiles) == ["laptop", "local", "big"]
    assert models.max_rounds == 7


def test_another_model_keeps_the_server_but_not_what_is_known_about_the_first(
    write_config: WriteConfig, project: Path
) -> None:
    write_config(FULL)
    chosen = load(project).local.choose(model="other").profiles["local"]
    assert (chosen.model, chosen.api_key_env, chosen.temperature) == ("other", "MODEL_KEY", 0.2)
    assert (chosen.context, chosen.calls, chosen.prices) == (None, None, {})


def test_another_address_gets_neither_the_key_nor_the_headers(
    write_config: WriteConfig, project: Path
) -> None:
    write_config(FULL)
    chosen = load(project).local.choose(base_url="http://elsewhere/v1", model="m").profiles["local"]
    assert (chosen.base_url, chosen.api_key_env, chosen.headers) == ("http://elsewhere/v1", None, {})


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"profile": "x"}, 'There is no profile "x" in [local]; profiles: none.'),
        ({"base_url": "ftp://x", "model": "m"}, "--base-url: expected an address such as http://127.0.0.1"),
        ({"base_url": "http://x/v1"}, "Name a model of http://x/v1 with --model NAME."),
        ({"model": "m"}, "Name the address of the model with --base-url URL"),
    ],
)
def test_a_choice_that_is_not_possible_is_refused(
    choice: dict[str, str], sentence: str, project: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        load(project).local.choose(**choice)
    assert str(raised.value).startswith(sentence)


def test_the_extra_is_named_if_it_is_missing(
    write_config: WriteConfig, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(SIMPLE)
    monkeypatch.setattr(agent_catalogue, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"needs the extra `agent`, which `pip install 'acp-tui\[agent\]'`"):
        agent_catalogue.resolve_launch("local", load(project))
