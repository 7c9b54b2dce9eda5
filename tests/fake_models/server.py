"""A server with an OpenAI-compatible API whose answers are written in a file.

The script is a JSON object:

- `answers`: answers in turn, one for each request.
- `rules`: answers to certain messages, tried first and as often as they fit:
  `{"when": REGEX, "role": "user" or "tool", "answer": …}`. The expression is searched in the last message;
  `{1}` in the answer is its first group.
- `models`: the rows of `/v1/models`. `paths`: bodies of other addresses, such as `/props`.
- `refuse_tools`, `refuse_images`: the body of the 400 that answers requests with tools or images.
- `context`: longer requests are refused with a 400, at four letters to a token.
- `key`: the key that requests must carry.

An answer is a text, or an object with any of:

- `text`, `thought` (in the field `thought_field`), `calls`: `[{"name", "arguments", "id"}]`, where
  arguments can also be a text that is not JSON. The name `*search` is the first tool that ends so.
  Calls are XML in the text if the request has no tools, or `xml` says so. `repeat`: how often the text comes.
- `piece`: letters in each chunk (8). `together`: chunks in each write (1). `delay`: seconds between writes.
- `first_delay`: seconds before the status. `hang`: after how many chunks nothing more is sent.
- `status`, `headers`, `body`: an answer that is not a stream.
- `disconnect`: after how many chunks the connection is cut, in the middle of the next one.
- `usage`: what is counted, or null for nothing. `finish`: the reason to stop, or null for none.
- `same_index`: all calls have the index 0. `raw`: lines that are sent as they are.

Each request is a line in the log: number, path, headers, body. A second line says how it has ended:
`done`, or `left` by the client.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

MODELS = [{"id": "fake-model", "object": "model", "owned_by": "tests", "max_model_len": 32768}]


class FakeServer:
    def __init__(self, script: dict[str, Any], log: Path) -> None:
        self._script = script
        self._answers = list(script.get("answers", []))
        self._log = log.open("a", encoding="utf-8")
        self._number = 0

    def write_log(self, **record: Any) -> None:
        self._log.write(json.dumps(record) + "\n")
        self._log.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of a connection."""
        try:
            await self._serve_request(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode()
        if not line:
            return
        method, path, _ = line.split(" ", 2)
        headers: dict[str, str] = {}
        while (line := (await reader.readline()).decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        body = json.loads(data) if data else None
        self._number += 1
        number = self._number
        self.write_log(number=number, method=method, path=path, headers=headers, body=body)
        # A client that goes away shows as the end of what it sends.
        gone = asyncio.create_task(reader.read(1))
        work = asyncio.create_task(self._answer(path, headers, body, writer))
        await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        is_done = work.done() and work.exception() is None
        self.write_log(number=number, end="done" if is_done else "left")
        for task in (gone, work):
            task.cancel()

    async def _answer(
        self, path: str, headers: dict[str, str], body: Any, writer: asyncio.StreamWriter
    ) -> None:
        key = self._script.get("key")
        if key and headers.get("authorization") != f"Bearer {key}":
            return await _send_json(writer, 401, {"error": {"message": "Incorrect API key provided"}})
        if path.startswith("/v1/models"):
            return await _send_json(writer, 200, {"data": self._script.get("models", MODELS)})
        if path in self._script.get("paths", {}):
            return await _send_json(writer, 200, self._script["paths"][path])
        if path != "/v1/chat/completions":
            return await _send_json(writer, 404, {"error": {"message": "Not found"}})
        if (refusal := self._refusal(body)) is not None:
            return await _send_json(writer, 400, refusal)
        return await _send_answer(writer, self._choose(body), body)

    def _refusal(self, body: dict[str, Any]) -> Any:
        text = json.dumps(body["messages"])
        if body.get("tools") and "refuse_tools" in self._script:
            return self._script["refuse_tools"]
        if '"image_url"' in text and "refuse_images" in self._script:
            return self._script["refuse_images"]
        if len(text) / 4 > self._script.get("context", 1 << 40):
            return {
                "error": {
                    "message": f"This model's maximum context length is {self._script['context']} tokens",
                    "code": "context_length_exceeded",
                }
            }
        return None

    def _choose(self, body: dict[str, Any]) -> dict[str, Any]:
        last = body["messages"][-1]
        text = _text(last.get("content"))
        is_result = last["role"] == "tool" or text.startswith("[Result of ")
        for rule in self._script.get("rules", []):
            if rule.get("role", "tool" if is_result else "user") != ("tool" if is_result else "user"):
                continue
            if match := re.search(rule["when"], text, re.DOTALL):
                return _as_answer(_expand(rule["answer"], match))
        return _as_answer(self._answers.pop(0) if self._answers else "I have nothing to add.")


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return str(content or "")


def _expand(value: Any, match: re.Match[str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\d)\}", lambda number: match[int(number[1])] or "", value)
    if isinstance(value, list):
        return [_expand(item, match) for item in value]
    if isinstance(value, dict):
        return {name: _expand(item, match) for name, item in value.items()}
    return value


def _as_answer(answer: Any) -> dict[str, Any]:
    return {"text": answer} if isinstance(answer, str) else answer


async def _send_json(
    writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    lines = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "close", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} Answer\r\n{head}\r\n".encode() + data)
    await writer.drain()


async def _send_answer(writer: asyncio.StreamWriter, answer: dict[str, Any], body: Any) -> None:
    await asyncio.sleep(answer.get("first_delay", 0))
    if "status" in answer or "body" in answer:
        status = answer.get("status", 200)
        await _send_json(writer, status, answer.get("body", {}), answer.get("headers"))
        return
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
        b"Connection: close\r\n\r\n"
    )
    lines = answer.get("raw") or [f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(answer, body)]
    if "raw" not in answer:
        lines.append("data: [DONE]\n\n")
    together = answer.get("together", 1)
    for start in range(0, len(lines), together):
        if start >= answer.get("hang", len(lines)):
            await asyncio.Event().wait()
        data = "".join(lines[start : start + together]).encode()
        if start >= answer.get("disconnect", len(lines)):
            writer.write(b"%x\r\n%s" % (len(data), data[: len(data) // 2]))
            await writer.drain()
            return
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        if "delay" in answer:
            await asyncio.sleep(answer["delay"])
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _chunks(answer: dict[str, Any], body: Any) -> list[dict[str, Any]]:
    size = answer.get("piece", 8)
    calls = [{**call, "name": _tool_name(call["name"], body)} for call in answer.get("calls", [])]
    text = answer.get("text", "") * answer.get("repeat", 1)
    if answer.get("xml", not body.get("tools")):
        text += "".join(_as_xml(call) for call in calls)
        calls = []
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    field = answer.get("thought_field", "reasoning_content")
    deltas += [{field: piece} for piece in _pieces(answer.get("thought", ""), size)]
    deltas += [{"content": piece} for piece in _pieces(text, size)]
    for number, call in enumerate(calls):
        index = 0 if answer.get("same_index") else number
        arguments = call.get("arguments", {})
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call_id = call.get("id", f"call_{number}")
        begin = {"index": index, "id": call_id, "type": "function"}
        deltas.append({"tool_calls": [{**begin, "function": {"name": call["name"], "arguments": ""}}]})
        for piece in _pieces(raw, size):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    head = {"id": "answer", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
    finish = answer.get("finish", "tool_calls" if calls else "stop")
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    counted = {
        "prompt_tokens": len(json.dumps(body)) // 4,
        "completion_tokens": max(1, len(json.dumps(answer)) // 4),
    }
    usage = answer.get("usage", counted)
    if usage is not None:
        chunks.append({**head, "choices": [], "usage": usage})
    return chunks


def _tool_name(name: str, body: Any) -> str:
    """Return the name of the tool that is meant by `*END`."""
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    end = name.removeprefix("*")
    return next((each for each in names if each.endswith(end)), end) if name.startswith("*") else name


def _as_xml(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", {})
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return (
        f"\n<use_mcp_tool>\n<server_name>{call.get('server', 'local')}</server_name>\n"
        f"<tool_name>{call['name']}</tool_name>\n<arguments>\n{raw}\n</arguments>\n</use_mcp_tool>\n"
    )


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    fake = FakeServer(json.loads(options.script.read_text(encoding="utf-8")), options.log)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", options.port, limit=1 << 26)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Ends with the process that has started it.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
