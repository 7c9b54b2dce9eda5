"""Slash commands that send messages with usual and with unusual content."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import math
import struct
import sys
import uuid
import wave
import zlib
from typing import TYPE_CHECKING, Any

from acp import (
    audio_block,
    embedded_blob_resource,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
    tool_content,
)
from acp.schema import Annotations
from acp.utils import serialize_params

from acp_tui.demo.turn import ToolCall, Turn, slash_command, text_content

if TYPE_CHECKING:
    from acp.helpers import ContentBlock


# ------------------------------------------------------------------ content


@slash_command("markdown", "All Markdown elements")
async def markdown(turn: Turn) -> None:
    await turn.say(MARKDOWN)


@slash_command("thoughts", "Thoughts between messages")
async def thoughts(turn: Turn) -> None:
    """Send thoughts and messages alternately. Thoughts can contain Markdown."""
    if not turn.stored.settings.thoughts:
        await turn.say("The option `thoughts` is off, so I send none.")
        return
    await turn.think("First I *pretend* to think about the question.\n\n- one consideration\n- another\n")
    await turn.say("A first remark.\n")
    await turn.think("Then a second thought, which a client should not append to the first.")
    await turn.say("The conclusion: all of this is sample text.")


@slash_command("image", "An image, in a message and in a tool call")
async def image(turn: Turn) -> None:
    picture = image_block(gradient_png(), "image/png")
    await turn.say("A gradient:")
    await turn.send_content(picture)
    call = await ToolCall(turn, "Pretend to take a screenshot", "other").start("in_progress")
    await call.complete(content=[tool_content(picture), text_content("The same image.")])


@slash_command("audio", "A sound")
async def audio(turn: Turn) -> None:
    await turn.say("Half a second of the note A:")
    await turn.send_content(audio_block(tone_wav(), "audio/wav"))


@slash_command("resource", "Resources: a file link, embedded text and bytes", "[link|embedded|blob]")
async def resource(turn: Turn) -> None:
    """Send a resource of the kind given as the argument; without an argument, send one of every kind."""
    uri = (turn.cwd / "poem.md").as_uri()
    poem = "# Poem\n\nThis file exists only in this message.\n"
    blocks: dict[str, ContentBlock] = {
        "link": resource_link_block(
            "README.md",
            (turn.cwd / "README.md").as_uri(),
            title="The README",
            description="A link that the client can open",
            mime_type="text/markdown",
        ),
        "embedded": resource_block(embedded_text_resource(uri, poem, mime_type="text/markdown")),
        "blob": resource_block(embedded_blob_resource(uri + ".png", gradient_png(), mime_type="image/png")),
    }
    for name, block in blocks.items():
        if turn.argument in ("", name):
            await turn.say(f"A resource, {name}:")
            await turn.send_content(block)


@slash_command("annotations", "Content with an audience and a priority")
async def annotated(turn: Turn) -> None:
    """Send text for the user, for the agent and for both, with different priorities."""
    for text, audience, priority in (
        ("This is for you.", ["user"], 1.0),
        ("This is for the agent only, so a client can fold it.", ["assistant"], 0.2),
        ("This is for you and the agent, and not important.", ["user", "assistant"], 0.0),
    ):
        block = text_block(text)
        block.annotations = Annotations(audience=audience, priority=priority)
        await turn.send_content(block)


@slash_command("unicode", "Wide, combining and right-to-left characters, emoji")
async def unicode(turn: Turn) -> None:
    await turn.say(UNICODE)


@slash_command("escape", "Control sequences that a client must not pass to the terminal")
async def escape(turn: Turn) -> None:
    """Send control sequences: in messages with one character in each chunk, and unsplit in a tool call."""
    await turn.say("If your screen stays intact and you can read the sequences below, your client is safe.\n")
    for what, sequence in HOSTILE.items():
        await turn.say(f"- {what}: {sequence} (end)\n", chunking="character")
    title = f"A title with {HOSTILE['clear the screen']}, which must not clear the screen"
    call = ToolCall(turn, title, "other")
    await call.start("in_progress")
    await call.complete(content=[text_content("".join(HOSTILE.values()))])


@slash_command("echo", "Your prompt as the agent received it", "[text and attachments]")
async def echo(turn: Turn) -> None:
    """Show the content blocks of the prompt as JSON."""
    blocks = [serialize_params(block) for block in turn.blocks]
    for block in blocks:
        for part in (block, block.get("resource", {})):
            for key in ("data", "blob"):
                if key in part:
                    part[key] = f"({len(part[key])} characters of base64)"
    listing = json.dumps(blocks, indent=2, ensure_ascii=False)
    await turn.say(f"Your prompt had {len(blocks)} blocks:\n\n~~~json\n{listing}\n~~~\n")


# ------------------------------------------------------------------ unknown and invalid messages


@slash_command(
    "unknown",
    "Send messages that no version of the protocol defines",
    "[update|content|tool|status|notification|request]",
)
async def unknown(turn: Turn) -> None:
    """Send unknown updates, notifications and requests, which a client should show or at least survive."""
    smell = {"type": "_demo_smell", "smell": "coffee"}
    call = {"toolCallId": "demo-odd"}
    updates: dict[str, tuple[str, dict[str, Any]]] = {
        "update": ("_demo_mood", {"mood": "cheerful"}),
        "content": ("agent_message_chunk", {"content": smell}),
        "tool": ("tool_call", {**call, "title": "An odd tool", "kind": "_demo_kind"}),
        "status": ("tool_call_update", {**call, "status": "_demo_status"}),
    }
    for name, (kind, update) in updates.items():
        if turn.argument in ("", name):
            await turn.send_raw_update(kind, **update)
    if turn.argument in ("", "notification"):
        await turn.wire.notify("_acp-tui.demo/hello", {"greeting": "hello"})
    if turn.argument in ("", "request"):
        await turn.say("Your client should answer my next request with -32601 (method not found).\n")
        answer = await turn.client.ext_method("acp-tui.demo/ask", {"question": "how are you?"})
        await turn.say(f"Your client knew the method: `{json.dumps(answer)}`")


@slash_command("stray", "Send updates for an unannounced tool call and for an unknown session")
async def stray(turn: Turn) -> None:
    """Send updates as some agents do by mistake. The client should show them nevertheless."""
    await turn.send_raw_update(
        "tool_call_update",
        toolCallId=f"never-announced-{uuid.uuid4().hex[:8]}",
        title="A tool call that was never announced",
        status="completed",
    )
    content = {"type": "text", "text": "This message is for an unknown session."}
    await turn.send_raw_update("agent_message_chunk", session_id="no-such-session", content=content)
    await turn.say("I sent one update for an unknown tool call and one for an unknown session.")


@slash_command("noise", "Write lines to stdout that are not protocol messages")
async def noise(turn: Turn) -> None:
    """Write to stdout lines that are not messages, as a forgotten print statement would."""
    for line in ("Loading configuration...", "{broken json", '"only a string"', "[]"):
        await turn.wire.write_line(line)
    await turn.say("I wrote four invalid lines to stdout. You should still see this message.")


@slash_command("stderr", "Write to stderr", "[lines]")
async def stderr(turn: Turn) -> None:
    """Write lines to stderr, which the client must read so that the pipe does not fill up."""
    lines = turn.number(10, maximum=1_000_000)
    for line in range(1, lines + 1):
        print(f"demo: line {line} of {lines} on stderr", file=sys.stderr)
        if line % 100 == 0:
            await asyncio.sleep(0)  # let a cancel through
    sys.stderr.flush()
    await turn.say(f"I wrote {lines} lines to stderr.")


# ------------------------------------------------------------------ a sample image and a sample sound


def gradient_png(width: int = 64, height: int = 32) -> str:
    """Return a PNG of a colour gradient, as base64."""
    rows = b"".join(
        b"\0" + b"".join(bytes((255 * x // width, 255 * y // height, 160)) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return _base64(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def tone_wav(seconds: float = 0.5, pitch: float = 440.0, rate: int = 8000) -> str:
    """Return a WAV of one tone, as base64."""
    samples = (
        int(12000 * math.sin(2 * math.pi * pitch * index / rate)) for index in range(int(seconds * rate))
    )
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return _base64(file.getvalue())


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


# ------------------------------------------------------------------ texts that are difficult to render

MARKDOWN = """\
# Heading one

## Heading two

### Heading three

A paragraph with *emphasis*, **strong**, ***both***, ~~struck~~, `code`,
a [link](https://example.com "a title"), an autolink
<https://example.com/a?b=c&d=e> and a line break at the end\\
of the line. HTML such as <b>this</b> is text, &amp; so are entities.

---

- a list
  - inside a list
    - inside a list
- [ ] to do
- [x] done

3. a list that begins at three
4. with a second item

   and a second paragraph in it

> A quotation
>
> > inside a quotation

| Left | Centre | Right |
|:-----|:------:|------:|
| a | b | 1 |
| `x \\| y` | **bold** | 1,000 |
| 漢字 | 🎉 | −3.5 |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"  # a comment that is rather long, so that the line has to be scrolled or wrapped
```

```diff
- the old line
+ the new line
```

    code by indentation

~~~
a fence of tildes with ``` inside
~~~

![An image by link](https://example.com/picture.png)

Term with a footnote[^1] and a formula $e^{i\\pi} + 1 = 0$, which plain Markdown leaves alone.

[^1]: The footnote.
"""

UNICODE = """\
| What | Sample |
|---|---|
| Chinese, Japanese, Korean | 你好，世界 こんにちは 안녕하세요 |
| full and half width | ＡＢＣ ｱｲｳ |
| combining marks | e\u0301 a\u030a n\u0303 Z\u0351\u0343\u0313\u0321 |
| emoji | 😀 🎉 🚀 |
| joined emoji | 👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 |
| skin tones and flags | 👍🏽 🇳🇴 🇯🇵 |
| text or emoji | ☎ ☎\ufe0f ✔ ✔\ufe0f |
| right to left | שלום עולם مرحبا بالعالم |
| Thai, Hindi, Tamil | สวัสดี नमस्ते வணக்கம் |
| mathematics | ∀x ∈ ℝ: ⌈x⌉ = −⌊−x⌋ |
| zero width | a\u200bb\u2060c |
| ambiguous width | § ± × ÷ “ ” … |

Tabs:\tone\ttwo\tthree

A long word: Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft
"""

HOSTILE = {
    "clear the screen": "\x1b[2J\x1b[H",
    "change the colours": "\x1b[31;47mred on white",
    "set the window title": "\x1b]0;the title was changed\x07",
    "write to the clipboard": "\x1b]52;c;aGFybWxlc3M=\x07",
    "switch to the alternate screen": "\x1b[?1049h",
    "a link that lies": "\x1b]8;;https://example.com/evil\x1b\\https://example.com/good\x1b]8;;\x1b\\",
    "C1 control sequence": "\x9b2J",
    "overwrite the line": "harmless\rharmful!",
    "backspaces": "rm -rf /\b\b\b\b\b\b\b\bls      ",
    "bell": "\x07\x07\x07",
    "reverse the direction": "photo\u202egnp.exe",
    "isolate the direction": "\u2066if (admin) {\u2069 \u2067// comment",
    "invisible characters": "in\u200bvis\u2060ible\ufeff",
    "null and delete": "a\x00b\x7fc",
    "markup of a terminal library": "[bold red]not bold[/bold red] [link=https://example.com]no link[/link]",
}
