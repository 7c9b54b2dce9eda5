"""Opens the wire screen on logs made for a test."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.ui.app import AcpTui
from acp_tui.ui.screens.wire.wire_screen import WireContext, WireScreen
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from pathlib import Path

    from textual.pilot import Pilot

START = 1_800_000_000.0


def record(direction: str, frame: Any, at: float = 0.0) -> str:
    """Return a line of a log."""
    return json.dumps({"t": START + at, "dir": direction, "frame": frame}) + "\n"


def update(text: str, at: float = 2.0, session: str = "s-1", **fields: Any) -> str:
    """Return the line of an agent's message."""
    change = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **fields}
    params = {"sessionId": session, "update": change}
    return record("received", {"jsonrpc": "2.0", "method": "session/update", "params": params}, at)


def turn(text: str = "hello") -> list[str]:
    """Return the lines of a session with one prompt and a noisy agent."""
    new = {"jsonrpc": "2.0", "id": 0}
    ask = {"jsonrpc": "2.0", "id": 1}
    content = [{"type": "text", "text": text}]
    return [
        record("sent", new | {"method": "session/new", "params": {"cwd": "/p", "mcpServers": []}}),
        record("received", new | {"result": {"sessionId": "s-1"}}, 0.25),
        record(
            "sent", ask | {"method": "session/prompt", "params": {"sessionId": "s-1", "prompt": content}}, 1.0
        ),
        record("received", "Loading weights …", 1.1),
        update("Hi there", 1.5),
        update("odd", 1.6, sessionUpdate="agent_message_chunk", content={"type": "text", "text": 5}),
        record("client", {"event": "noticed", "level": "info", "text": "Look at this."}, 1.7),
        record("received", ask | {"result": {"stopReason": "end_turn"}}, 3.5),
    ]


def write(path: Path, lines: Iterable[str]) -> Path:
    """Write a log."""
    path.write_text("".join(lines), encoding="utf-8")
    return path


@dataclass
class WireUi:
    """The wire screen: what a user can see and do."""

    app: AcpTui
    pilot: Pilot[int]
    path: Path

    @property
    def screen(self) -> WireScreen:
        (screen,) = [screen for screen in self.app.screen_stack if isinstance(screen, WireScreen)]
        return screen

    def lines(self) -> list[str]:
        """Return the lines of the screen as text."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def chosen(self) -> str:
        """Return the line at the cursor."""
        return next((line for line in self.lines() if line.startswith("❯")), "")

    def listed(self) -> list[str]:
        """Return the visible lines of the list."""
        frames = self.screen.frames
        return [frames.render_line(y).text.rstrip() for y in range(frames.size.height)]

    def json(self) -> str:
        """Return the visible lines of the JSON."""
        view = self.screen.view
        return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))

    def append(self, *lines: str) -> None:
        """Append to the log."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(lines))

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until the condition is true."""
        await until(condition, describe=self.text)
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.text() for text in texts))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def filter(self, text: str) -> None:
        """Type a filter and go to the list."""
        await self.press("slash")
        await self.press(*text)
        await self.press("enter")

    def toasts(self) -> list[str]:
        return [toast.message for toast in self.app._notifications]


@asynccontextmanager
async def open_wire(
    path: Path, *, size: tuple[int, int] = (100, 30), **context: Any
) -> AsyncIterator[WireUi]:
    """Open the wire screen of a log, as `acp-tui wire` does. `context` is the rest of its `WireContext`."""
    app = AcpTui(lambda: WireScreen(WireContext(path, "Test agent", str(path.parent), **context)))
    async with app.run_test(size=size, notifications=True) as pilot:
        ui = WireUi(app, pilot, path)
        await ui.sees("Messages")
        yield ui
