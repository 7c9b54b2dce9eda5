"""What `replay --speed max` takes against resuming the same session.

    python -m tests.benchmarks.replay_speed

Prints CPU seconds until the end of a conversation of 86,000 frames is on the screen, and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.commands import replay
from tests.support.cli import execute_json, script
from tests.support.conversation_ui import app_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.app import AcpTui

TURNS, CHUNKS = 860, 97
PIECES = ("a word and `another` ", "of **prose**, ", "\n\n- an item ", "\n\n```python\nx = 1\n```\n\n")
LAST_WORDS = "the last words"
AGENT = script(capabilities={"sessionCapabilities": {"resume": {}}})


def frames() -> list[tuple[str, dict[str, Any]]]:
    """Prompts with streamed answers of paragraphs, lists and code."""
    made: list[tuple[str, dict[str, Any]]] = []
    for turn in range(TURNS):
        prompt = [{"type": "text", "text": f"Please look at module {turn}."}]
        call = {"jsonrpc": "2.0", "id": 1000 + turn}
        params: dict[str, Any] = {"sessionId": "session-1", "prompt": prompt}
        made.append(("sent", {**call, "method": "session/prompt", "params": params}))
        made += [("received", chunk(PIECES[number % len(PIECES)])) for number in range(CHUNKS)]
        if turn == TURNS - 1:
            made.append(("received", chunk(f"\n\n{LAST_WORDS}")))
        made.append(("received", {**call, "result": {"stopReason": "end_turn"}}))
    return made


def chunk(text: str) -> dict[str, Any]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "session-1", "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


async def shown_after(make: Callable[[], AcpTui]) -> float:
    """CPU seconds until the last words are on the screen."""
    began = time.process_time()
    app = make()
    async with app.run_test(size=(100, 30)) as pilot:
        while LAST_WORDS not in "\n".join(strip.text for strip in app.screen._compositor.render_strips()):
            await pilot.pause(0.02)
        return time.process_time() - began


def recorded(home: Path) -> Path:
    """The log of a session that can be resumed, with a long past."""
    log = Path(execute_json("hello", command=AGENT, cwd=home)["log"])
    now = time.time()
    with log.open("a", encoding="utf-8") as file:
        for number, (direction, frame) in enumerate(frames()):
            record = {"t": now + number / 100, "dir": direction, "frame": frame}
            file.write(json.dumps(record) + "\n")
    return log


def replay_of(log: Path) -> AcpTui:
    return replay.app_for(log, argparse.Namespace(speed=replay.speed("max"), theme=None))


def main() -> None:
    """Both, twice."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["ACP_TUI_HOME"] = home
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        log = recorded(Path(home))
        for _ in range(2):
            played = asyncio.run(shown_after(lambda: replay_of(log)))
            resumed = asyncio.run(
                shown_after(lambda: app_of("--resume", log.parent.name, "--command", AGENT))
            )
            print(f"replay {played:.2f} s, resume {resumed:.2f} s: {played / resumed:.1f} times")


if __name__ == "__main__":
    main()
