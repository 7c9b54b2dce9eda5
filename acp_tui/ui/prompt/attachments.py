"""What in the text of the prompt stands for more than itself: files, pictures, what commands wrote."""

from __future__ import annotations

import os
import re
import shlex
from base64 import b64decode
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from acp_tui.session.attachment import OUTPUT_SCHEME, CommandOutput, Picture, find_mentions, format_mention
from acp_tui.session.text import visible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.prompt.pastes import Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acp_tui.session.attachment import Attachment

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_COMMAND_CELLS = 30
MAX_CACHED_PATHS = 1000
_ANY_REFERENCE = r"\[image \d+\]|\[output of [^\]\n]+\]"
"""Tokens of what is in no file. Compiled when it is needed, as all of them."""


class Attachments:
    """Finds them. Pictures and outputs are kept as long as the program runs: a prompt may come back."""

    def __init__(self) -> None:
        self._folder = str(Path.cwd())
        self._kept: dict[str, Picture | CommandOutput] = {}
        self._picked: dict[str, str] = {}  # the path of each token
        self._existing: dict[str, bool] = {}

    @property
    def folder(self) -> str:
        """Where names without a beginning slash are looked for."""
        return self._folder

    @folder.setter
    def folder(self, folder: str) -> None:
        self._folder = folder
        self.look_again()

    def look_again(self) -> None:
        """Files come and go."""
        self._existing.clear()

    def exists(self, path: str) -> bool:
        """Is there such a file or folder? Asked at every keystroke, so it is remembered for a while.

        One that was chosen counts also when it is gone meanwhile: that must not go unnoticed.
        """
        if path in self._picked.values():
            return True
        known = self._existing.get(path)
        if known is None:
            if len(self._existing) > MAX_CACHED_PATHS:
                self._existing.clear()
            known = self._existing[path] = os.path.exists(self._whole(path))  # noqa: PTH110  also of no path
        return known

    def _whole(self, path: str) -> str:
        return os.path.join(self._folder, os.path.expanduser(path))  # noqa: PTH111, PTH118  `.` and `//` count

    # ------------------------------------------------------------------------- making tokens

    def pick(self, path: str, lines: str = "") -> str:
        """The mention of a file that was chosen, not typed: it moves and goes as one."""
        path = f"./{path}" if path.startswith("~") else path  # nobody's home directory
        token = format_mention(path, lines)
        self._picked[token] = path
        return token

    def picture(self, data: bytes, mime: str) -> str:
        """The token of a picture."""
        token = next(token for number in count(1) if (token := f"[image {number}]") not in self._kept)
        self._kept[token] = Picture(token, data, mime)
        return token

    def again(self, text: str, blocks: Iterable[Mapping[str, Any]]) -> str:
        """The text of a prompt of another time, whose tokens stand for what is in its blocks.

        They are other ones where they stand for something else by now.
        """
        names: dict[str, str] = {}
        for block in blocks:
            one = _without_file(block)
            if one is None:
                continue
            token = next(
                (token for token in re.findall(_reference_pattern(one), text) if token not in names), None
            )
            if token is not None:
                one = one._replace(token=token)
                known = self._kept.setdefault(token, one) == one
                names[token] = token if known else self._other(one)
        if not names:
            return text
        return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], text)

    def lost(self, text: str) -> list[str]:
        """Tokens in a text of another time that stand for nothing any more."""
        return [token for token in re.findall(_ANY_REFERENCE, text) if token not in self._kept]

    def _other(self, one: Picture | CommandOutput) -> str:
        if isinstance(one, Picture):
            return self.picture(one.data, one.mime)
        return self.output(one.command, one.text)

    def output(self, command: str, text: str) -> str:
        """The token of what a command wrote; the same for the same."""
        name = _output_name(command)
        number = 1
        while True:
            token = f"[output of {name}]" if number == 1 else f"[output of {name} #{number}]"
            made = CommandOutput(token, command, text)
            if self._kept.setdefault(token, made) == made:
                return token
            number += 1

    def pasted_image(self, text: str) -> str | None:
        """The mention of an image file whose path was pasted (terminals do that when a file is dropped)."""
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
        path = self._whole(words[0])
        if not os.path.isfile(path):  # noqa: PTH113  it may be no path at all
            return None
        return self.pick(path.removeprefix(f"{self._folder}/"))

    # ------------------------------------------------------------------------- finding them

    def __bool__(self) -> bool:
        return bool(self._kept or self._picked)

    def of(self, text: str) -> list[Attachment]:
        """All that goes along with a prompt, in the order of its text."""
        found: list[tuple[int, Attachment]] = [
            (mention.start, mention.file) for mention in find_mentions(text, self.exists)
        ]
        found += [(text.find(token), kept) for token, kept in self._kept.items() if token in text]
        return [attachment for _, attachment in sorted(found, key=lambda pair: pair[0])]

    def spans(self, line: str) -> list[Token]:
        """Where in a line something stands that goes along."""
        found = [Token(start, end, file.token) for start, end, file in find_mentions(line, self.exists)]
        if self._kept and "[" in line:
            for token in self._kept:
                at = line.find(token)
                while at >= 0:
                    found.append(Token(at, at + len(token), token))
                    at = line.find(token, at + len(token))
        return found

    def tokens(self, line: str) -> list[Token]:
        """Those that move and go as one."""
        if not self:
            return []
        return [span for span in self.spans(line) if span.text in self._picked or span.text in self._kept]


def _without_file(block: Mapping[str, Any]) -> Picture | CommandOutput | None:
    """What a block of a prompt holds that is nowhere else, without its token; None for anything else."""
    if block.get("type") == "image" and not block.get("uri") and block.get("data"):
        with suppress(ValueError):  # the log holds no secrets, and what looks like one may be anywhere
            return Picture("", b64decode(block["data"], validate=True), block.get("mimeType") or "")
    resource = block.get("resource")
    if isinstance(resource, dict) and str(resource.get("uri")).startswith(OUTPUT_SCHEME):
        command = unquote(resource["uri"].removeprefix(OUTPUT_SCHEME))
        return CommandOutput("", command, resource.get("text") or "")
    return None


def _reference_pattern(one: Picture | CommandOutput) -> str:
    """What its token looks like."""
    if isinstance(one, Picture):
        return r"\[image \d+\]"
    return rf"\[output of {re.escape(_output_name(one.command))}(?: #\d+)?\]"


def _output_name(command: str) -> str:
    return shorten(visible_line(command), MAX_COMMAND_CELLS)
