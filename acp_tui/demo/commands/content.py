"""Commands that show kinds of content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
from acp.schema import Annotations, TextContentBlock
from acp.utils import serialize_params

from acp_tui.demo import media, texts
from acp_tui.demo.commands.registry import slash_command
from acp_tui.demo.tool_call import ToolCall

if TYPE_CHECKING:
    from acp_tui.demo.turn import ContentBlock, Turn


@slash_command("markdown", "Everything that Markdown has")
async def markdown(turn: Turn) -> None:
    """Headings, lists, tables, code …"""
    await turn.say(texts.MARKDOWN)


@slash_command("thoughts", "Thinking aloud, between words")
async def thoughts(turn: Turn) -> None:
    """Thoughts and messages in turn; a thought has Markdown too."""
    if not turn.stored.settings.thoughts:
        await turn.say("The option `thoughts` is off, so I think in silence.")
        return
    await turn.think("First I *pretend* to think about the question.\n\n- one consideration\n- another\n")
    await turn.say("A first remark.\n")
    await turn.think("Then a second thought, which a client should not glue to the first.")
    await turn.say("And the conclusion: none of this was thought by anybody.")


@slash_command("image", "A picture, in a message and in a tool call")
async def image(turn: Turn) -> None:
    """A PNG of 64 by 32 pixels."""
    picture = image_block(media.gradient_png(), "image/png")
    await turn.say("A gradient:")
    await turn.show(picture)
    call = await ToolCall(turn, "Pretend to take a screenshot", "other").start("in_progress")
    await call.done(content=[tool_content(picture), tool_content(text_block("The same picture."))])


@slash_command("audio", "A sound")
async def audio(turn: Turn) -> None:
    """A WAV of half a second."""
    await turn.say("Half a second of the note A:")
    await turn.show(audio_block(media.tone_wav(), "audio/wav"))


@slash_command("resource", "A link to a file, a file inside the message, or bytes", "[link|embedded|blob]")
async def resource(turn: Turn) -> None:
    """All three when none is named."""
    uri = (turn.cwd / "poem.md").as_uri()
    text = embedded_text_resource(
        uri, "# Poem\n\nThis file exists only in this message.\n", mime_type="text/markdown"
    )
    blocks: dict[str, ContentBlock] = {
        "link": resource_link_block(
            "README.md",
            (turn.cwd / "README.md").as_uri(),
            title="The README",
            description="A link; the client may open it",
            mime_type="text/markdown",
        ),
        "embedded": resource_block(text),
        "blob": resource_block(
            embedded_blob_resource(uri + ".png", media.gradient_png(), mime_type="image/png")
        ),
    }
    for name, block in blocks.items():
        if turn.argument in ("", name):
            await turn.say(f"A resource, {name}:")
            await turn.show(block)


@slash_command("annotations", "Content that says whom it is for, and how much it matters")
async def annotated(turn: Turn) -> None:
    """`audience` names who should see a piece, `priority` how much it matters."""
    for text, audience, priority in (
        ("This is for you.", ["user"], 1.0),
        ("This is for the agent only; a client folds it.", ["assistant"], 0.2),
        ("This is for both, and matters little.", ["user", "assistant"], 0.0),
    ):
        await turn.show(
            TextContentBlock(
                type="text", text=text, annotations=Annotations(audience=audience, priority=priority)
            )
        )


@slash_command("unicode", "Wide, combining and right-to-left characters, emoji")
async def unicode(turn: Turn) -> None:
    """What makes columns go astray."""
    await turn.say(texts.UNICODE)


@slash_command("escape", "Hostile text: a client must not obey it")
async def escape(turn: Turn) -> None:
    """One character at a time, so that every sequence is cut in its middle."""
    await turn.say(
        "If your screen stays as it is and you can read the sequences below, your client is safe.\n"
    )
    for what, sequence in texts.HOSTILE.items():
        await turn.say(f"- {what}: {sequence} (end)\n", by="character")
    call = ToolCall(turn, f"A title {texts.HOSTILE['clear the screen']} that clears", "other")
    await call.start("in_progress")
    await call.done(content=[tool_content(text_block("".join(texts.HOSTILE.values())))])


@slash_command("echo", "What reached the agent of your prompt", "[anything, with attachments]")
async def echo(turn: Turn) -> None:
    """Files, pictures and mentions, as they came."""
    blocks = [serialize_params(block) for block in turn.blocks]
    for block in blocks:
        for holder in (block, block.get("resource", {})):
            for key in ("data", "blob"):
                if key in holder:
                    holder[key] = f"({len(holder[key])} characters of base64)"
    listing = json.dumps(blocks, indent=2, ensure_ascii=False)
    await turn.say(f"Your prompt had {len(blocks)} blocks:\n\n~~~json\n{listing}\n~~~\n")
