"""What comes back after `kill -9`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import agent
from tests.support.terminal import ESC, F2, F4, PROGRAM, PreloadedTerminal
from tests.support.trust_steps import restore_files, rewind_by_two_prompts
from tests.support.waiting import wait_until
from tests.workspace.projects import fill, repository

if TYPE_CHECKING:
    from tests.support.terminal import Terminal

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
        again.sees("1 later", "paused: press Enter in an empty prompt to continue", "idle")
        again.type("\x15\r")  # Ctrl+U, Enter
        again.sees("┃ later", "   later")
        assert again.quit() == 0


MODES = {
    "currentModeId": "build",
    "availableModes": [{"id": "build", "name": "Build"}, {"id": "plan", "name": "Plan"}],
}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
SETTABLE = OFFERS | {"session": {"modes": MODES, "configOptions": [FAST]}}


def kill(terminal: PreloadedTerminal) -> None:
    """Kill the program, and wait for the end of its agents."""
    terminal.signal(signal.SIGKILL)
    terminal.ended()
    terminal.until(lambda: terminal.left_behind() == [], "the end of the agents")


def test_a_mode_and_an_option_come_back(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", agent("script", json.dumps(SETTABLE)), cwd=tmp_path) as killed:
        killed.sees("Build", "idle")
        killed.type("hello\r")
        killed.sees("   hello", "idle")
        killed.type("\x1b[Z")  # Shift+Tab
        killed.sees("Plan")
        killed.type("\x0f")  # Ctrl+O
        killed.sees("Fast")
        killed.type("Fast\r")
        killed.sees("Fast: on")
        kill(killed)
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees("mode: Plan", "Fast: on", "idle")
        assert again.quit() == 0


def test_a_prompt_that_was_only_queued_comes_back(tmp_path: Path, home: Path) -> None:
    with PreloadedTerminal("--command", "sleep 3600", cwd=tmp_path) as killed:
        killed.sees("starting")
        killed.type("only queued\r")
        killed.sees("1 only queued")
        kill(killed)
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees("1 only queued")


def configure_agent(home: Path) -> None:
    """Make the scripted agent known as "mine"."""
    command = [sys.executable, "-m", "tests.fake_agents.script", json.dumps(OFFERS)]
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(f"[agents.mine]\ncommand = {json.dumps(command)}\n")


def open_tab(terminal: Terminal, strip: str) -> None:
    """Open another tab with the agent "mine". `strip` is in the row of tabs afterwards."""
    terminal.type("\x14")  # Ctrl+T
    terminal.sees("type to filter", "mine")
    terminal.type("mine")
    terminal.sees("❯   mine")
    terminal.type("\r")
    terminal.sees(strip, "idle")


def test_tabs_come_back_with_continue_and_start_their_agents_when_visited(tmp_path: Path, home: Path) -> None:
    configure_agent(home)
    with PreloadedTerminal("mine", cwd=tmp_path) as killed:
        killed.sees("idle")
        killed.type("the first\r")
        killed.sees("   the first")
        open_tab(killed, " 1 scripted  2 scripted")
        killed.type("the second\r")
        killed.sees("   the second")
        saved = home / "state" / "open-tabs"
        killed.until(lambda: sum(file.read_text().count("session") for file in saved.glob("*.json")) == 2)
        killed.signal(signal.SIGKILL)
        killed.ended()
        killed.until(lambda: killed.left_behind() == [], "the end of the agents")
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees(" 1 the first  2 the second", "┃ the second", "idle")
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


def test_a_rewind_can_be_undone(tmp_path: Path, home: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a.txt": LINES, "b.txt": "b\n"})
    with PreloadedTerminal("--command", agent("script", RESUMES), "--policy", "yolo", cwd=project) as killed:
        for name in ("a.txt", "b.txt"):
            type_prompt(killed, ["write_file", str(project / name), CHANGED], ["say", f"see {name}"])
            killed.sees(f"   see {name}", "idle")
        rewind_by_two_prompts(killed, "files")
        restore_files(killed, "a.txt", "b.txt")
        killed.sees("Restored 2 files to before prompt 1.")
        kill(killed)
    assert (project / "a.txt").read_text() == LINES
    with PreloadedTerminal("--continue", cwd=project) as again:
        again.sees("Restored 2 files to before prompt 1.", "idle")
        again.type("\x1f")  # Ctrl+_
        again.sees("The last rewind was undone: 2 files.")
        assert [(project / name).read_text() for name in ("a.txt", "b.txt")] == [CHANGED, CHANGED]


def test_a_tab_with_only_a_comment_comes_back(tmp_path: Path, home: Path) -> None:
    configure_agent(home)
    project = repository(tmp_path / "shop", {"a.txt": LINES})
    with PreloadedTerminal("mine", cwd=project) as killed:
        killed.sees("idle")
        killed.type("the first\r")
        killed.sees("   the first")
        open_tab(killed, " 1 scripted  2 scripted")
        snapshots = "data/sessions/*/baseline.git/acp-tui/snapshot.json"
        killed.until(lambda: len([*home.glob(snapshots)]) == 2, "the copies of the files")
        fill(project, {"a.txt": CHANGED})
        killed.type(F2)
        killed.sees("0 of 2 reviewed", "hunk 1 of 2")
        killed.type("c")
        killed.sees("Comment on line 5")
        killed.type("Why five?\r")
        killed.sees("1 comment")
        kill(killed)
    with PreloadedTerminal("--continue", cwd=project) as again:
        again.sees(" 1 the first  2 Review comments", "idle")
        again.type(F2)
        again.sees("0 of 2 reviewed", "1 comment", "Why five?")


def test_a_fork_comes_back_beside_the_original(tmp_path: Path, home: Path) -> None:
    offered = SETTABLE | {"capabilities": {"sessionCapabilities": {"resume": {}, "fork": {}}}}
    project = repository(tmp_path.resolve() / "project", {"a.txt": LINES})
    command = agent("script", json.dumps(offered))
    with PreloadedTerminal("--command", command, "--policy", "yolo", cwd=project) as killed:
        type_prompt(killed, ["write_file", str(project / "a.txt"), CHANGED])
        killed.sees("The agent returned nothing")
        killed.type("\x1b[Z")  # Shift+Tab
        killed.sees("Plan")
        killed.type(F2)
        killed.sees("0 of 2 reviewed")
        killed.type("y")
        killed.sees("1 of 2 reviewed")
        killed.type("c")
        killed.sees("Comment on line 30")
        killed.type("Ask first\r")
        killed.sees("1 comment")
        killed.type(f"{ESC}")
        killed.sees("Plan")
        killed.type(F4)
        killed.sees("F7 fork")
        killed.type("\x1b[18~")  # F7
        killed.sees("continues in a fork", "Plan", "idle")
        killed.type("half a thought")
        drafts = home / "state" / "drafts.jsonl"
        killed.until(lambda: drafts.exists() and '"half a thought"' in drafts.read_text(), "the draft")
        kill(killed)
    with PreloadedTerminal("--continue", cwd=project) as again:
        again.sees("continues in a fork", "Plan", "❯ half a thought", "idle")
        again.type(F2)
        again.sees("1 of 2 reviewed", "1 comment", "Ask first", "- line 30")
        again.type("Z")
        again.sees("0 of 2 reviewed", "- line 5")


def test_a_draft_typed_before_the_screen_appears_comes_back(tmp_path: Path, home: Path) -> None:
    drafts = home / "state" / "drafts.jsonl"
    with PreloadedTerminal("--command", "sleep 3600", cwd=tmp_path) as killed:
        killed.type("half a thought")
        killed.until(lambda: drafts.exists() and '"half a thought"' in drafts.read_text(), "the draft")
        kill(killed)
    with PreloadedTerminal("--continue", cwd=tmp_path) as again:
        again.sees("❯ half a thought")


@pytest.mark.parametrize("end", ["kill -9", "quit"])
def test_tabs_with_a_draft_a_command_or_a_worktree_come_back(end: str, tmp_path: Path, home: Path) -> None:
    configure_agent(home)
    project = repository(tmp_path / "shop", {"basket.py": "total = 0\n"})
    with PreloadedTerminal("mine", "--worktree-name", "basket", cwd=project) as ended:
        ended.sees("idle")
        ended.type("!echo half > new.txt\r")
        ended.until(lambda: any(home.glob("data/worktrees/*/basket/new.txt")), "the file")
        open_tab(ended, " 1 basket  2 mine-")
        ended.type("!echo $((40 + 2))\r")
        ended.sees("42")
        open_tab(ended, " 3 mine-")
        ended.type("half a thought")
        drafts = home / "state" / "drafts.jsonl"
        ended.until(lambda: drafts.exists() and '"half a thought"' in drafts.read_text(), "the draft")
        if end == "quit":
            ended.type("\x11")  # Ctrl+Q
            ended.sees("Keep the worktree")
            pressed_at = time.monotonic()

            def answered() -> bool:
                """Press Enter again and again: the question ignores keys that come too early."""
                nonlocal pressed_at
                if time.monotonic() - pressed_at > 1:
                    ended.type("\r")
                    pressed_at = time.monotonic()
                return "Keep the worktree" not in ended.screen

            ended.until(answered)
        else:
            ended.signal(signal.SIGKILL)
        ended.ended()
        ended.until(lambda: ended.left_behind() == [], "the end of the agents")
    assert listed_titles(project) == {"!echo half > new.txt", "!echo $((40 + 2))", "half a thought"}
    with PreloadedTerminal("--continue", cwd=project) as again:
        again.sees(
            "1 !echo half > new.txt  2 !echo $((40 + 2))  3 half a thought", "❯ half a thought", "idle"
        )
        again.type(F4)
        again.sees("  !echo half > new.txt", "  !echo $((40 + 2))", "● half a thought")


def listed_titles(project: Path) -> set[str]:
    """Return the titles that `acp-tui sessions list` prints."""
    done = subprocess.run(
        [PROGRAM, "sessions", "list"], cwd=project, capture_output=True, text=True, check=True
    )
    heading, *rows = done.stdout.splitlines()
    return {row[heading.index("TITLE") :].strip() for row in rows}


def test_a_run_that_is_ending_is_waited_for(tmp_path: Path, home: Path) -> None:
    command = agent("faulty", "ignores_sigterm_and_end_of_input")
    with PreloadedTerminal("--command", command, cwd=tmp_path) as ending:
        ending.sees("idle")
        ending.type("half a thought")
        drafts = home / "state" / "drafts.jsonl"
        ending.until(lambda: drafts.exists() and '"half a thought"' in drafts.read_text(), "the draft")
        ending.hang_up()
        marked = home / "data" / "sessions"
        wait_until(lambda: any(marked.glob("*/closing")))
        with PreloadedTerminal("--continue", cwd=tmp_path) as again:
            again.sees("❯ half a thought")


def test_nothing_stays_in_the_temporary_directories(tmp_path: Path, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text("own_server.enabled = true\n")
    project = repository(tmp_path / "shop", {"basket.py": "total = 0\n"})
    (temporary := tmp_path / "temporary").mkdir()
    (runtime := tmp_path / "runtime").mkdir()
    folders = {"TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(runtime)}
    command = agent("script", json.dumps(OFFERS))
    with PreloadedTerminal("--command", command, "--no-log", cwd=project, **folders) as killed:
        killed.sees("idle")
        killed.until(lambda: any(temporary.glob("*/baseline.git")), "the copies")
        killed.until(lambda: any((tmp_path).glob("*/*/app.sock")), "the socket")
        killed.signal(signal.SIGKILL)
        killed.ended()
        killed.until(lambda: [*temporary.iterdir(), *runtime.iterdir()] == [], "empty folders")
