"""From what the user attached to a prompt to the content blocks that an agent takes.

Files are read when the prompt is sent. A text goes as an embedded resource, an image as an image, where the
agent takes these; anything else, and folders, as a link. Nothing is attached by half: what cannot be attached
as it was meant is told in a sentence, and the prompt is not sent.
"""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from acp_tui.errors import Refusal, UserError
from acp_tui.session.attachment import OUTPUT_SCHEME, CommandOutput, FileMention, Picture
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from acp_tui.session.attachment import Attachment
    from acp_tui.session.state import Agent
    from acp_tui.workspace.files.file_access import FileAccess, ReadHandle

    Block = dict[str, Any]
    Confirm = Callable[[str], Awaitable[bool]]
    """Asks the user a question that has a yes and a no."""

TEXT_LIMIT = 1_000_000
IMAGE_LIMIT = 10_000_000
"""Bytes of one attachment."""

_SNIFFED = 8000
_TEXTS = frozenset({"application/json", "application/xml", "application/toml", "image/svg+xml"})


class PromptBlockBuilder:
    """Makes the blocks of prompts in one workspace."""

    def __init__(self, files: FileAccess, agent: Callable[[], Agent | None]) -> None:
        self._files = files
        self._agent = agent

    async def blocks(self, text: str, attachments: Iterable[Attachment], confirm: Confirm) -> list[Block]:
        """The text, and a block for each attachment. `UserError`: one of them cannot be attached."""
        blocks: list[Block] = [{"type": "text", "text": text}]
        for attachment in dict.fromkeys(attachments):
            match attachment:
                case FileMention():
                    block = await self._file(attachment, confirm)
                case Picture():
                    block = _image(attachment.token, attachment.data, attachment.mime)
                case CommandOutput():
                    address = f"{OUTPUT_SCHEME}{quote(attachment.command)}"
                    block = _resource(address, attachment.text, "text/plain")
            blocks.append(block)
        return adapt_blocks(blocks, self._agent())

    async def _file(self, mention: FileMention, confirm: Confirm) -> Block:
        # Not with `Path`, which makes `~x` of `./~x` and fails when there is no such user.
        path = os.path.expanduser(mention.path)  # noqa: PTH111
        path = os.path.normpath(os.path.join(self._files.roots.cwd, path))  # noqa: PTH118
        try:
            if await asyncio.to_thread(os.path.isdir, path):
                return await self._folder(mention, path, confirm)
            with await asyncio.to_thread(self._files.open_for_reading, path) as reading:
                await _ask(mention.token, reading.real, reading.inside, reading.sensitive, confirm)
                return await asyncio.to_thread(self._content, mention, path, reading)
        except Refusal as refusal:
            why = visible_line(refusal.message)
            raise UserError(f"{mention.token} cannot be attached: {why}.") from None

    async def _folder(self, mention: FileMention, path: str, confirm: Confirm) -> Block:
        if mention.first is not None:
            raise UserError(f"{mention.token} cannot be attached: a folder has no lines.")
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        why = self._files.sensitive(real) or self._files.sensitive(path)
        await _ask(mention.token, real, self._files.roots.contains(real), why, confirm)
        return {"type": "resource_link", "uri": f"{_address(path)}/", "name": f"{Path(path).name}/"}

    def _content(self, mention: FileMention, path: str, reading: ReadHandle) -> Block:
        """What is in the file, as far as the agent takes it."""
        agent = self._agent()
        if mention.first is not None and mention.last is not None:
            return _lines(mention.token, mention.first, mention.last, path, reading)
        start = reading.data(_SNIFFED)
        mime = image_type(start)
        if mime is not None and accepts(agent, "image"):
            if reading.size > IMAGE_LIMIT:
                raise _too_large(mention.token, reading.size, IMAGE_LIMIT, "an image")
            return _image(mention.token, reading.data(IMAGE_LIMIT + 1), mime) | {"uri": _address(path)}
        if mime is None and b"\0" not in start and accepts(agent, "embeddedContext"):
            if reading.size > TEXT_LIMIT and _decoded(start, cut=True) is not None:
                sentence = _too_large(mention.token, reading.size, TEXT_LIMIT, "a text")
                raise UserError(f"{sentence} Attach some lines of it, such as {mention.token}:1-200.")
            text = _decoded(reading.data(TEXT_LIMIT + 1))
            if text is not None:
                return _resource(_address(path), text, _text_type(path))
        return _link(_address(path), mime or mimetypes.guess_type(path)[0], reading.size)


def accepts(agent: Agent | None, kind: str) -> bool:
    """Does the agent take this kind of content? One that has not said it yet may; see `adapt_blocks`."""
    return agent is None or agent.can("promptCapabilities", kind)


def adapt_blocks(blocks: Iterable[Block], agent: Agent | None) -> list[Block]:
    """The blocks as this agent takes them; a prompt may have been made before it was known, or for another.

    A text it does not take embedded becomes a link, or words where there is nothing to link to.
    """
    return [_fitting(block, agent) for block in blocks]


def _fitting(block: Block, agent: Agent | None) -> Block:
    resource = block.get("resource")
    if (
        block.get("type") == "resource"
        and isinstance(resource, dict)
        and not accepts(agent, "embeddedContext")
    ):
        if resource["uri"].startswith(OUTPUT_SCHEME):
            return {"type": "text", "text": f"\n{resource.get('text', '')}"}
        return _link(resource["uri"], resource.get("mimeType"), None)
    if block.get("type") == "image" and block.get("uri") and not accepts(agent, "image"):
        return _link(block["uri"], block.get("mimeType"), None)
    return block


def image_type(start: bytes) -> str | None:
    """The kind of an image by its first bytes; None for anything else."""
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    signs = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    return next((mime for sign, mime in signs.items() if start.startswith(sign)), None)


async def _ask(token: str, real: Path, inside: bool, why: str | None, confirm: Confirm) -> None:
    """What is not a plain file of the project is attached only when the user means it."""
    reasons = [] if inside else ["is outside the working folder"]
    reasons += [why] if why else []
    if reasons and not await confirm(f"Attach {visible_line(str(real))}? It {' and '.join(reasons)}."):
        raise UserError(f"Nothing was sent: {token} was not to be attached.")


def _lines(token: str, first: int, last: int, path: str, reading: ReadHandle) -> Block:
    text = reading.text(first, last - first + 1)
    if not text:
        raise UserError(f"{token} cannot be attached: the file has no line {first}.")
    if (size := len(text.encode())) > TEXT_LIMIT:
        raise _too_large(token, size, TEXT_LIMIT, "a text")
    last = min(last, first + len(text.removesuffix("\n").split("\n")) - 1)  # the file may have fewer
    return _resource(f"{_address(path)}#L{first}-L{last}", text, _text_type(path))


def _resource(uri: str, text: str, mime: str) -> Block:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


def _link(uri: str, mime: str | None, size: int | None) -> Block:
    path, _, lines = uri.partition("#")
    name = unquote(path.rstrip("/").rpartition("/")[2]) + (f":{lines.replace('L', '')}" if lines else "")
    link: Mapping[str, Any] = {
        "type": "resource_link",
        "uri": uri,
        "name": name,
        "mimeType": mime,
        "size": size,
    }
    return {key: value for key, value in link.items() if value is not None}


def _image(token: str, data: bytes, mime: str) -> Block:
    if len(data) > IMAGE_LIMIT:
        raise _too_large(token, len(data), IMAGE_LIMIT, "an image")
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime}


def _address(path: str) -> str:
    return "file://" + quote(os.fsencode(path))


def _text_type(path: str) -> str:
    """By the name, unless that says it was no text: `.ts` is also a kind of film."""
    guess = mimetypes.guess_type(path)[0] or ""
    return guess if guess.startswith("text/") or guess in _TEXTS else "text/plain"


def _decoded(data: bytes, *, cut: bool = False) -> str | None:
    """The text; None when it is none. The last character of one that was `cut` may be incomplete."""
    try:
        return (data[: data.rfind(b"\n") + 1] if cut and b"\n" in data else data).decode()
    except UnicodeDecodeError as error:
        return "" if cut and error.start > len(data) - 4 else None


def _too_large(token: str, size: int, limit: int, what: str) -> UserError:
    has = f"{size / 1_000_000:.1f} MB"
    return UserError(
        f"{token} cannot be attached: it has {has}, and {what} may have {limit // 1_000_000} MB."
    )
