"""The models of the built-in agent: `[local]` and `[local.NAME]` in `config.toml`, or `agents/local.toml`.

Only files of the user define them, never a project's: a model gets everything that the agent reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from acp_tui.config import remote_address, toml_document, validators
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, invalid_value
from acp_tui.errors import UsageError
from acp_tui.session.safe_text import escape_line

DEFAULT = "local"
"""The name of the agent, and of the profile in `[local]` itself."""
HEADER_VARIABLE = "ACP_TUI_LOCAL_HEADER_"
"""The beginning of the names of the variables in which the agent process gets the values of headers."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CURRENCY = re.compile(r"[A-Z]{3}")
_PRINTABLE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class LocalProfile:
    """A model, where it is, and how to talk to it."""

    name: str
    base_url: str  # with `/v1`
    model: str
    file: Path | None = None  # None: the command line
    line: int | None = None
    api_key_env: str | None = None  # the environment variable that contains the key
    context: int | None = None  # tokens
    temperature: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)  # the values can refer to variables: `${VAR}`
    calls: str | None = None
    prices: Mapping[str, float | str] = field(default_factory=dict)  # of a million tokens

    def arguments(self, header_variables: Mapping[str, str]) -> list[str]:
        """Return the arguments of the agent. `header_variables` has the variable of each header."""
        given = {
            "--profile": self.name,
            "--base-url": self.base_url,
            "--model": self.model,
            "--api-key-env": self.api_key_env,
            "--context": self.context,
            "--temperature": self.temperature,
            "--calls": self.calls,
            "--price-input": self.prices.get("input"),
            "--price-output": self.prices.get("output"),
            "--currency": self.prices.get("currency"),
        }
        # With a space, argparse would take a value such as "-1" for an option.
        words = [f"{option}={value}" for option, value in given.items() if value is not None]
        return words + [f"--header-env={name}={header_variables[name]}" for name in self.headers]


@dataclass(slots=True)
class LocalModels:
    """The settings of the built-in agent. New sessions use the first profile."""

    profiles: dict[str, LocalProfile] = field(default_factory=dict)
    max_rounds: int | None = None

    def launch_parts(self) -> tuple[list[str], dict[str, str]]:
        """Return the arguments of the agent's program, and variables to add to its environment.

        Raises `UserError` if a header refers to a variable that is not set.
        """
        arguments = [f"--data-dir={paths().data / 'local-agent'}"]
        env: dict[str, str] = {}
        if self.max_rounds is not None:
            arguments.append(f"--max-rounds={self.max_rounds}")
        for profile in self.profiles.values():
            variables = {}
            for name, value in remote_address.expand_headers(profile.headers).items():
                variables[name] = f"{HEADER_VARIABLE}{len(env) + 1}"
                env[variables[name]] = value
            arguments += profile.arguments(variables)
        return arguments, env

    def find(self, profile: str | None) -> LocalProfile | None:
        """Return a profile, or the first one; None if there is none. Raises `UsageError` for a wrong name."""
        if profile is not None and profile not in self.profiles:
            known = ", ".join(self.profiles) or "none"
            raise UsageError(f'There is no profile "{escape_line(profile)}" in [local]; profiles: {known}.')
        return self.profiles.get(profile or next(iter(self.profiles), ""))

    def choose(
        self,
        profile: str | None = None,
        model: str | None = None,
        base_url: str | None = None,
        api_key_env: str | None = None,
    ) -> LocalModels:
        """Return the models with the one that the command line names as the first. Raises `UsageError`.

        Another address gets neither the key nor the headers of the profile. Of another model, context, prices
        and the way of calling tools are not known.
        """
        chosen = self.find(profile)
        if base_url is not None:
            base_url = given_base_url(base_url)
            if chosen is None or base_url != chosen.base_url:
                if model is None:
                    raise UsageError(f"Name a model of {base_url} with --model NAME.")
                chosen = LocalProfile(profile or DEFAULT, base_url, model)
        if chosen is None:
            if model is None and api_key_env is None:
                return self
            raise UsageError(
                "Name the address of the model with --base-url URL, such as http://host:8000/v1."
            )
        if model is not None and model != chosen.model:
            chosen = replace(chosen, model=model, context=None, calls=None, prices={})
        if api_key_env is not None:
            chosen = replace(chosen, api_key_env=api_key_env)
        others = {name: one for name, one in self.profiles.items() if name != chosen.name}
        return LocalModels({chosen.name: chosen, **others}, self.max_rounds)


# --------------------------------------------------------------------------- validators


def checked_base_url(value: Any) -> str:
    """Validate the address of an OpenAI-compatible API, and return it without a slash at the end."""
    expected = "an address such as http://127.0.0.1:11434/v1"
    if not isinstance(value, str) or not _PRINTABLE.fullmatch(value):
        raise invalid_value(expected, value)
    try:
        parts = urlsplit(value)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise invalid_value(expected, value)
    if "@" in parts.netloc:
        raise InvalidValueError("an address contains no user name and no password; use api_key_env")
    if parts.query or parts.fragment:
        raise InvalidValueError("an address has no part after ? or #")
    return value.rstrip("/")


def given_base_url(text: str) -> str:
    """Return the address that the command line gives. Raises `UsageError`."""
    try:
        return checked_base_url(text)
    except InvalidValueError as error:
        raise UsageError(f"--base-url: {error}.") from None


def _variable_name(value: Any) -> str:
    if isinstance(value, str) and _VARIABLE_NAME.fullmatch(value):
        return value
    # A key in the file by mistake must not be printed.
    raise InvalidValueError("expected the name of an environment variable, not the key itself")


def _tokens(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise invalid_value("a number of tokens above 0", value)


def _rounds(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise invalid_value("a whole number above 0", value)


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise invalid_value("a number, 0 or above", value)


def _prices(value: Any) -> dict[str, float | str]:
    checks: dict[str, Callable[[Any], float | str]] = {
        "input": _number,
        "output": _number,
        "currency": _currency,
    }
    if not isinstance(value, dict) or not {"input", "output"} <= value.keys() <= checks.keys():
        raise InvalidValueError("expected { input = PRICE, output = PRICE, currency = CODE }")
    return {key: checks[key](one) for key, one in value.items()}


def _currency(value: Any) -> str:
    if isinstance(value, str) and _CURRENCY.fullmatch(value):
        return value
    raise invalid_value('a code such as "USD"', value)


VALIDATORS: dict[str, Callable[[Any], Any]] = {
    "base_url": checked_base_url,
    "model": validators.text,
    "api_key_env": _variable_name,
    "context": _tokens,
    "temperature": _number,
    "headers": remote_address.headers,
    "calls": validators.one_of("auto", "native", "xml"),
    "prices": _prices,
}
"""The validators of a profile's keys."""


# --------------------------------------------------------------------------- files


def from_document(config: toml_document.TomlDocument) -> LocalModels:
    """Return what `[local]` and `[local.NAME]` of `config.toml` define. A wrong profile is left out."""
    table = config.table(("local",), config.data.get("local", {}))
    own = {key: value for key, value in table.items() if key in VALIDATORS or not isinstance(value, dict)}
    models = LocalModels()
    if "max_rounds" in own:
        valid, _ = config.checked(("local",), {"max_rounds": own.pop("max_rounds")}, {"max_rounds": _rounds})
        models.max_rounds = valid.get("max_rounds")
    default = _read(config, DEFAULT, own, ("local",)) if own else None
    if default is not None:
        models.profiles[DEFAULT] = default
    for name, entry in table.items():
        if name in own or name == "max_rounds":
            continue
        if not _NAME.fullmatch(name) or name == DEFAULT:
            config.report(("local", name), f"{name!r} is not a valid profile name")
        elif profile := _read(config, name, entry, ("local", name), default):
            models.profiles[name] = profile
    if own and default is None:  # another model must not be used in its place
        models.profiles.clear()
    return models


def default_file() -> Path:
    """Return the path of the file that the first start of `acp-tui local` writes. The file may not exist."""
    return paths().config / "agents" / f"{DEFAULT}.toml"


def add_default(models: LocalModels) -> list[validators.Problem]:
    """Add the model of `agents/local.toml`, which has the keys of `[local]`. Return its problems."""
    document = toml_document.read(default_file())
    table = {key: value for key, value in document.data.items() if key in VALIDATORS}
    if not table:
        return []  # what is wrong with the file is reported where its other keys are read
    if (existing := models.profiles.get(DEFAULT)) is not None:
        sentence = f"its model is ignored, because {existing.file}:{existing.line} has [local]"
        document.report((), sentence)
    elif profile := _read(document, DEFAULT, table, ()):
        models.profiles = {DEFAULT: profile, **models.profiles}
    return document.problems


def _read(
    source: toml_document.TomlDocument,
    name: str,
    table: dict[str, Any],
    path: tuple[str, ...],
    default: LocalProfile | None = None,
) -> LocalProfile | None:
    """Return a profile, or None if it has mistakes: a request must not go elsewhere, or without its key.

    A profile without an address uses the server of the profile `default`, with its key and its headers.
    """
    values, invalid = source.checked(path, table, VALIDATORS)
    if default is not None and "base_url" not in table:
        shared = {"api_key_env": default.api_key_env, "headers": default.headers}
        values = {"base_url": default.base_url, **shared, **values}
    missing = [key for key in ("base_url", "model") if key not in values and key not in invalid]
    if missing:
        source.report(path, f"no {' and no '.join(missing)}; the profile is ignored")
    if missing or invalid:
        return None
    return LocalProfile(name, file=source.file, line=source.line(*path), **values)
