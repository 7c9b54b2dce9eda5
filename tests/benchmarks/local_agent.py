"""How quickly the built-in agent passes on what a model writes, and what it needs for that.

    python -m tests.benchmarks.local_agent [CHUNKS]

Prints the time until `initialize` is answered, the memory after one turn, the time from the first byte of the
model's answer to the first update (median of 20 turns), and how far the agent is behind a model that writes
2,000 chunks a second.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.local_agent import CAPABILITIES, LocalAgentClient, local_agent

CHUNKS = 6_000
CHUNKS_PER_SECOND = 2_000
TURNS = 20


class ModelServer:
    """Answers each request with a stream of chunks, and notes when the first and the last have left."""

    def __init__(self) -> None:
        self.chunks = 1
        self.began = self.ended = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            (line for line in head.lower().split("\r\n") if line.startswith("content-length")), ":0"
        )
        await reader.readexactly(int(length.partition(":")[2]))
        if " /v1/models" in head:
            body = json.dumps({"data": [{"id": "fake-model", "max_model_len": 200_000}]}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        elif " /v1/chat/completions" in head:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            await writer.drain()
            await self._write_chunks(writer)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def _write_chunks(self, writer: asyncio.StreamWriter) -> None:
        self.began = time.perf_counter()
        for number in range(self.chunks):
            writer.write(_event({"content": f"word{number} "}))
            due = self.began + number / CHUNKS_PER_SECOND
            if (delay := due - time.perf_counter()) > 0:
                await asyncio.sleep(delay)
        self.ended = time.perf_counter()
        writer.write(_event({}, finish="stop") + b"data: [DONE]\n\n")


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def main(chunks: int) -> None:
    server = ModelServer()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        began = time.perf_counter()
        async with local_agent(root, url) as client:
            await client.initialize(CAPABILITIES)
            print(f"initialize answered after {time.perf_counter() - began:.2f} s")
            began = time.perf_counter()
            session = await client.open_session()
            print(f"session/new answered after {time.perf_counter() - began:.2f} s more")
            delays = [await _first_update(client, session, server) for _ in range(TURNS)]
            print(f"memory after {TURNS} turns: {_peak_memory(client):.0f} MB at most")
            print(f"first byte to first update: median {1000 * statistics.median(delays):.1f} ms")
            await _flood(client, session, server, chunks)
    listener.close()


async def _first_update(client: LocalAgentClient, session: str, server: ModelServer) -> float:
    client.frames.clear()
    _, answer = client.start_prompt(session, "Hello")
    await client.until(lambda: client.updates("agent_message_chunk"))
    delay = time.perf_counter() - server.began
    await answer
    return delay


async def _flood(client: LocalAgentClient, session: str, server: ModelServer, chunks: int) -> None:
    server.chunks = chunks
    client.frames.clear()
    await client.prompt(session, "Much")
    behind = time.perf_counter() - server.ended
    print(
        f"{chunks:,} chunks in {server.ended - server.began:.2f} s: {behind:.2f} s behind at the end,"
        f" {len(client.updates('agent_message_chunk')):,} updates"
    )


def _peak_memory(client: LocalAgentClient) -> float:
    status = Path(f"/proc/{client.process.pid}/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS))
