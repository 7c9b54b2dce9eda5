"""`acp-tui wire`: shows the messages of a session on the screen, or prints them."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.recordings import RECORDING_HELP, find_recording
from acp_tui.cli.screen_runner import add_theme_option, has_usable_terminal, run_app
from acp_tui.config import early_settings
from acp_tui.console import cells, content_stream, format_size, print_message, replace_unencodable, truncate
from acp_tui.errors import os_errors_reported
from acp_tui.session.safe_text import escape_json, escape_line, json_text
from acp_tui.store.stored_sessions import read_session
from acp_tui.wire.frame_filter import DIRECTIONS, FrameFilter, parse_filter
from acp_tui.wire.frame_log import FrameLog

if TYPE_CHECKING:
    from acp_tui.ui.app import AcpTui
    from acp_tui.wire.frame_log import FrameRow

POLL_SECONDS = 0.1
MAX_SUMMARY = 200
"""How many characters of a message are printed if stdout is not a terminal."""
_NAMES = {direction: name for name, direction in DIRECTIONS.items()}
_EPILOG = """\
A filter is one argument, all parts of which must match:
  'method:session/update kind:plan,tool_call'    a method, and kinds of updates
  'dir:in -type:notification'                    in, out, client or stderr; - excludes
  'session:3f2a id:7 "some text"'                the beginning or end of a session id, a request, a text
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("log", metavar="SESSION", help=RECORDING_HELP)
    about = "go on printing as messages arrive; the screen always does"
    parser.add_argument("-f", "--follow", action="store_true", help=about)
    parser.add_argument("--filter", default="", metavar="FILTER", help="show only messages that match")
    forms = parser.add_mutually_exclusive_group()
    about = "print one line for each message (default if not on a terminal)"
    forms.add_argument("--text", action="store_true", help=about)
    about = "print each message with its time and direction, as one JSON object per line"
    forms.add_argument("--json", action="store_true", help=about)
    add_theme_option(parser)


def run(args: argparse.Namespace) -> int:
    """Show the messages on the screen, or print them."""
    wanted = parse_filter(args.filter)
    path = find_recording(args.log)
    if not (args.text or args.json) and has_usable_terminal():
        return run_app(app_for(path, args))
    replace_unencodable()
    with os_errors_reported(f"Cannot read {path}"):
        log = FrameLog(path, from_end=False)
    with log:
        printer = _FramePrinter(log, wanted, as_json=args.json)
        printer.print_rows()
        while args.follow or not log.is_complete:
            if printer.read_more():
                printer.print_rows()
            elif log.is_complete:
                time.sleep(POLL_SECONDS)
    return 0


def app_for(path: Path, args: argparse.Namespace) -> AcpTui:
    """Return the app that shows the messages."""
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.screens.wire.wire_screen import WireContext, WireScreen

    stored = read_session(path.parent)  # the title, if acp-tui made the recording
    title = stored.text("name") or stored.text("title") or stored.text("agent_title") or path.name
    context = WireContext(path, escape_line(title), str(Path.cwd()))
    return AcpTui(
        lambda: WireScreen(context, frame_filter=args.filter),
        theme=args.theme,
        settings=early_settings.read(Path.cwd()),
    )


class _FramePrinter:
    """Prints each row of a log once, also if a line of stderr comes late and is placed before others."""

    def __init__(self, log: FrameLog, wanted: FrameFilter, *, as_json: bool) -> None:
        self._log = log
        self._wanted = wanted
        self._as_json = as_json
        self._stream = content_stream()
        self._width = shutil.get_terminal_size().columns if self._stream.isatty() else None
        self._next = 0  # from this row on, there can be new ones
        self._last_place = -1
        self._stderr_lines = 0

    def read_more(self) -> bool:
        """Read more of the log. Return True if there are new rows."""
        update = self._log.update()
        if update.restarted:
            print_message(f"{self._log.path} was truncated or replaced. It begins again:")
            self._last_place, self._stderr_lines = -1, 0
        if update.first_changed is not None:
            self._next = update.first_changed
        return update.first_changed is not None

    def print_rows(self) -> None:
        """Print the rows that match the filter and have not been printed yet."""
        self._stderr_lines = min(self._stderr_lines, self._log.stderr_lines)  # its middle may be dropped
        last_place = self._last_place
        for step in self._log.rows_matching(self._wanted, self._next):
            for number in step:
                row = self._log.row(number)
                if row.place > self._last_place or -1 - row.place >= self._stderr_lines:
                    last_place = max(last_place, row.place)
                    line = self._json_line(row) if self._as_json else self._text_line(row)
                    self._stream.write(f"{line}\n")
        self._stream.flush()
        self._last_place, self._stderr_lines = last_place, self._log.stderr_lines

    def _json_line(self, row: FrameRow) -> str:
        text = self._log.text(row.number)
        if row.type in ("stderr", "note", "damaged"):
            return json_text({"t": row.at, "dir": row.type, "text": text})
        frame = escape_json(text.replace("\r", " "))
        return f'{{"t":{json.dumps(row.at)},"dir":"{row.direction}","frame":{frame}}}'

    def _text_line(self, row: FrameRow) -> str:
        start = self._log.started
        since = "" if row.at is None or start is None else f"{row.at - start:.3f}"
        waited = "" if row.seconds is None or row.type == "request" else f"{row.seconds:.3f} s"
        mark = " (by hand)" if row.is_by_hand else " (in a batch)" if row.is_in_batch else ""
        line = " ".join(
            [
                f"{since:>9}",
                f"{_NAMES[row.direction]:6}",
                f"{row.type:12}",
                _padded(f"{row.method} {row.kind}{mark}", 34),
                _padded(f"#{row.id}" if row.id else "", 4),
                f"{waited:>9}",
                f"{format_size(row.size):>6}",
                _padded(row.session if len(row.session) <= 8 else f"…{row.session[-7:]}", 8),
            ]
        )
        line = f"{line} {self._log.summary(row.number, MAX_SUMMARY)}".rstrip()
        return line if self._width is None or cells(line) <= self._width else _cut(line, self._width)


def _cut(line: str, width: int) -> str:
    while cells(line) > width:
        line = line[: width - cells(line)]  # a character takes at most two columns
    return line


def _padded(text: str, width: int) -> str:
    if text.isascii() and len(text) <= width:
        return text.ljust(width)
    text = truncate(text, width)
    return text + " " * (width - cells(text))
