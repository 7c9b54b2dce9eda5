"""Commands that send each kind of content, and text that is difficult to display."""

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

from acp_tui.demo.commands.messages import sample_media, sample_texts
from acp_tui.demo.commands.slash_command import slash_command
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from acp_tui.demo.turn import ContentBlock, Turn


@slash_command("markdown", "All Markdown elements")
async def markdown(turn: Turn) -> None:
    await turn.say(sample_texts.MARKDOWN)


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
    """Send a PNG of 64 by 32 pixels."""
    picture = image_block(sample_media.gradient_png(), "image/png")
    await turn.say("A gradient:")
    await turn.send_content(picture)
    call = await ToolCall(turn, "Pretend to take a screenshot", "other").start("in_progress")
    await call.complete(content=[tool_content(picture), tool_content(text_block("The same image."))])


@slash_command("audio", "A sound")
async def audio(turn: Turn) -> None:
    """Send half a second of WAV audio."""
    await turn.say("Half a second of the note A:")
    await turn.send_content(audio_block(sample_media.tone_wav(), "audio/wav"))


@slash_command("resource", "Resources: a file link, embedded text and bytes", "[link|embedded|blob]")
async def resource(turn: Turn) -> None:
    """Send a resource of the kind given as the argument; without an argument, send one of every kind."""
    uri = (turn.cwd / "poem.md").as_uri()
    text = embedded_text_resource(
        uri, "# Poem\n\nThis file exists only in this message.\n", mime_type="text/markdown"
    )
    blocks: dict[str, ContentBlock] = {
        "link": resource_link_block(
            "README.md",
            (turn.cwd / "README.md").as_uri(),
            title="The README",
            description="A link that the client can open",
            mime_type="text/markdown",
        ),
        "embedded": resource_block(text),
        "blob": resource_block(
            embedded_blob_resource(uri + ".png", sample_media.gradient_png(), mime_type="image/png")
        ),
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
        await turn.send_content(
            TextContentBlock(
                type="text", text=text, annotations=Annotations(audience=audience, priority=priority)
            )
        )


@slash_command("unicode", "Wide, combining and right-to-left characters, emoji")
async def unicode(turn: Turn) -> None:
    """Send characters whose width is difficult to measure."""
    await turn.say(sample_texts.UNICODE)


@slash_command("escape", "Control sequences that a client must not pass to the terminal")
async def escape(turn: Turn) -> None:
    """Send control sequences: in messages with one character in each chunk, and unsplit in a tool call."""
    await turn.say("If your screen stays intact and you can read the sequences below, your client is safe.\n")
    for what, sequence in sample_texts.HOSTILE.items():
        await turn.say(f"- {what}: {sequence} (end)\n", chunking="character")
    title = f"A title with {sample_texts.HOSTILE['clear the screen']}, which must not clear the screen"
    call = ToolCall(turn, title, "other")
    await call.start("in_progress")
    await call.complete(content=[tool_content(text_block("".join(sample_texts.HOSTILE.values())))])


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
