"""Kills a process at each of the system calls with which it changes files: `... ACTION FOLDER`.

Prints one line per call: the contents of the files after the process was killed there, as JSON. The last line
is from a process that was not killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule
from acp_tui.workspace.baseline.turn_history import HistoryLimits, TurnHistory
from acp_tui.workspace.files.atomic_write import find_real_target, remove_unfinished_writes, write_atomically
from tests.workspace.projects import fill, repository, taken

if TYPE_CHECKING:
    from collections.abc import Callable

CHANGING_CALLS = (
    "open",
    "write",
    "rename",
    "replace",
    "link",
    "unlink",
    "symlink",
    "fsync",
    "fchmod",
    "mkdir",
)
OLD = {"a.txt": "old a\n", "b.txt": "old b\n" * 5000}
NEW = {"a.txt": "new a\n" * 5000, "b.txt": "new b\n"}


async def prepare(action: str, folder: Path) -> Callable[[], Any]:
    """Return what is to be interrupted. It changes the files from `OLD` to `NEW` (or one of them)."""
    if action == "write":
        fill(folder, OLD)
        return lambda: write_atomically(find_real_target(folder / "a.txt"), NEW["a.txt"].encode())
    if action == "remember":
        store = RuleStore(folder / "a.txt")
        store.add(_rule("git", "push"))
        return lambda: store.add(_rule("git", "pull"))
    repository(folder, NEW)
    baseline = await taken(folder)
    history = TurnHistory(baseline, HistoryLimits())
    await history.begin_turn(1)
    fill(folder, OLD)
    history.end_turn()
    await history.settled()
    if action == "revert":
        return lambda: asyncio.run(baseline.revert(folder / "a.txt"))
    return lambda: asyncio.run(history.rewind(1))


def _rule(*words: str) -> Rule:
    return Rule(decision="reject", kind="execute", command=words, scope="everywhere")


def kill_at(call: int) -> None:
    """Kill this process at a certain system call; a write is half done by then."""
    calls = 0

    def interrupted(name: str) -> Callable[..., Any]:
        function = getattr(os, name)

        @wraps(function)
        def wrapper(*args: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == call:
                if name == "write":
                    function(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **more)

        return wrapper

    for name in CHANGING_CALLS:
        setattr(os, name, interrupted(name))


def main(action: str, folder: Path) -> None:
    """Interrupt the action at its first call, then at its second, and so on, until it is completed."""
    run = asyncio.run(prepare(action, folder))
    before = {path: path.read_bytes() for path in sorted(folder.glob("*.txt"))}
    call, status = 0, int(signal.SIGKILL)
    while status == signal.SIGKILL:
        call += 1
        remove_unfinished_writes()
        assert not list(folder.glob(".acp-tui-*"))
        for path, content in before.items():
            path.write_bytes(content)
        child = os.fork()
        if child == 0:
            kill_at(call)
            run()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), status
        print(json.dumps({path.name: path.read_text() for path in before}))


main(sys.argv[1], Path(sys.argv[2]))
