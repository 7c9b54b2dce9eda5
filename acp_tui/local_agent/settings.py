"""The command line of the agent: the model profiles, the limits, and where sessions are kept."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from acp_tui.local_agent.profile import ModelProfile, Prices

DEFAULT_PROFILE = "local"
MAX_ROUNDS = 50


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


@dataclass
class _Environment:
    """Reads secrets from environment variables and reports those that are missing."""

    missing: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def secret(self, name: str) -> str | None:
        value = os.environ.get(name)
        if not value:
            self.missing.append(
                f"The environment variable {name}, which should contain a secret, is not set."
            )
            return None
        self.used.add(name)
        return value


def parse_settings(arguments: Sequence[str]) -> Settings:
    """Read the command line and the secrets from the environment, and remove those from the environment.

    Commands and MCP servers that the agent starts do not inherit them.
    """
    parser = _parser()
    general, rest = parser.parse_known_args(arguments)
    environment = _Environment()
    profiles: dict[str, ModelProfile] = {}
    for name, group in _groups(parser, rest):
        if name in profiles:
            parser.error(f"the profile {name} is given twice")
        profiles[name] = _profile(group, environment)
    for variable in environment.used:
        del os.environ[variable]
    data_dir = general.data_dir
    if data_dir is None:
        from platformdirs import user_data_path

        data_dir = user_data_path("acp-tui", appauthor=False) / "local-agent"
    return Settings(profiles, general.max_rounds, data_dir.absolute(), environment.missing)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m acp_tui.local_agent",
        description="An ACP agent for any model with an OpenAI-compatible API. It serves a client on"
        " standard input and output.",
        usage="%(prog)s [--data-dir DIR] [--max-rounds N] [--profile NAME] --base-url URL --model NAME …",
        epilog="For each profile: --base-url URL, --model NAME, --context TOKENS, --temperature NUMBER,"
        " --header NAME=VALUE, --header-env NAME=VARIABLE, --api-key-env VARIABLE, --calls auto|native|xml,"
        " --price-input NUMBER, --price-output NUMBER, --currency CODE. What follows --profile NAME, up to"
        " the next one, belongs to that profile. The first is used for new sessions.",
        allow_abbrev=False,
    )
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="folder for the sessions")
    parser.add_argument(
        "--max-rounds",
        type=_positive,
        default=MAX_ROUNDS,
        metavar="N",
        help="requests to the model in a turn",
    )
    return parser


def _groups(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> list[tuple[str, argparse.Namespace]]:
    """Split the arguments of several profiles at `--profile`."""
    groups: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--profile" or argument.startswith("--profile="):
            groups.append([])
        groups[-1].append(argument)
    if len(groups) > 1 and groups[0]:
        parser.error("the settings of a model must follow its --profile")
    profile = argparse.ArgumentParser(prog=parser.prog, allow_abbrev=False, add_help=False)
    profile.add_argument("--profile", default=DEFAULT_PROFILE)
    profile.add_argument("--base-url", required=True)
    profile.add_argument("--model", required=True)
    profile.add_argument("--context", type=_positive)
    profile.add_argument("--temperature", type=_number)
    profile.add_argument("--header", type=_pair, action="append", default=[])
    profile.add_argument("--header-env", type=_pair, action="append", default=[])
    profile.add_argument("--api-key-env")
    profile.add_argument("--calls", choices=("auto", "native", "xml"), default="auto")
    profile.add_argument("--price-input", type=_number)
    profile.add_argument("--price-output", type=_number)
    profile.add_argument("--currency", default="USD")
    parsed = [profile.parse_args(group) for group in (groups[1:] or groups)]
    return [(group.profile, group) for group in parsed]


def _profile(group: argparse.Namespace, environment: _Environment) -> ModelProfile:
    headers = dict(group.header)
    for name, variable in group.header_env:
        if (value := environment.secret(variable)) is not None:
            headers[name] = value
    priced = group.price_input is not None or group.price_output is not None
    return ModelProfile(
        base_url=_address(group.base_url),
        model=group.model,
        api_key=environment.secret(group.api_key_env) if group.api_key_env else None,
        context=group.context,
        temperature=group.temperature,
        headers=headers,
        calls=group.calls,
        prices=Prices(group.price_input or 0.0, group.price_output or 0.0, group.currency)
        if priced
        else None,
    )


def _address(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise SystemExit(f"acp_tui.local_agent: {text} is not an http or https address")
    return text.rstrip("/")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name):
        raise argparse.ArgumentTypeError(f"{name!r} must have the form NAME=VALUE")
    return name, value
