"""The command line of the agent: the model profiles, the limits, and where sessions are kept."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from acp_tui.local_agent.profile import ModelProfile, Prices


@dataclass(frozen=True)
class Settings:
    """What the command line says.

    Attributes:
        profiles: By name; new sessions use the first.
        max_rounds: How often the model is asked in one turn before the user is asked whether to continue.
        data_dir: Holds the folders of the sessions.
        problems: Sentences that the user should read when a session starts.
    """

    profiles: Mapping[str, ModelProfile]
    max_rounds: int
    data_dir: Path
    problems: Sequence[str] = ()

    @property
    def secrets(self) -> list[str]:
        """Values that must not be stored with a session."""
        return [
            secret
            for profile in self.profiles.values()
            for secret in (profile.api_key, *profile.headers.values())
            if secret
        ]


def parse_settings(arguments: Sequence[str]) -> Settings:
    """Read the command line and the secrets from the environment, and remove those from the environment.

    Commands and MCP servers that the agent starts do not inherit them.
    """
    parser = _parser()
    common, *groups = _split_at_profiles(arguments)
    parsed = [parser.parse_args([*common, *group]) for group in groups or [[]]]
    variables = dict.fromkeys(name for each in parsed for name in _secret_variables(each))
    secrets = {name: os.environ.pop(name) for name in variables if os.environ.get(name)}
    return Settings(
        profiles={each.profile: _profile(each, secrets) for each in parsed},
        max_rounds=parsed[0].max_rounds,
        data_dir=parsed[0].data_dir.absolute(),
        problems=[
            f"The environment variable {name}, which should contain a secret, is not set."
            for name in variables
            if name not in secrets
        ],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m acp_tui.local_agent",
        description="An ACP agent for any model with an OpenAI-compatible API. It serves a client on"
        " standard input and output.",
        epilog="What follows --profile NAME, up to the next one, belongs to that profile; what precedes the"
        " first belongs to all. New sessions use the first.",
        allow_abbrev=False,
    )
    data_dir = user_data_path("acp-tui", appauthor=False) / "local-agent"
    parser.add_argument("--data-dir", type=Path, default=data_dir, help="folder for the sessions")
    parser.add_argument("--max-rounds", type=int, default=50, help="requests to the model in a turn")
    parser.add_argument("--profile", default="local", help="name of the settings that follow")
    parser.add_argument("--base-url", required=True, help="address of the API, with /v1")
    parser.add_argument("--model", required=True, help="name of the model, as the server calls it")
    parser.add_argument("--context", type=int, help="tokens that fit into the context")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--header-env", type=_pair, action="append", default=[], metavar="NAME=VARIABLE")
    parser.add_argument("--api-key-env", metavar="VARIABLE", help="environment variable with the key")
    parser.add_argument("--calls", choices=("auto", "native", "xml"), default="auto")
    parser.add_argument("--price-input", type=float, help="price of a million tokens")
    parser.add_argument("--price-output", type=float, help="price of a million tokens")
    parser.add_argument("--currency", default="USD")
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _split_at_profiles(arguments: Sequence[str]) -> list[list[str]]:
    """Return the arguments before the first `--profile`, and then those of each profile."""
    groups: list[list[str]] = [[]]
    for argument in arguments:
        if argument.partition("=")[0] == "--profile":
            groups.append([])
        groups[-1].append(argument)
    return groups


def _secret_variables(arguments: argparse.Namespace) -> list[str]:
    """Return the names of the environment variables that contain the secrets of a profile."""
    names = [arguments.api_key_env, *(variable for _, variable in arguments.header_env)]
    return [name for name in names if name]


def _profile(arguments: argparse.Namespace, secrets: Mapping[str, str]) -> ModelProfile:
    headers = arguments.header_env
    prices = None
    if arguments.price_input is not None or arguments.price_output is not None:
        prices = Prices(arguments.price_input or 0.0, arguments.price_output or 0.0, arguments.currency)
    return ModelProfile(
        base_url=arguments.base_url.rstrip("/"),
        model=arguments.model,
        api_key=secrets.get(arguments.api_key_env),
        context=arguments.context,
        temperature=arguments.temperature,
        headers={name: secrets[variable] for name, variable in headers if variable in secrets},
        calls=arguments.calls,
        prices=prices,
    )
