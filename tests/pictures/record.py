"""Records what the pictures show: `python -m tests.pictures.record` writes `demo.jsonl` anew.

Everything that would be different the next time or on another machine is made the same: paths, names, ids and
times.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.config.paths import paths
from acp_tui.controller import Answer, ElicitationAnswer, Options, Question, QuestionHandler
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from acp_tui.session.state import Elicitation

RECORDING = Path(__file__).with_name("demo.jsonl")
PROJECT = "/home/you/basket"
START = 1_767_258_000.0
UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STEP = 0.03
"""Seconds between two records: what the demo agent waits between two words."""


class Agreeing(QuestionHandler):
    """Somebody who allows everything once."""

    elicitation_modes: frozenset[str] = frozenset()

    async def ask(self, question: Question) -> Answer:
        """Yes."""
        return Answer(next(option for option in question.options if option.kind == "allow_once"))

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        """Nothing of the kind is in the tour."""
        return ElicitationAnswer("decline")


async def conversation(cwd: Path) -> None:
    """The tour."""
    bench = AppContext.open(cwd)
    held = bench.conversation(
        bench.launch("demo"), Options(cwd=cwd, policy="ask", question_handler=Agreeing())
    )
    try:
        await held.start()
        await held.open_new()
        await held.prompt([{"type": "text", "text": "tour"}])
    finally:
        await held.close()


def cleaned(lines: list[str], cwd: Path) -> list[str]:
    """The records without anything of this machine or this day."""
    clean: list[str] = []
    ids: dict[str, int] = {}
    for number, line in enumerate(lines):
        text = line.replace(str(cwd), PROJECT).replace(sys.executable, "python3")
        text = re.sub(r"demo-[0-9a-f]{12}", "demo-session", text)
        text = UUID.sub(lambda found: f"id-{ids.setdefault(found[0], len(ids) + 1)}", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-01T09:00:00Z", text)
        record = json.loads(text)
        record["t"] = round(START + number * STEP, 2)
        if isinstance(record["frame"], dict):
            record["frame"].pop("pid", None)
        clean.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    return clean


def main() -> None:
    """Record, and write the file."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"ACP_TUI_HOME": home, "ACP_TUI_DEMO_SPEED": "instant"}
        from acp_tui.demo.project.sample_project import make_project

        cwd = make_project()
        asyncio.run(conversation(cwd))
        (stored,) = list_sessions(paths().data)
        lines = stored.wire.read_text(encoding="utf-8").splitlines()
    RECORDING.write_text("\n".join(cleaned(lines, cwd)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
