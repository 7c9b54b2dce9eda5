"""What comes back after `kill -9`."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.support.conversation_ui import agent
from tests.support.terminal import F2, PreloadedTerminal
from tests.workspace.projects import fill, repository

CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build it", "status": "in_progress"}
OFFERS = {
    "capabilities": {"sessionCapabilities": {"resume": {}}},
    "turns": {"go": [["say", "half an answer"], ["update", CALL], ["wait_for_cancel"]]},
}


def test_transcript_draft_and_queue_come_back_with_continue(tmp_path: Path, home: Path) -> None:
    drafts = home / "state" / "drafts.jsonl"
    with PreloadedTerminal("--command", agent("script", json.dumps(OFFERS)), cwd=tmp_path) as killed:
        killed.sees("idle")
        killed.type("go\r")
        killed.sees("half an answer", "Build it")
        killed.type("later\r")
        killed.sees("1 later")
        killed.type("half a thought")
        killed.until(lambda: drafts.exists() and '"half a thought"' in drafts.read_text(), "the draft")
        killed.signal(signal.SIGKILL)
        killed.ended()
        killed.until(lambda: killed.left_behind() == [], "the end of the agent")
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees("┃ go", "half an answer", "acp-tui ended during this turn", "❯ half a thought")
        again.until(lambda: re.search("Build it .*–", again.screen) is not None, "the open tool call")
        again.sees("1 later", "paused: Enter without text resumes", "idle")
        again.type("\x15\r")  # Ctrl+U, Enter
        again.sees("┃ later", "   later")
        assert again.quit() == 0


def test_tabs_come_back_with_continue_and_start_their_agents_when_visited(tmp_path: Path, home: Path) -> None:
    command = [sys.executable, "-m", "tests.fake_agents.script", json.dumps(OFFERS)]
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(f"[agents.mine]\ncommand = {json.dumps(command)}\n")
    with PreloadedTerminal("mine", cwd=tmp_path) as killed:
        killed.sees("idle")
        killed.type("the first\r")
        killed.sees("   the first")
        killed.type("\x14")  # Ctrl+T
        killed.sees("type to filter", "mine")
        killed.type("mine")
        killed.sees("❯   mine")
        killed.type("\r")
        killed.sees(" 1 scripted  2 scripted", "idle")
        killed.type("the second\r")
        killed.sees("   the second")
        saved = home / "state" / "open-tabs"
        killed.until(lambda: sum(file.read_text().count("session") for file in saved.glob("*.json")) == 2)
        killed.signal(signal.SIGKILL)
        killed.ended()
        killed.until(lambda: killed.left_behind() == [], "the end of the agents")
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees(" 1 scripted  2 scripted", "┃ the second", "idle")
        assert "\n┃ the first" not in again.screen
        agents = len(again.left_behind())
        again.type("\x1b1")  # Alt+1
        again.sees("┃ the first", "idle")
        assert len(again.left_behind()) > agents
        assert again.quit() == 0


RESUMES = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}}}})
LINES = "".join(f"line {number}\n" for number in range(1, 41))
CHANGED = LINES.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n")


def type_prompt(terminal: PreloadedTerminal, *steps: list[str]) -> None:
    terminal.sees("idle")
    terminal.type(f"\x1b[200~{json.dumps(steps)}\x1b[201~\r")


@pytest.mark.parametrize("worktree", [False, True], ids=["folder", "worktree"])
def test_the_review_its_decisions_and_comments_come_back(
    tmp_path: Path, home: Path, *, worktree: bool
) -> None:
    project = repository(tmp_path.resolve() / "project", {"a.txt": LINES})
    write = ["write_file", "a.txt" if worktree else str(project / "a.txt"), CHANGED]
    words = ["--command", agent("script", RESUMES), "--policy", "yolo"]
    with PreloadedTerminal(*words, *(["--worktree"] if worktree else []), cwd=project) as killed:
        if worktree:
            killed.sees("idle")
            [write[1]] = [str(path) for path in home.glob("data/worktrees/*/*/a.txt")]
        type_prompt(killed, write)
        killed.sees("The agent returned nothing")
        killed.type(F2)
        killed.sees("0 of 2 reviewed", "hunk 1 of 2")
        killed.type("y")
        killed.sees("1 of 2 reviewed")
        killed.type("c")
        killed.sees("Comment on line 30")
        killed.type("Ask first")
        killed.sees("Ask first")
        killed.type("\r")
        killed.sees("1 comment")
        killed.signal(signal.SIGKILL)
        killed.ended()
        killed.until(lambda: killed.left_behind() == [], "the end of the agent")
    fill(Path(write[1]).parent, {"later.txt": "by the user\n"})
    with PreloadedTerminal("--continue", cwd=project) as again:
        again.sees("1 file changed while the session was closed: later.txt", "idle")
        again.type(F2)
        again.sees("1 of 3 reviewed", "1 comment", "Ask first", "- line 30")
        again.type("Z")
        again.sees("0 of 3 reviewed", "- line 5")
