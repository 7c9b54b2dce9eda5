"""The conformance suite on real agents. Each failure was verified by hand in the messages of its check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.conftest import launcher
from tests.support.cli import run

PROMPTS = str(Path(__file__).with_name("suite_prompts.toml"))
FAILURES = {
    # It has one counter of tool calls for each turn, and ends a turn cancelled during a question as usual.
    "ts-example": {"call-ids-differ", "cancelled-question", "mcp-stdio"},
    # It agrees to every version.
    "py-echo": {"future-version", "mcp-stdio", "custom-request-refused"},
    # It answers every extension method.
    "py-example": {"mcp-stdio", "custom-request-refused"},
    # It writes with fs/write_text_file, declared or not, and repeats paths as the model wrote them.
    "opencode": {"absolute-paths", "no-undeclared-writes"},
    # Its answers to session/load and session/resume repeat the session id.
    "claude-code": {"absolute-paths", "schema-load", "schema-resume"},
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_suite_finds_what_is_known_of_the_agent(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"  # of the agent, so that sessions outlive a process
    home.mkdir()
    command = f"{launcher(name)} --home {home}"
    done = run(
        *("doctor", "--suite", "--json", "--command", command, "--prompts", PROMPTS),
        *("--evidence", str(tmp_path / "evidence")),
        cwd=tmp_path,
    )
    failed = {
        check["name"]: check["detail"]
        for check in json.loads(done.out)["checks"]
        if check["status"] == "fail"
    }
    assert set(failed) == FAILURES[name], failed
