"""Builds the content blocks of a prompt from its text and attachments.

Files are read when the prompt is sent. If the agent supports the type of block, a text file becomes an
embedded resource, and an image becomes an image block. Folders and all other files become links. If an
attachment fails, the prompt is not sent, and the user is told why.
"""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from acp_tui.errors import Refusal, UserError
from acp_tui.session.attachment import (
    CONVERSATION_URI,
    OUTPUT_SCHEME,
    Attachment,
    CommandOutput,
    EarlierConversation,
    EmbeddedText,
    FileMention,
    Picture,
    ServerResource,
)
from acp_tui.session.safe_text import escape_line, json_text

if TYPE_CHECKING:
    from acp_tui.controller.mcp.server_access import OneShotServerClient
    from acp_tui.session.state import Agent, Session
    from acp_tui.workspace.files.file_access import FileAccess, ReadHandle

    Block = dict[str, Any]
    Confirm = Callable[[str], Awaitable[bool]]
    """Asks the user a yes-or-no question."""

TEXT_LIMIT = 1_000_000
"""The maximum size of an attached text, in bytes."""
IMAGE_LIMIT = 10_000_000
"""The maximum size of an attached image, in bytes."""

_SNIFFED = 8000
_TEXTS = frozenset({"application/json", "application/xml", "application/toml", "image/svg+xml"})


class PromptBlockBuilder:
    """Builds the content blocks of prompts in one workspace."""

    def __init__(self, files: FileAccess, session: Session, servers: OneShotServerClient) -> None:
        self._files = files
        self._session = session
        self._servers = servers

    async def blocks(self, text: str, attachments: Iterable[Attachment], confirm: Confirm) -> list[Block]:
        """Return the blocks of the text and its attachments. Raises `UserError` if an attachment fails."""
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
                case EmbeddedText():
                    block = _resource(attachment.uri, attachment.text, attachment.mime)
                case ServerResource():
                    blocks += await self._resource(attachment)
                    continue
                case EarlierConversation():
                    block = _resource(CONVERSATION_URI, attachment.text, "text/markdown")
            blocks.append(block)
        return adapt_blocks(blocks, self._session.agent)

    async def _resource(self, attachment: ServerResource) -> list[Block]:
        """Return the blocks of a resource. If the agent supports images, pictures become image blocks."""
        try:
            contents = await self._servers.read_resource(attachment.server, attachment.uri)
        except UserError as error:
            raise UserError(f"{attachment.token} cannot be attached: {error}") from None
        if sum(len(json_text(content)) for content in contents) > IMAGE_LIMIT:
            raise UserError(f"{attachment.token} cannot be attached: it is larger than 10 MB.")
        return [self._content_of_resource(attachment, content) for content in contents]

    def _content_of_resource(self, attachment: ServerResource, block: Block) -> Block:
        resource = block["resource"]
        mime, blob = resource.get("mimeType"), resource.get("blob")
        if blob is None:
            return _resource(resource["uri"], resource.get("text", ""), mime or "text/plain")
        if mime and mime.startswith("image/") and accepts(self._session.agent, "image"):
            return {"type": "image", "data": blob, "mimeType": mime}
        if not accepts(self._session.agent, "embeddedContext"):
            raise UserError(f"{attachment.token} cannot be attached: the agent does not accept binary files.")
        return block

    async def _file(self, mention: FileMention, confirm: Confirm) -> Block:
        # Not `Path`: it turns `./~x` into `~x`, and fails if there is no user `x`.
        path = os.path.expanduser(mention.path)  # noqa: PTH111
        path = os.path.normpath(os.path.join(self._files.roots.cwd, path))  # noqa: PTH118
        try:
            if await asyncio.to_thread(os.path.isdir, path):
                return await self._folder(mention, path, confirm)
            with await asyncio.to_thread(self._files.open_for_reading, path) as reading:
                await _ask(mention.token, reading.real, reading.inside, reading.sensitive, confirm)
                return await asyncio.to_thread(self._content, mention, path, reading)
        except Refusal as refusal:
            why = escape_line(refusal.message)
            raise UserError(f"{mention.token} cannot be attached: {why}.") from None

    async def _folder(self, mention: FileMention, path: str, confirm: Confirm) -> Block:
        if mention.first is not None:
            raise UserError(f"{mention.token} cannot be attached: a folder has no lines.")
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        why = self._files.sensitive(real) or self._files.sensitive(path)
        await _ask(mention.token, real, self._files.roots.contains(real), why, confirm)
        return {"type": "resource_link", "uri": f"{_address(path)}/", "name": f"{Path(path).name}/"}

    def _content(self, mention: FileMention, path: str, reading: ReadHandle) -> Block:
        """Return the content of a text file or an image, or of some lines. Return a link for other files.

        For a whole file, also return a link if the agent does not support this type of content.
        """
        agent = self._session.agent
        if mention.first is not None and mention.last is not None:
            return _lines(mention.token, mention.first, mention.last, path, reading)
        start = reading.data(_SNIFFED)
        mime = image_type(start)
        if mime is not None and accepts(agent, "image"):
            if reading.size > IMAGE_LIMIT:
                raise _too_large(mention.token, reading.size, IMAGE_LIMIT, "images")
            return _image(mention.token, reading.data(IMAGE_LIMIT + 1), mime) | {"uri": _address(path)}
        if mime is None and b"\0" not in start and accepts(agent, "embeddedContext"):
            if reading.size > TEXT_LIMIT and _decoded(start, cut=True) is not None:
                sentence = _too_large(mention.token, reading.size, TEXT_LIMIT, "text")
                raise UserError(f"{sentence} Attach only some of its lines, such as {mention.token}:1-200.")
            text = _decoded(reading.data(TEXT_LIMIT + 1))
            if text is not None:
                return _resource(_address(path), text, _text_type(path))
        return _link(_address(path), mime or mimetypes.guess_type(path)[0], reading.size)


def accepts(agent: Agent | None, kind: str) -> bool:
    """Return True if the agent supports this kind of content, or has not reported its capabilities yet."""
    return agent is None or agent.can("promptCapabilities", kind)


def adapt_blocks(blocks: Iterable[Block], agent: Agent | None) -> list[Block]:
    """Replace blocks that the agent does not support.

    A prompt may have been built before the agent's capabilities were known, or for another agent. An embedded
    text becomes a link, or plain text if there is no file to link to. An image from a file becomes a link.
    Other images are not replaced.
    """
    return [_fitting(block, agent) for block in blocks]


def _fitting(block: Block, agent: Agent | None) -> Block:
    resource = block.get("resource")
    if (
        block.get("type") == "resource"
        and isinstance(resource, dict)
        and not accepts(agent, "embeddedContext")
    ):
        if not resource["uri"].startswith("file:") and "blob" not in resource:
            return {"type": "text", "text": f"\n{resource.get('text', '')}"}
        return _link(resource["uri"], resource.get("mimeType"), None)
    if block.get("type") == "image" and block.get("uri") and not accepts(agent, "image"):
        return _link(block["uri"], block.get("mimeType"), None)
    return block


def image_type(start: bytes) -> str | None:
    """Return the MIME type of a PNG, JPEG, GIF or WebP image by its first bytes; None for anything else."""
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    signs = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    return next((mime for sign, mime in signs.items() if start.startswith(sign)), None)


async def _ask(token: str, real: Path, inside: bool, why: str | None, confirm: Confirm) -> None:
    """Ask the user whether to attach a file that is sensitive or outside the workspace.

    Raises `UserError` if the user declines. `why` is the reason if the file is sensitive, else None.
    """
    reasons = [] if inside else ["is outside the workspace"]
    reasons += [why] if why else []
    if reasons and not await confirm(f"Attach {escape_line(str(real))}? It {' and '.join(reasons)}."):
        raise UserError(f"Nothing was sent: you chose not to attach {token}.")


def _lines(token: str, first: int, last: int, path: str, reading: ReadHandle) -> Block:
    text = reading.text(first, last - first + 1)
    if not text:
        raise UserError(f"{token} cannot be attached: the file has no line {first}.")
    if (size := len(text.encode())) > TEXT_LIMIT:
        raise _too_large(token, size, TEXT_LIMIT, "text")
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
        raise _too_large(token, len(data), IMAGE_LIMIT, "images")
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime}


def _address(path: str) -> str:
    return "file://" + quote(os.fsencode(path))


def _text_type(path: str) -> str:
    """Return the MIME type for the name of a text file.

    If `mimetypes` guesses that the file is not text, as for `.ts`, the result is `text/plain`.
    """
    guess = mimetypes.guess_type(path)[0] or ""
    return guess if guess.startswith("text/") or guess in _TEXTS else "text/plain"


def _decoded(data: bytes, *, cut: bool = False) -> str | None:
    """Return the decoded text; None for binary data.

    With `cut`, the data may end within a character. The end of the text may then be missing in the result.
    """
    try:
        return (data[: data.rfind(b"\n") + 1] if cut and b"\n" in data else data).decode()
    except UnicodeDecodeError as error:
        return "" if cut and error.start > len(data) - 4 else None


def _too_large(token: str, size: int, limit: int, what: str) -> UserError:
    limits = f"it is {size / 1_000_000:.1f} MB, and the limit for {what} is {limit // 1_000_000} MB"
    return UserError(f"{token} cannot be attached: {limits}.")
