"""The prompts sent in a project, for recall with the arrow keys."""

from __future__ import annotations

import hashlib
import re
from functools import partial
from pathlib import Path

from acp_tui.store.json_lines_file import JsonLinesFile, latest_of_each

_last_of_each = partial(latest_of_each, key="text", content="text")


class History:
    """The prompt history of one project folder, shared by all agents."""

    def __init__(self, state_dir: Path, project: str) -> None:
        path = state_dir / "history" / f"{_file_name(project)}.jsonl"
        self._lines = JsonLinesFile(path, condense=_last_of_each)

    def add(self, text: str, at: float) -> None:
        """Save a prompt. Raises `OSError`."""
        self._lines.append({"t": at, "text": text})

    def entries(self) -> list[str]:
        """Return the prompts, the latest last. Of equal prompts, only the latest is returned."""
        return [record["text"] for record in _last_of_each(self._lines.read())]


def _file_name(project: str) -> str:
    """Return a name for the history file: the name of the project's folder plus a hash of `project`."""
    name = re.sub("[^A-Za-z0-9._-]+", "-", Path(project).name)[:40] or "root"
    return f"{name.lstrip('.')}-{hashlib.sha256(project.encode(errors='surrogatepass')).hexdigest()[:12]}"
