"""A kind of entry needs an event, a reducer and a row in the table of kinds, and nothing else."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.segment import Segment
from textual.strip import Strip

import acp_tui
from acp_tui.cli import main
from acp_tui.cli.exec_run import ProgressPrinter
from acp_tui.controller.player import INSTANT, Player
from acp_tui.entry_kinds.blocks import PlainText, Speech
from acp_tui.entry_kinds.kind import EntryKind, Imported
from acp_tui.entry_kinds.kind_table import KINDS, kind_of
from acp_tui.protocol import updates
from acp_tui.protocol.translator import fold
from acp_tui.session import state
from acp_tui.session.events import Event
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.record import Change
from acp_tui.session.reduce import HANDLERS, EventRule
from acp_tui.session.reduce.entries import add_entry
from acp_tui.session.state import Entry, Session
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.transcript.transcript import Transcript
from tests.support.talk import Talk
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from textual.pilot import Pilot

    from acp_tui.entry_kinds.blocks import Block
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.ui.drawing.body import Body, DrawContext

ENTRY_TYPES = {
    entry_type
    for entry_type in vars(state).values()
    if isinstance(entry_type, type) and issubclass(entry_type, Entry)
} - {Entry, state.Message}

# --------------------------------------------------------------------------- a made-up kind


@dataclass(slots=True)
class WeatherReported(Event):
    """The event."""

    place: str
    forecast: str


@dataclass(kw_only=True, slots=True)
class Weather(Entry):
    """The entry."""

    place: str
    forecast: GrowingText = field(default_factory=GrowingText)


def read_weather(update: dict[str, Any]) -> list[Event]:
    return [WeatherReported(update["place"], update["forecast"])]


def weather_reported(session: Session, event: WeatherReported, at: float) -> list[Change]:
    return add_entry(
        session, Weather(id=0, at=at, place=event.place, forecast=GrowingText(event.forecast)), at
    )


def weather_body(entry: Weather, context: DrawContext) -> Body:
    shown = [f"weather in {entry.place}"]
    if not context.folded:
        shown += str(entry.forecast).split("\n")
    return LinesBody([Strip([Segment(line)]) for line in shown], f"{entry.place}: {entry.forecast}")


def weather_blocks(entry: Weather, _context: TextContext) -> Iterable[Block]:
    return [Speech("agent", [PlainText(f"Weather in {entry.place}\n{entry.forecast}")])]


WEATHER = EntryKind(
    title="Weather report",
    renderer=weather_body,
    blocks=weather_blocks,
    foldable=True,
    progress=lambda entry: f"weather in {entry.place}",
    code=lambda entry: [f"forecast {entry.place}"],
    is_error=lambda entry: "hurricane" in str(entry.forecast),
)


@pytest.fixture(autouse=True)
def weather_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(updates.READERS, "weather", read_weather)
    monkeypatch.setitem(HANDLERS, WeatherReported, EventRule(weather_reported))
    monkeypatch.setitem(KINDS, Weather, WEATHER)


def conversation() -> Talk:
    """A turn with a weather report between two messages."""
    talk = Talk().opened()
    prompt = talk.prompt("Shall we go out?")
    talk.says("Let me look.")
    talk.update("weather", place="Rome", forecast="sun until noon\na hurricane afterwards")
    talk.says("Better not.")
    talk.end(prompt)
    return talk


# --------------------------------------------------------------------------- on the screen


@pytest.fixture
def app() -> AcpTui:
    player = Player(conversation().records, title="Recorded session", speed=INSTANT)
    return AcpTui(lambda: ReplayScreen(player))


def screen_text(app: AcpTui) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def sees(app: AcpTui, text: str) -> None:
    await until(lambda: text in screen_text(app))


async def go_to_weather(app: AcpTui, pilot: Pilot[Any]) -> None:
    """Put the cursor on the weather report."""
    await sees(app, "Better not.")
    await pilot.press("alt+up", "alt+up")
    assert isinstance(app.screen.query_one(Transcript).current_entry, Weather)


async def test_its_renderer_draws_it_among_the_others(app: AcpTui) -> None:
    async with app.run_test(size=(80, 24)):
        await sees(app, "Better not.")
        text = screen_text(app)
        assert text.index("Let me look.") < text.index("weather in Rome") < text.index("sun until noon")
        assert "could not be drawn" not in text


@pytest.mark.parametrize("key", ["enter", "f", "F"])
async def test_the_keys_for_folding_fold_and_unfold_it(app: AcpTui, key: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await go_to_weather(app, pilot)
        await pilot.press(key)
        assert "weather in Rome" in screen_text(app)
        assert "sun until noon" not in screen_text(app)
        await pilot.press(key)
        assert "sun until noon" in screen_text(app)


async def test_the_search_finds_it_and_unfolds_it(app: AcpTui) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await go_to_weather(app, pilot)
        await pilot.press("enter", "slash", *"until noon", "enter")
        await pilot.pause()
        assert "1 of 1" in screen_text(app)
        assert "sun until noon" in screen_text(app)


@pytest.mark.parametrize(
    ("key", "copied"), [("c", "Rome: sun until noon\na hurricane afterwards"), ("C", "forecast Rome")]
)
async def test_the_keys_for_copying_copy_it_and_its_code(app: AcpTui, key: str, copied: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await go_to_weather(app, pilot)
        await pilot.press(key)
        assert app.clipboard == copied


async def test_the_keys_for_raw_json_and_the_full_entry_open_a_screen_with_its_title(app: AcpTui) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await go_to_weather(app, pilot)
        await pilot.press("r")
        await sees(app, '"entry": "Weather"')
        assert "Weather report" in screen_text(app)
        await pilot.press("escape", "v")
        await sees(app, "Weather report")
        assert "sun until noon" in screen_text(app)


async def test_the_key_for_errors_moves_the_cursor_to_it(app: AcpTui) -> None:
    async with app.run_test(size=(80, 24)):
        await sees(app, "Better not.")
        transcript = app.screen.query_one(Transcript)
        assert transcript.move_cursor(-1, "error")
        assert isinstance(transcript.current_entry, Weather)


# --------------------------------------------------------------------------- exported and printed


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """The conversation as a wire log."""
    file = tmp_path / "wire.jsonl"
    lines = (
        {"t": record.at, "dir": record.direction, "frame": record.frame} for record in conversation().records
    )
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


@pytest.mark.parametrize("form", ["--md", "--html"])
def test_documents_show_it_between_its_neighbours(
    form: str, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(recording), form]) == 0
    text = capsys.readouterr().out
    assert text.index("Let me look.") < text.index("Weather in Rome") < text.index("sun until noon")
    assert text.index("a hurricane afterwards") < text.index("Better not.")


def test_a_json_export_has_all_its_fields(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(recording), "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    (weather,) = (entry for entry in entries if entry["type"] == "Weather")
    assert weather["place"] == "Rome"
    assert weather["forecast"] == "sun until noon\na hurricane afterwards"


def test_secrets_in_its_streamed_text_are_not_exported(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "k3J9" * 9
    recording.write_text(recording.read_text().replace("sun until noon", secret))
    assert main(["export", str(recording), "--json"]) == 0
    assert secret not in capsys.readouterr().out


def test_the_printed_conversation_has_its_plain_text(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(recording), "--text"]) == 0
    text = capsys.readouterr().out
    assert "Let me look.\n\nWeather in Rome\nsun until noon\na hurricane afterwards\n\nBetter not." in text


def test_exec_reports_it_as_progress(capsys: pytest.CaptureFixture[str]) -> None:
    session = fold(conversation().records)
    ProgressPrinter(Session()).print_progress([], [Change("added", entry) for entry in session.entries])
    assert capsys.readouterr().err == "· weather in Rome\n"


# --------------------------------------------------------------------------- the table is correct

CALL = state.ToolCall(id=1, at=0, call_id="c", status="completed")
BROKEN = state.ToolCall(id=1, at=0, call_id="c", status="failed")


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (CALL, BROKEN),
        (state.OwnToolCall(id=1, at=0, call=CALL), state.OwnToolCall(id=1, at=0, call=BROKEN)),
        (state.Notice(id=1, at=0, level="warning"), state.Notice(id=1, at=0, level="error")),
        (
            state.TurnEnd(id=1, at=0, stop_reason="refusal"),
            state.TurnEnd(id=1, at=0, error=state.RpcError(1, "no")),
        ),
        (
            state.Compaction(id=1, at=0, compaction_id="c", status="completed"),
            state.Compaction(id=1, at=0, compaction_id="c", status="failed"),
        ),
        (
            state.Subagent(id=1, at=0, key="s", session=Session(), state="idle"),
            state.Subagent(id=1, at=0, key="s", session=Session(), state="idle", stop_reason="error"),
        ),
        (state.Plan(id=1, at=0), None),
        (state.Unrecognised(id=1, at=0, what="x"), None),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_the_keys_for_errors_stop_only_at_entries_that_failed(good: Entry, bad: Entry | None) -> None:
    assert not kind_of(good).is_error(good)
    assert bad is None or kind_of(bad).is_error(bad)


# --------------------------------------------------------------------------- the table is complete


def test_every_type_of_entry_has_a_row() -> None:
    assert KINDS.keys() >= ENTRY_TYPES


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.title)
def test_functions_that_a_row_names_exist(kind: EntryKind) -> None:
    for function in vars(kind).values():
        if isinstance(function, Imported):
            assert callable(function.load())


# What follows may know several kinds: the reducers that make entries, the table, and a report of counts.
KNOWS_KINDS = ("session/", "entry_kinds/", "doctor/report.py")


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that code uses, without those in annotations."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for item in child if isinstance(child, list) else [child]:
            if isinstance(item, ast.AST):
                yield from names_in(item)
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr


def definitions(tree: ast.Module) -> Iterator[ast.stmt]:
    """Functions, methods and assignments of a module."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from statement.body
        elif not isinstance(statement, (ast.Import, ast.ImportFrom, ast.If)):
            yield statement


def test_no_function_outside_the_table_branches_on_kinds_of_entries() -> None:
    """Two kinds in one function are a feature that concerns both; three are a list that a new kind misses."""
    package = Path(acp_tui.__file__).parent
    entry_types = {entry_type.__name__ for entry_type in ENTRY_TYPES}
    branching = [
        f"{path.relative_to(package)}:{definition.lineno}"
        for path in sorted(package.rglob("*.py"))
        if not str(path.relative_to(package)).startswith(KNOWS_KINDS)
        for definition in definitions(ast.parse(path.read_text(encoding="utf-8")))
        if len(entry_types & set(names_in(definition))) > 2
    ]
    assert branching == []
