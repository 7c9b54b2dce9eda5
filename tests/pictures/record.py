"""Records the session in the pictures: `python -m tests.pictures.record` writes `demo.jsonl`.

Paths, names, ids and times that depend on the run or the machine are replaced by fixed ones.
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
from acp_tui.controller import Answer, Options, Question, QuestionHandler
from acp_tui.schema_form.values import FormAnswer
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from acp_tui.session.state import Elicitation

RECORDING = Path(__file__).with_name("demo.jsonl")
PROJECT = "/home/you/basket"
START = 1_767_258_000.0
RANDOM_ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|call-[0-9a-f]{8}")
SECONDS_PER_RECORD = 0.03
"""The pause of the demo agent between two words."""


class AllowOnce(QuestionHandler):
    """Allows every request once."""

    async def ask(self, question: Question) -> Answer:
        """Choose the option that allows once."""
        return Answer(next(option for option in question.options if option.kind == "allow_once"))

    async def elicit(self, elicitation: Elicitation) -> FormAnswer:
        """Decline; the tour sends no elicitations."""
        return FormAnswer("decline")


async def run_tour(cwd: Path) -> None:
    """Run the demo's tour, which is recorded as any session."""
    app_context = AppContext.open(cwd)
    conversation = app_context.conversation(
        app_context.launch("demo"), Options(cwd=cwd, policy="ask", question_handler=AllowOnce())
    )
    try:
        await conversation.start()
        await conversation.open_new()
        await conversation.prompt([{"type": "text", "text": "tour"}])
    finally:
        await conversation.close()


def normalize(lines: list[str], cwd: Path) -> list[str]:
    """Replace everything in the records that depends on the run or the machine."""
    normalized: list[str] = []
    ids: dict[str, int] = {}
    for number, line in enumerate(lines):
        text = line.replace(str(cwd), PROJECT).replace(sys.executable, "python3")
        text = re.sub(r"demo-[0-9a-f]{12}", "demo-session", text)
        text = RANDOM_ID.sub(lambda found: f"id-{ids.setdefault(found[0], len(ids) + 1)}", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-01T09:00:00Z", text)
        record = json.loads(text)
        record["t"] = round(START + number * SECONDS_PER_RECORD, 2)
        if isinstance(record["frame"], dict):
            for varying in ("pid", "waited"):
                record["frame"].pop(varying, None)
        normalized.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    return normalized


def main() -> None:
    """Record the tour and write the file."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"ACP_TUI_HOME": home, "ACP_TUI_DEMO_SPEED": "instant"}
        from acp_tui.demo.sample_project import make_project

        cwd = make_project()
        asyncio.run(run_tour(cwd))
        (stored,) = list_sessions(paths().data)
        lines = stored.wire.read_text(encoding="utf-8").splitlines()
    RECORDING.write_text("\n".join(normalize(lines, cwd)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
