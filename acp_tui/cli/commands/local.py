"""`acp-tui local`: a session with the built-in agent and a model of the user's own."""

from __future__ import annotations

import argparse
import json
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from acp_tui.cli.options import FAILED, add_agent_options, is_yes
from acp_tui.config.agent_catalogue import LOCAL_AGENT, NO_MODEL, find_agent, resolve_launch
from acp_tui.config.local_profiles import default_file, given_base_url
from acp_tui.config.paths import write_private
from acp_tui.console import aligned
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings

PORTS = (11434, 8080, 8000, 1234)
"""Where Ollama, llama.cpp, vLLM and LM Studio listen unless told otherwise."""
CONNECT_SECONDS = 1.0
SEARCH_SECONDS = 2.0
MAX_ANSWER_BYTES = 1_000_000
MAX_MODELS = 20
"""How many models of a server are offered; `--model` can name any."""
EPILOG = """\
examples:
  acp-tui local                                        the model of [local] in config.toml
  acp-tui local --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
  acp-tui local 'fix the failing test' --profile big   the model of [local.big]
  acp-tui local --acp                                  as an agent for an editor

`acp-tui exec local`, `doctor local` and `serve local` use the model of [local].
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from acp_tui.cli.commands.run import add_screen_options

    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("words", nargs="*", metavar="PROMPT", help="the first prompt")
    group = parser.add_argument_group("model")
    group.add_argument("--profile", metavar="NAME", help="use the model of [local.NAME] in config.toml")
    group.add_argument("--model", metavar="NAME", help="name of the model")
    about = "address of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1"
    group.add_argument("--base-url", metavar="URL", help=about)
    about = "environment variable with the key for the address"
    group.add_argument("--api-key-env", metavar="NAME", help=about)
    about = "be an ACP agent on stdin and stdout, for an editor"
    group.add_argument("--acp", action="store_true", help=about)
    add_agent_options(parser, policy="ask", is_fixed=True)
    add_screen_options(parser)
    parser.set_defaults(pick=False, choose=False)


def run(args: argparse.Namespace) -> int:
    """Open a session, or become the agent. If no model is configured, ask for one first."""
    from acp_tui.cli.commands import run as run_command
    from acp_tui.cli.screen_runner import has_usable_terminal
    from acp_tui.config.settings import load

    settings = load(Path(args.cwd or "."))
    if args.acp and args.words:
        raise UsageError("--acp takes no prompt: the editor sends it.")
    choice = {name: getattr(args, name) for name in ("profile", "model", "base_url", "api_key_env")}
    own = settings.agents.get(LOCAL_AGENT)
    if own is not None and own.command:
        if given := next((name for name, value in choice.items() if value is not None), None):
            option = given.replace("_", "-")
            raise UsageError(f"--{option} has no effect: {own.file} defines a command for {LOCAL_AGENT}.")
    else:
        can_ask = has_usable_terminal() and not args.acp
        if not _complete(choice, settings, can_ask=can_ask):
            print("Nothing was written. --base-url URL and --model NAME name a model at any time.")
            return FAILED
        settings.local = settings.local.choose(**choice)
    if args.acp:
        _become_agent(settings)
    args.words.insert(0, LOCAL_AGENT)
    args.local_choice = choice
    return run_command.run(args)


def _become_agent(settings: Settings) -> NoReturn:
    launch = resolve_launch(LOCAL_AGENT, settings)
    os.execve(launch.command[0], launch.command, os.environ | launch.env)  # noqa: S606  # no shell on purpose


def _complete(choice: dict[str, str | None], settings: Settings, *, can_ask: bool) -> bool:
    """Choose a model if the command line and the settings name none. Return False if the user wants none.

    Raises `UserError` if the agent cannot be started anyway.
    """
    obstacle = find_agent(LOCAL_AGENT, settings).obstacle
    if obstacle and obstacle != NO_MODEL:
        resolve_launch(LOCAL_AGENT, settings)  # raises the error
    profile = settings.local.find(choice["profile"])
    if choice["base_url"] is not None:
        address = given_base_url(choice["base_url"])
        if choice["model"] is None and (profile is None or profile.base_url != address):
            choice["model"] = _model_of(address, choice["api_key_env"], can_ask=can_ask)
            return choice["model"] is not None
        return True
    if profile is not None:
        return True
    if not can_ask:
        raise UserError(f"The local agent cannot be started: {NO_MODEL}.")
    found = _search_models(choice["model"])
    if (chosen := _ask("No model is configured. Found on this machine:", found)) is None:
        return False
    choice["base_url"], choice["model"] = chosen
    _save(*chosen)
    return True


def _save(base_url: str, model: str) -> None:
    """Write `agents/local.toml`, or say what to write if the user has such a file."""
    lines = f"base_url = {json.dumps(base_url)}\nmodel = {json.dumps(model, ensure_ascii=False)}\n"
    file = default_file()
    if file.exists():
        print(f"{escape_line(str(file))} exists. To use this model again, add to it:\n{lines}")
        return
    head = "# Written by `acp-tui local`. docs/local.md describes these and other keys.\n"
    with os_errors_reported(f"Cannot write {escape_line(str(file))}"):
        write_private(file, head + lines)
    print(f"Saved in {escape_line(str(file))}.")


def _ask(title: str, found: list[tuple[str, str]]) -> tuple[str, str] | None:
    """Let the user choose one of the addresses with a model. Return None if the user wants none."""
    print(title)
    rows = [(f"{number:4}", model, address) for number, (address, model) in enumerate(found, 1)]
    print("\n".join(aligned(rows)))
    try:
        if len(found) == 1:
            return found[0] if is_yes(input("Use it? [y/N] ")) else None
        while answer := input(f"Which one? [1-{len(found)}, Enter for none] ").strip():
            if answer.isdecimal() and 1 <= int(answer) <= len(found):
                return found[int(answer) - 1]
            if answer.lower() in ("n", "no"):
                break
    except EOFError:
        print()
    return None


# --------------------------------------------------------------------------- models of servers


def _search_models(wanted: str | None) -> list[tuple[str, str]]:
    """Return address and model of those on the usual ports, or those whose name begins with `wanted`."""
    answers: queue.SimpleQueue[list[tuple[str, str]]] = queue.SimpleQueue()

    def search(address: str) -> None:
        found: list[str] = []
        with suppress(OSError, HTTPException, ValueError):
            found = _list_models(address)
        answers.put([(address, model) for model in found if model.startswith(wanted or "")][:MAX_MODELS])

    addresses = [f"http://127.0.0.1:{port}/v1" for port in PORTS]
    for address in addresses:
        threading.Thread(target=search, args=(address,), daemon=True).start()
    found: list[tuple[str, str]] = []
    with suppress(queue.Empty):
        for _ in addresses:
            found += answers.get(timeout=SEARCH_SECONDS)
    if not found:
        what = f"the model {escape_line(wanted)}" if wanted else "a model"
        ports = ", ".join(str(port) for port in PORTS)
        raise UserError(
            f"No server with {what} was found on this machine (ports {ports}). Start one, such as Ollama, "
            "or name one with --base-url URL and --model NAME."
        )
    return sorted(found, key=lambda one: addresses.index(one[0]))


def _model_of(address: str, key_variable: str | None, *, can_ask: bool) -> str | None:
    """Return the only model at an address, or the one that the user chooses. Raises `UserError`."""
    key = os.environ.get(key_variable) if key_variable else None
    try:
        found = _list_models(address, key)
    except (OSError, HTTPException, ValueError) as error:
        why = escape_line(str(getattr(error, "strerror", None) or error))
        raise UserError(f"The models at {address} cannot be listed ({why}). Name one with --model.") from None
    if len(found) == 1:
        return found[0]
    if not found or not can_ask:
        names = ", ".join(found[:MAX_MODELS])
        raise UsageError(f"Name a model of {address} with --model" + (f": {names}." if names else "."))
    chosen = _ask(f"The models at {address}:", [(address, model) for model in found[:MAX_MODELS]])
    return chosen[1] if chosen is not None else None


def _list_models(address: str, key: str | None = None) -> list[str]:
    """Return the names of the models. Proxies are not used, and redirects are not followed.

    Raises `OSError`, `HTTPException` or `ValueError`.
    """
    parts = urlsplit(address)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=CONNECT_SECONDS)
    try:
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        connection.request("GET", f"{parts.path}/models", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"HTTP {response.status}")
        return list(_names(json.loads(response.read(MAX_ANSWER_BYTES))))
    finally:
        connection.close()


def _names(answer: Any) -> Iterator[str]:
    models = answer.get("data") if isinstance(answer, dict) else None
    for model in models if isinstance(models, list) else ():
        name = model.get("id") if isinstance(model, dict) else None
        if isinstance(name, str) and name.strip() and escape_line(name) == name:
            yield name
