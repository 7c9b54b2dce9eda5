"""What commands print: output streams, messages, tables, dates and quantities."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, TextIO, cast

from acp_tui.session.safe_text import escape_controls, escape_line, json_text


class SanitizedStream:
    """A text stream that replaces control characters with visible stand-ins."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write the text with control characters replaced. Return the length of `text`."""
        self.unfiltered.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each line with control characters replaced."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def prepare_streams() -> None:
    """Reopen closed standard streams on /dev/null, and wrap stdout and stderr in `SanitizedStream`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # stays open until exit
        elif mode == "w" and not isinstance(stream, SanitizedStream):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, SanitizedStream(stream))


def content_stream() -> TextIO:
    """Return stdout for output that other programs can read: unfiltered, unless stdout is a terminal."""
    stream: object = sys.stdout
    if isinstance(stream, SanitizedStream) and not stream.isatty():
        return stream.unfiltered
    return cast("TextIO", stream)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a JSON value for other programs. On a terminal, all non-ASCII characters are escaped."""
    stream = content_stream()
    print(json_text(value, ascii_only=stream.isatty(), indent=indent), file=stream)


def discard_stdout() -> None:
    """Redirect stdout to /dev/null, so that the interpreter's flush at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def replace_unencodable() -> None:
    """Make stdout print "?" for characters that its encoding lacks, instead of failing."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # always a text file here


def print_message(sentence: str, context: Sequence[str] = ()) -> None:
    """Print a sentence to stderr, followed by indented lines of context.

    Newlines in these texts are replaced: a newline in a file name could forge another message.
    """
    print("\n".join(_wrapped(f"acp-tui: {escape_line(sentence)}")), file=sys.stderr, flush=True)
    for line in context:
        print(f"  │ {escape_line(line)}", file=sys.stderr, flush=True)


def _wrapped(text: str) -> list[str]:
    """Return the lines of a message: on a terminal, which would break inside words, wrapped between words."""
    if not sys.stderr.isatty():
        return [text]
    columns = shutil.get_terminal_size().columns
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [text]


class ConsoleStatusLine:
    """A message on stderr that grows old. On a terminal it is replaced; elsewhere it is printed once."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, sentence: str, seconds: float, note: str = "") -> None:
        """Show a sentence and a note; on a terminal between them the seconds that have passed."""
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1
            line = f"acp-tui: {escape_line(sentence)} {seconds:.0f} s{note}"
            self._write(f"\r{line[:room]}\x1b[K")
        elif not self._shown:
            print_message(f"{sentence}{note}")
        self._shown = True

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._shown and sys.stderr.isatty():
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        stream = getattr(sys.stderr, "unfiltered", sys.stderr)  # its own control characters are meant
        stream.write(text)
        stream.flush()


WIDTH = 80
EMOJI_SELECTOR = "\ufe0f"
"""Makes the symbol before it an emoji, which is two columns wide."""


def aligned(rows: Sequence[Sequence[str]], max_cells: int = 1000) -> list[str]:
    """Return the rows as lines with aligned columns. Control characters are replaced.

    Texts that are wider than `max_cells` do not widen their column.
    """
    safe = [[escape_line(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in safe), default=0)
    widths = [
        max((width for row in safe if at < len(row) and (width := cells(row[at])) <= max_cells), default=0)
        for at in range(columns)
    ]
    return [
        "  ".join(
            cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in safe
    ]


def wrapped(text: str, indent: str = "") -> list[str]:
    """Wrap the text to 80 columns without breaking long words such as paths."""
    return textwrap.wrap(
        escape_line(text),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def labelled(
    fields: Sequence[tuple[str, str]],
    indent: str = "",
    commands: Collection[str] = (),
    margins: Sequence[str] = (),
) -> list[str]:
    """Return lines with labels in one column and wrapped texts in the other.

    Texts whose label is in `commands` are not wrapped, so that they can be copied. `margins` has one item per
    field; an item that is not empty replaces the indent of the field's first line.
    """
    fields = [(escape_line(label), text) for label, text in fields]
    width = max((len(label) for label, _ in fields), default=0) + 2
    lines: list[str] = []
    for position, (label, text) in enumerate(fields):
        pieces = [escape_line(text)] if label in commands else wrapped(text, indent + " " * width)
        first, *more = pieces or [""]
        margin = (margins[position] if position < len(margins) else "") or indent
        lines += [f"{margin}{label:{width}}{first.lstrip()}".rstrip(), *more]
    return lines


def cells(text: str) -> int:
    """Return the width of the text in terminal columns."""
    return sum(map(_char_cells, text, ["", *text]))


def _char_cells(char: str, before: str) -> int:
    if char == EMOJI_SELECTOR:
        return int(bool(before) and _char_cells(before, "") == 1 and unicodedata.category(before) == "So")
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return the text on one line, truncated to `width` columns."""
    text = " ".join(escape_line(text[: width * 8]).split())
    if cells(text) <= width:
        return text
    while cells(text) >= width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def format_moment(moment: float, now: datetime) -> str:
    """Format a time in the local zone: `14:05` today, `Nov 3` this year, otherwise `2025-11-03`.

    Return `?` for a time that is out of range.
    """
    try:
        then = datetime.fromtimestamp(moment, now.tzinfo).astimezone()
    except (OverflowError, ValueError, OSError):
        return "?"
    today = now.astimezone()
    if then.date() == today.date():
        return f"{then:%H:%M}"
    return f"{then:%b} {then.day}" if then.year == today.year else f"{then:%Y-%m-%d}"


def format_size(count: float) -> str:
    """Return a number of bytes with its unit, e.g. "3 kB"."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def pluralize(count: int, noun: str) -> str:
    """Return the number and the noun, e.g. "1 session" or "2,000 sessions"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_alert(line: str) -> None:
    """Print a line, in red on a terminal that shows colours."""
    stream = sys.stdout
    text = escape_line(line)
    has_colours = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    if has_colours and isinstance(stream, SanitizedStream):
        stream.unfiltered.write(f"\x1b[31m{text}\x1b[0m\n")
    else:
        print(text)
