"""What indexing and searching many recorded sessions takes.

    python -m tests.benchmarks.session_search [--sessions 1000] [--megabytes 500]

Makes session folders with texts from Python's standard library, indexes them in the background, and searches
after every key press of some queries. Prints the seconds and the size of the first index, the longest time
during it in which the event loop did not run, and the time of a search.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.session_list.index_updater import update_in_background
from acp_tui.session_list.search import SessionSearch
from acp_tui.session_list.search_index import index_file

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERIES = (
    "the parser",
    "import asyncio",
    "raise valueerror",
    "self",
    "socket timeout error",
    "zipfile",
    "def _x",
)
CHUNK = 24


def make_sessions(data: Path, count: int, total_bytes: int) -> None:
    """Write session folders of random sizes."""
    sources = [path.read_text("utf-8", "replace") for path in Path(sysconfig.get_path("stdlib")).glob("*.py")]
    text = "\n".join(sources)
    chance = random.Random(1)
    weights = [chance.lognormvariate(0, 1.2) for _ in range(count)]
    started = time.time() - count * 3600
    for number, weight in enumerate(weights):
        folder = data / "sessions" / f"20260101-000000-demo-{number:04x}"
        folder.mkdir(parents=True)
        moment = started + number * 3600
        meta = {"format": 1, "agent": "demo", "cwd": "/project", "started": moment, "updated": moment}
        (folder / "meta.json").write_text(json.dumps(meta))
        size = 0
        with (folder / "wire.jsonl").open("w") as file:
            for direction, frame in frames(text, chance):
                size += file.write(json.dumps({"t": moment, "dir": direction, "frame": frame}) + "\n")
                if size > total_bytes * weight / sum(weights):
                    break


def frames(text: str, chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Endless turns: a prompt, tool calls that read files, a streamed answer."""
    number = 0
    new: dict[str, Any] = {"cwd": "/project", "mcpServers": []}
    yield "sent", {"jsonrpc": "2.0", "id": 0, "method": "session/new", "params": new}
    yield "received", {"jsonrpc": "2.0", "id": 0, "result": {"sessionId": "s"}}
    while True:
        number += 1
        prompt = [{"type": "text", "text": piece(text, chance, 200)}]
        params: dict[str, Any] = {"sessionId": "s", "prompt": prompt}
        yield "sent", {"jsonrpc": "2.0", "id": number, "method": "session/prompt", "params": params}
        for call in range(chance.randrange(8)):
            content = [{"type": "content", "content": {"type": "text", "text": piece(text, chance, 6000)}}]
            yield update(
                sessionUpdate="tool_call",
                toolCallId=f"{number}-{call}",
                title=f"Read {piece(text, chance, 30)}",
                kind="read",
                status="completed",
                content=content,
            )
        answer = piece(text, chance, 2500)
        for at in range(0, len(answer), CHUNK):
            block = {"type": "text", "text": answer[at : at + CHUNK]}
            yield update(sessionUpdate="agent_message_chunk", content=block)
        yield "received", {"jsonrpc": "2.0", "id": number, "result": {"stopReason": "end_turn"}}


def update(**fields: Any) -> tuple[str, dict[str, Any]]:
    params = {"sessionId": "s", "update": fields}
    return "received", {"jsonrpc": "2.0", "method": "session/update", "params": params}


def piece(text: str, chance: random.Random, length: int) -> str:
    start = chance.randrange(len(text) - 2 * length)
    return text[start : start + chance.randrange(1, 2 * length)]


async def longest_stall(during: asyncio.Task[None]) -> float:
    """Return the longest time in which the event loop did not run, in seconds."""
    longest, before = 0.0, time.perf_counter()
    while not during.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before - 0.001), now
    await during
    return longest


async def index() -> None:
    """Index everything in the background."""
    began = time.perf_counter()
    stall = await longest_stall(asyncio.create_task(update_in_background(lambda _: None)))
    print(f"index: {time.perf_counter() - began:.1f} s, longest stall {stall * 1000:.0f} ms")


def main() -> None:
    """Make the sessions, index and search them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--home", help="keep the sessions and the index in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(args.home or temporary)
        os.environ["ACP_TUI_HOME"] = str(home)
        if not (home / "data").exists():
            make_sessions(home / "data", args.sessions, args.megabytes * 1_000_000)
        asyncio.run(index())
        asyncio.run(index())  # nothing has changed
        print(f"size: {index_file(home / 'cache').stat().st_size / 1e6:.0f} MB")
        search, seconds = SessionSearch(home / "cache"), []
        for query in QUERIES:
            for end in range(1, len(query) + 1):
                began = time.perf_counter()
                search.search(query[:end])
                seconds.append((time.perf_counter() - began, query[:end]))
        slowest, of = max(seconds)
        median = statistics.median(each for each, _ in seconds)
        print(f"search per key: slowest {slowest * 1000:.0f} ms ({of!r}), median {median * 1000:.0f} ms")


if __name__ == "__main__":
    main()
