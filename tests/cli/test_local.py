"""`acp-tui local`: the first start without a model, the choice of a model, and the agent for editors."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.local_profiles import default_file
from acp_tui.config.settings import load
from tests.support.cli import PROGRAM, environment, run
from tests.support.fake_model import REPOSITORY, fake_model
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM_WITH_PORTS = """
import os, sys
from acp_tui.cli import main
from acp_tui.cli.commands import local
local.PORTS = [int(port) for port in os.environ["PORTS"].split()]
sys.exit(main())
"""
REFUSED = "no model is configured; run `acp-tui local` in a terminal, or set base_url and model in [local]"


class FirstStart(Terminal):
    """A terminal in which `acp-tui local` looks at other ports, so that tests can run at the same time."""

    program = [sys.executable, "-c", PROGRAM_WITH_PORTS]  # noqa: RUF012

    def quit(self) -> int:
        """Wait for the screen and leave it."""
        self.sees("Message Local agent")
        return super().quit()


class ModelServer(ThreadingHTTPServer):
    """Lists models, and keeps the headers of the requests."""

    def __init__(self, body: str, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body, self.status = body.encode(), status
        self.requests: list[tuple[str, dict[str, str]]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:  # the name that the library calls
        self.server.requests.append((self.path, dict(self.headers)))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Do not log requests."""


@contextmanager
def models(*names: str, body: str | None = None, status: int = 200) -> Iterator[ModelServer]:
    """Run a server that lists models, or answers with `body`."""
    listing = json.dumps({"object": "list", "data": [{"id": name} for name in names]})
    with ModelServer(listing if body is None else body, status) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ports(*servers: ModelServer) -> str:
    return " ".join(str(server.server_port) for server in servers)


# --------------------------------------------------------------------------- the first start


def test_a_model_that_is_found_is_saved_after_a_yes(tmp_path: Path) -> None:
    with (
        models("qwen3:8b") as server,
        FirstStart("local", cwd=tmp_path, PORTS=ports(server), http_proxy="http://127.0.0.1:9") as terminal,
    ):
        terminal.wait_for("No model is configured. Found on this machine:", "qwen3:8b", "Use it? [y/N]")
        assert not default_file().exists()
        terminal.type("y\n")
        terminal.wait_for(f"Saved in {default_file()}.")
        assert terminal.quit() == 0
    profile = load(tmp_path).local.profiles["local"]
    assert (profile.base_url, profile.model) == (server.address, "qwen3:8b")
    assert default_file().stat().st_mode & 0o777 == 0o600
    assert load(tmp_path).problems == []


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x04"])
def test_nothing_is_written_without_a_yes(answer: str, tmp_path: Path) -> None:
    with models("qwen3") as server, FirstStart("local", cwd=tmp_path, PORTS=ports(server)) as terminal:
        terminal.wait_for("Use it? [y/N]")
        terminal.type(answer)
        terminal.wait_for("Nothing was written.")
        assert terminal.ended() == 1
    assert not default_file().exists()


def test_one_of_several_models_is_chosen_by_its_number(tmp_path: Path) -> None:
    with (
        models("a-model", "b-model") as first,
        models("c-model") as second,
        models(body="<html>", status=200) as page,
        models("hidden", status=302) as moved,
        FirstStart("local", cwd=tmp_path, PORTS=ports(first, page, moved, second)) as terminal,
    ):
        terminal.wait_for("1", "a-model", "2", "b-model", "3", "c-model", "Which one? [1-3, Enter for none]")
        terminal.type("7\n")
        terminal.wait_for("Which one?")
        terminal.type("3\n")
        terminal.wait_for("Saved in")
        assert terminal.quit() == 0
    profile = load(tmp_path).local.profiles["local"]
    assert (profile.base_url, profile.model) == (second.address, "c-model")


def test_model_narrows_what_is_offered(tmp_path: Path) -> None:
    with (
        models("a-model", "b-model") as server,
        FirstStart("local", "--model", "b", cwd=tmp_path, PORTS=ports(server)) as terminal,
    ):
        terminal.wait_for("b-model", "Use it?")
        assert "a-model" not in terminal.screen
        terminal.type("\n")
        assert terminal.ended() == 1


def test_names_that_could_control_the_terminal_are_not_offered(tmp_path: Path) -> None:
    with (
        models("\x1b]0;owned\x07evil", "good", "two\nlines") as server,
        FirstStart("local", cwd=tmp_path, PORTS=ports(server)) as terminal,
    ):
        terminal.wait_for("good", "Use it?")
        assert b"\x1b]0;owned" not in terminal.raw
        terminal.type("\n")
        assert terminal.ended() == 1


def test_the_ports_are_named_if_there_is_no_server(tmp_path: Path) -> None:
    with FirstStart("local", cwd=tmp_path, PORTS="9 19") as terminal:
        terminal.wait_for("No server with a model was found on this machine (ports 9, 19).")
        assert terminal.ended() == 1


def test_a_file_of_the_user_is_not_overwritten(tmp_path: Path) -> None:
    default_file().parent.mkdir(parents=True)
    default_file().write_text('mode = "plan"\n')
    with models("qwen3") as server, FirstStart("local", cwd=tmp_path, PORTS=ports(server)) as terminal:
        terminal.wait_for("Use it?")
        terminal.type("y\n")
        terminal.wait_for("exists. To use this model again, add to it:", 'model = "qwen3"')
        assert terminal.quit() == 0
    assert default_file().read_text() == 'mode = "plan"\n'


# --------------------------------------------------------------------------- without a terminal


@pytest.mark.parametrize("words", [("local",), ("local", "--acp"), ("exec", "local", "hello")])
def test_without_a_terminal_one_sentence_says_what_to_do(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert REFUSED in done.err
    assert done.err.count("\n") == 1


def test_the_only_model_of_an_address_is_used(tmp_path: Path) -> None:
    with models("only") as server:
        variable = ("--api-key-env", "MODEL_KEY")
        given = ("local", "--acp", "--base-url", server.address, *variable)
        subprocess.run(
            [PROGRAM, *given],
            cwd=tmp_path,
            env=environment(MODEL_KEY="k1"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    path, headers = server.requests[0]
    assert (path, headers["Authorization"]) == ("/v1/models", "Bearer k1")


def test_several_models_of_an_address_are_listed(tmp_path: Path) -> None:
    with models("a", "b") as server:
        done = run("local", "--acp", "--base-url", server.address, cwd=tmp_path)
    assert (done.code, done.err) == (2, f"acp-tui: Name a model of {server.address} with --model: a, b.\n")


def test_an_address_without_models_is_explained(tmp_path: Path) -> None:
    with models(status=404) as server:
        done = run("local", "--acp", "--base-url", server.address, cwd=tmp_path)
    assert done.err == (
        f"acp-tui: The models at {server.address} cannot be listed (HTTP 404). Name one with --model.\n"
    )


def test_options_for_a_model_are_refused_if_the_agent_has_a_command(tmp_path: Path, home: Path) -> None:
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[agents.local]\ncommand = "cat"\n')
    done = run("local", "--acp", "--model", "x", cwd=tmp_path)
    assert done.err == f"acp-tui: --model has no effect: {config} defines a command for local.\n"


# --------------------------------------------------------------------------- conformance


def test_the_conformance_suite_finds_no_fault(tmp_path: Path, home: Path) -> None:
    script = json.loads((REPOSITORY / "tests" / "fake_models" / "doctor.json").read_text())
    with fake_model(tmp_path, **script) as model:
        settings = home / "config" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[local]\nbase_url = "{model.url}"\nmodel = "fake-model"\n')
        done = run("doctor", "local", "--suite", "--json", cwd=tmp_path)
    found = json.loads(done.out)
    assert [check for check in found["checks"] if check["status"] == "fail"] == []
    assert found["counts"]["pass"] >= 150
