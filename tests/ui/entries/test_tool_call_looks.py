"""Pictures of tool calls, diffs and terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds.tool_call import starts_folded
from acp_tui.session.state import Content, Diff, Entry, Location, Session, TerminalRef, ToolCall
from tests.support.bodies import call, terminal
from tests.support.looks import every_look, every_width, shows_all

if TYPE_CHECKING:
    from collections.abc import Callable

CWD = "/project"
OLD = '''import hashlib


class User:
    """A user of the service.

    Names are unique.
    """

    name: str


def login(name, password, users):
    user = users.get(name)
    if user = None:
        return False
    return check(user, password)


def one():
    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    return a + b + c + d + e + f


def last(user):
\treturn user.name
'''
NEW = (
    OLD.replace(
        "user = None:", "user is None:\n        log.warning('nobody is called %r here', name, stacklevel=2)"
    )
    .replace("are unique.", "are unique, whatever their case.")
    .replace("\treturn user.name\n", "    return user.name.lower()")
)
PYTEST = "\x1b[1m=== test session starts ===\x1b[0m\n" + "".join(
    f"tests/test_{name}.py \x1b[32m{'.' * number}\x1b[0m\n"
    for number, name in enumerate(
        ("agents", "catalogue", "config", "demo", "exec", "launch", "log", "paths", "rules", "store", "text"),
        3,
    )
)
FAILED = (
    "\x1b[31mFAILED\x1b[0m tests/test_login.py::test_nobody\n\x1b[31m1 failed\x1b[0m, 72 passed in 0.81s\n"
)


def edits(session: Session) -> None:
    call(
        session,
        title="Edit login.py",
        kind="edit",
        status="completed",
        ended_at=100.0,
        content=[Diff(f"{CWD}/login.py", OLD, NEW, line=1)],
    )


def files(session: Session) -> None:
    call(
        session,
        title="Tidy up",
        kind="edit",
        status="completed",
        ended_at=102.0,
        content=[
            Diff(f"{CWD}/src/hello.py", None, "def hello():\n    return 'world'\n"),
            Diff(f"{CWD}/notes.md", "# Notes\n\nnone\n", None),
            Diff(
                f"{CWD}/b.c",
                None,
                None,
                patch="@@ -10,3 +10,3 @@ int main(void)\n {\n-\treturn 1;\n+\treturn 0;\n }\n",
            ),
            Diff(f"{CWD}/dos.txt", "a\n", "a\n", line_ends=("CRLF", "LF"), line=1),
        ],
    )


def commands(session: Session) -> None:
    terminal(
        session, PYTEST + FAILED, terminal_id="a", command="pytest -q", cwd=CWD, exit_code=1, ended_at=100.8
    )
    terminal(session, "compiling\rcompiling 40 %", terminal_id="b", command="make all", cwd=f"{CWD}/native")
    facts: dict[str, Any] = {"kind": "execute", "ended_at": 100.8}
    call(session, title="pytest -q", status="failed", content=[TerminalRef("a")], **facts)
    call(session, title="Build the library", kind="execute", status="in_progress", content=[TerminalRef("b")])
    listing = Content("text", "```\nREADME.md\nsrc\n```")
    call(session, title="ls", status="completed", content=[listing], **facts)
    terminal(
        session,
        "listening on 8000\n",
        terminal_id="c",
        command="python -m http.server",
        signal="SIGTERM",
        ended_at=160.0,
    )


def others(session: Session) -> None:
    path = f"{CWD}/src/" + "deeply/nested/" * 8 + "module.py"
    call(
        session,
        title=f"Read {path}",
        kind="read",
        status="completed",
        ended_at=101.3,
        content=[Content("text", "x")],
    )
    call(
        session,
        title="grep -rn login src",
        kind="search",
        status="completed",
        ended_at=100.0,
        raw_input={"pattern": "login"},
    )
    call(session, title="Fetch https://example.com/", kind="fetch", status="pending")
    call(session, title="Think", kind="think", status="cancelled", content=[Content("text", "x")])
    moved = call(session, title="Rename", kind="move", status="completed", ended_at=100.0)
    moved.locations = [Location(f"{CWD}/a.py", 3), Location("/etc/hosts")]
    failed: dict[str, Any] = {"status": "failed", "ended_at": 104.0}
    call(
        session,
        title="mcp__tracker__issue",
        raw_input={"id": 17, "fields": ["title", "body"], "options": {"all": True, "since": None}},
        raw_output={"error": "There is no issue 17", "hint": "The last one is 16", "tried": list(range(40))},
        **failed,
    )
    call(
        session,
        title="Read secrets",
        kind="read",
        content=[Content("text", "**Denied**: outside the folder")],
        **failed,
    )
    call(
        session,
        title="Look",
        kind="read",
        content=[Content("image", mime="image/png", name="shot.png", size=12_345)],
        **failed,
    )
    call(session, title="Delete old.py", kind="delete", status="unfinished")


def looks(snap_compare: Any, theme: str, width: int, *made: Callable[[Session], None]) -> bool:
    session = Session(cwd=CWD)
    for make in made:
        make(session)
    shown: list[tuple[Entry, bool]] = [
        (entry, isinstance(entry, ToolCall) and starts_folded(entry)) for entry in session.entries
    ]
    return shows_all(snap_compare, theme, width, shown, session)


@every_look
@every_width
def test_diffs(snap_compare: Any, theme: str, width: int) -> None:
    assert looks(snap_compare, theme, width, edits, files)


@every_look
def test_diffs_with_old_and_new_beside_each_other(snap_compare: Any, theme: str) -> None:
    assert looks(snap_compare, theme, 160, edits, files)


@every_look
@every_width
def test_calls(snap_compare: Any, theme: str, width: int) -> None:
    assert looks(snap_compare, theme, width, commands, others)
