"""What the user sends with a prompt, as content for the model."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from acp import schema

if TYPE_CHECKING:
    from acp.helpers import ContentBlock
    from pydantic_ai.messages import UserContent

MAX_TITLE_LENGTH = 60


def text_of(blocks: Sequence[ContentBlock]) -> str:
    """Return the text that the user has typed, without attachments."""
    texts = [block.text for block in blocks if isinstance(block, schema.TextContentBlock)]
    return " ".join(texts).strip()


def title_of(blocks: Sequence[ContentBlock]) -> str:
    """Return a title for the session, made of its first prompt."""
    text = " ".join(text_of(blocks).split()) or "Untitled"
    return text if len(text) <= MAX_TITLE_LENGTH else f"{text[: MAX_TITLE_LENGTH - 1]}…"


def user_content(blocks: Sequence[ContentBlock]) -> list[UserContent]:
    """Return the blocks of a prompt as content for the model: one text with everything, then the images."""
    from pydantic_ai.messages import BinaryContent

    texts: list[str] = []
    images: list[UserContent] = []
    for block in blocks:
        if isinstance(block, schema.TextContentBlock):
            texts.append(block.text)
        elif isinstance(block, schema.ImageContentBlock) and block.mime_type.startswith("image/"):
            if (data := _decode(block.data)) is not None:
                images.append(BinaryContent(data, media_type=block.mime_type))
        elif isinstance(block, schema.ResourceContentBlock):
            texts.append(f"[@{block.title or block.name}]({_place(block.uri)})")
        elif isinstance(block, schema.EmbeddedResourceContentBlock):
            resource = block.resource
            if isinstance(resource, schema.TextResourceContents):
                place = _place(resource.uri)
                texts.append(f'\n<attachment path="{place}">\n{resource.text}\n</attachment>\n')
            elif (resource.mime_type or "").startswith("image/") and (data := _decode(resource.blob)):
                images.append(BinaryContent(data, media_type=resource.mime_type or ""))
            else:
                texts.append(f"[@{_place(resource.uri)}: not a text, so it is not included]")
        else:
            texts.append(f"[{block.type}: not supported by this agent]")
    return ["".join(texts), *images]


def _place(uri: str) -> str:
    """Return the path of a `file` address, which is what tools take; other addresses as they are."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _decode(data: str) -> bytes | None:
    try:
        return base64.b64decode(data)
    except (binascii.Error, ValueError):
        return None
