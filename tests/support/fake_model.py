"""Runs the server of `tests/fake_models` in a process, and reads what it was asked."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]


@dataclass
class FakeModel:
    """A running server.

    Attributes:
        url: The base URL, with `/v1`.
    """

    url: str
    log: Path

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of the requests for an answer."""
        return [record["body"] for record in self.records() if record.get("path") == "/v1/chat/completions"]

    def headers(self) -> list[dict[str, str]]:
        """The headers of all requests."""
        return [record["headers"] for record in self.records() if "headers" in record]

    def ends(self) -> list[str]:
        """How the requests for an answer have ended so far: `done`, or `left` by the client."""
        records = self.records()
        asked = {one["number"] for one in records if one.get("path") == "/v1/chat/completions"}
        return [one["end"] for one in records if "end" in one and one["number"] in asked]


@contextmanager
def fake_model(folder: Path, *answers: Any, port: int = 0, **script: Any) -> Iterator[FakeModel]:
    """Run a server with these answers. `tests/fake_models/server.py` says what answers and scripts contain.

    Args:
        folder: For the script and the log.
        port: A certain port, or 0 for any.
    """
    number = len(list(folder.glob("model-*.json")))
    path, log = folder / f"model-{number}.json", folder / f"model-{number}.log"
    path.write_text(json.dumps({"answers": answers, **script}), encoding="utf-8")
    log.touch()
    command = [sys.executable, "-m", "tests.fake_models", "--port", str(port)]
    command += ["--script", str(path), "--log", str(log)]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield FakeModel(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", log)
        finally:
            process.kill()
