"""Tokens for attachments (files, images, outputs, conversations) in the text of the prompt."""

from __future__ import annotations

import os
import re
import shlex
from base64 import b64decode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from acp_tui.session.attachment import (
    CONVERSATION_URI,
    OUTPUT_SCHEME,
    Attachment,
    CommandOutput,
    EarlierConversation,
    EmbeddedText,
    FileMention,
    KeptAttachment,
    Picture,
    ServerResource,
    find_mentions,
    format_mention,
)
from acp_tui.session.safe_text import escape_line
from acp_tui.ui.drawing.wrap import shorten

MAX_UNFOLDED_LINES = 8
MAX_UNFOLDED_CHARS = 1000


class Token(NamedTuple):
    """A token and its position in a line."""

    start: int
    end: int
    text: str


class Pastes:
    """The folded pastes of one prompt, by token."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def fold(self, text: str) -> str:
        """Return a token for a large text, or the text itself if it is small."""
        lines = len(text.removesuffix("\n").split("\n"))
        if lines <= MAX_UNFOLDED_LINES and len(text) <= MAX_UNFOLDED_CHARS:
            return text
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        number = f" #{len(self._texts) + 1}" if self._texts else ""
        token = f"[pasted {size}{number}]"
        self._texts[token] = text
        self._pattern = re.compile("|".join(re.escape(token) for token in self._texts))
        return token

    def expand(self, text: str) -> str:
        """Replace tokens by the pasted texts."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda token: self._texts[token[0]], text)

    def tokens(self, line: str) -> list[Token]:
        """Return the tokens in a line, with their positions."""
        if self._pattern is None or "[" not in line:
            return []
        return [Token(*found.span(), found[0]) for found in self._pattern.finditer(line)]

    def __bool__(self) -> bool:
        return bool(self._texts)


IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_COMMAND_CELLS = 30
MAX_CACHED_PATHS = 1000
_ANY_REFERENCE = (
    r"\[image \d+\]|\[output of [^\]\n]+\]|\[resource [^\]\n]+\]|\[earlier conversation(?: #\d+)?\]"
)
"""Matches tokens of attachments that are not files. Not compiled here, to keep the start fast."""


class Attachments:
    """Creates the tokens that stand for attachments, and finds the tokens in text.

    Images and outputs are never removed, because the user may edit an earlier prompt again.
    """

    def __init__(self) -> None:
        self._folder = str(Path.cwd())
        self._kept: dict[str, KeptAttachment] = {}
        self._picked: dict[str, str] = {}  # paths of chosen files, by token
        self._existing: dict[str, bool] = {}
        self.resources: Mapping[str, tuple[str, str]] = {}
        """The known resources of MCP servers: `SERVER:URI` mapped to the server and the URI."""

    @property
    def folder(self) -> str:
        """The folder that relative paths start from."""
        return self._folder

    @folder.setter
    def folder(self, folder: str) -> None:
        self._folder = folder
        self.forget_existing_paths()

    def forget_existing_paths(self) -> None:
        """Clear the cache of existing paths."""
        self._existing.clear()

    def exists(self, path: str) -> bool:
        """Return True if a file, a folder or a resource exists. Cached: called at every key press.

        Also True for a file that was chosen from the menu and then deleted: sending reports the problem.
        """
        if path in self.resources or path in self._picked.values():
            return True
        known = self._existing.get(path)
        if known is None:
            if len(self._existing) > MAX_CACHED_PATHS:
                self._existing.clear()
            known = self._existing[path] = os.path.exists(self._absolute(path))  # noqa: PTH110  # may not be a path
        return known

    def _absolute(self, path: str) -> str:
        return os.path.join(self._folder, os.path.expanduser(path))  # noqa: PTH111, PTH118  # pathlib drops `.` and `//`

    # ------------------------------------------------------------------------- creating tokens

    def add_mention(self, path: str, lines: str = "") -> str:
        """Return the mention of a chosen file. The editor treats the mention as one character."""
        path = f"./{path}" if path.startswith("~") else path  # a file name, not a home directory
        token = format_mention(path, lines)
        self._picked[token] = path
        return token

    def add_image(self, data: bytes, mime: str) -> str:
        """Store an image and return its token."""
        token = next(token for number in count(1) if (token := f"[image {number}]") not in self._kept)
        self._kept[token] = Picture(token, data, mime)
        return token

    def restore(self, text: str, blocks: Iterable[Mapping[str, Any]]) -> str:
        """Restore the attachments of an earlier prompt from its blocks, and return its text.

        Tokens that stand for something else by now are replaced by new ones.
        """
        new_tokens: dict[str, str] = {}
        for block in blocks:
            attachment = _parse_block(block)
            if attachment is None:
                continue
            token = next(
                (token for token in re.findall(_token_pattern(attachment), text) if token not in new_tokens),
                None,
            )
            if token is not None:
                attachment = attachment._replace(token=token)
                unchanged = self._kept.setdefault(token, attachment) == attachment
                new_tokens[token] = token if unchanged else self._with_new_token(attachment)
        if not new_tokens:
            return text
        return re.sub("|".join(map(re.escape, new_tokens)), lambda found: new_tokens[found[0]], text)

    def missing_tokens(self, text: str) -> list[str]:
        """Return the tokens in the text whose attachments are not stored. Mentions of files are left out."""
        return [token for token in re.findall(_ANY_REFERENCE, text) if token not in self._kept]

    def _with_new_token(self, attachment: KeptAttachment) -> str:
        if isinstance(attachment, Picture):
            return self.add_image(attachment.data, attachment.mime)
        return self._keep(attachment)

    def add_output(self, command: str, text: str) -> str:
        """Store the output of a command and return its token; the same output keeps its token."""
        return self._keep(CommandOutput("", command, text))

    def add_text(self, uri: str, text: str, mime: str) -> str:
        """Store text with its URI and return its token."""
        return self._keep(EmbeddedText("", uri, text, mime))

    def _keep(self, attachment: CommandOutput | EmbeddedText | EarlierConversation) -> str:
        name = _name(attachment)
        number = 1
        while True:
            token = f"[{name}]" if number == 1 else f"[{name} #{number}]"
            named = attachment._replace(token=token)
            if self._kept.setdefault(token, named) == named:
                return token
            number += 1

    def pasted_image(self, text: str) -> str | None:
        """Return a mention if the pasted text is the absolute path of an existing image; otherwise None.

        Terminals paste the path of a file that is dropped on them.
        """
        text = text.strip()
        if len(text) > 4096 or "\n" in text or not text.lower().rstrip("'\"").endswith(IMAGE_SUFFIXES):
            return None
        try:
            words = (
                [unquote(text.removeprefix("file://"))] if text.startswith("file:///") else shlex.split(text)
            )
        except ValueError:
            return None
        if len(words) != 1 or not words[0].startswith(("/", "~/")):
            return None
        path = self._absolute(words[0])
        if not os.path.isfile(path):  # noqa: PTH113  # may not be a path
            return None
        return self.add_mention(path.removeprefix(f"{self._folder}/"))

    # ------------------------------------------------------------------------- finding tokens

    def __bool__(self) -> bool:
        return bool(self._kept or self._picked)

    def in_text(self, text: str) -> list[Attachment]:
        """Return the attachments whose tokens occur in the text, in order."""
        found: list[tuple[int, Attachment]] = [
            (mention.start, self._resource(mention.file) or mention.file)
            for mention in find_mentions(text, self.exists)
        ]
        found += [(text.find(token), kept) for token, kept in self._kept.items() if token in text]
        return [attachment for _, attachment in sorted(found, key=lambda pair: pair[0])]

    def _resource(self, mention: FileMention) -> ServerResource | None:
        known = self.resources.get(mention.path) if mention.first is None else None
        return ServerResource(mention.token, *known) if known is not None else None

    def spans(self, line: str) -> list[Token]:
        """Return the tokens of all attachments in a line, including typed mentions."""
        found = [Token(start, end, file.token) for start, end, file in find_mentions(line, self.exists)]
        if self._kept and "[" in line:
            for token in self._kept:
                at = line.find(token)
                while at >= 0:
                    found.append(Token(at, at + len(token), token))
                    at = line.find(token, at + len(token))
        return found

    def tokens(self, line: str) -> list[Token]:
        """Return the tokens in a line that the editor treats as one character.

        Typed mentions are no such tokens.
        """
        if not self:
            return []
        return [span for span in self.spans(line) if span.text in self._picked or span.text in self._kept]


def _parse_block(block: Mapping[str, Any]) -> KeptAttachment | None:
    """Return the image, output, conversation or text attached by a content block; None for other blocks.

    The token of the attachment is empty.
    """
    if block.get("type") == "image" and not block.get("uri") and block.get("data"):
        with suppress(ValueError):  # redaction in the log may have damaged the data
            return Picture("", b64decode(block["data"], validate=True), block.get("mimeType") or "")
    resource = block.get("resource")
    if isinstance(resource, dict) and str(resource.get("uri")).startswith(OUTPUT_SCHEME):
        command = unquote(resource["uri"].removeprefix(OUTPUT_SCHEME))
        return CommandOutput("", command, resource.get("text") or "")
    if isinstance(resource, dict) and resource.get("uri") == CONVERSATION_URI:
        return EarlierConversation("", resource.get("text") or "")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        uri = str(resource.get("uri"))
        if not uri.startswith("file:"):  # the block of a file comes from a mention
            return EmbeddedText("", uri, resource["text"], str(resource.get("mimeType") or "text/plain"))
    return None


def _token_pattern(attachment: KeptAttachment) -> str:
    """Return a regular expression for the attachment's token in the prompt, such as `[image 1]`."""
    if isinstance(attachment, Picture):
        return r"\[image \d+\]"
    return rf"\[{re.escape(_name(attachment))}(?: #\d+)?\]"


def _name(attachment: CommandOutput | EmbeddedText | EarlierConversation) -> str:
    if isinstance(attachment, EarlierConversation):
        return "earlier conversation"
    if isinstance(attachment, EmbeddedText):
        return f"resource {shorten(_one_word(attachment.uri), MAX_COMMAND_CELLS)}"
    return f"output of {shorten(escape_line(attachment.command), MAX_COMMAND_CELLS)}"


def _one_word(uri: str) -> str:
    """Replace brackets and spaces in a URI, so that it can be part of a token."""
    return re.sub(r"[\[\]\s]+", "_", escape_line(uri))
