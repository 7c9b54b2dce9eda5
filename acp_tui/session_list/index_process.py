"""The process that updates the index: `python -m acp_tui.session_list.index_process`.

The process reports on standard output, with one JSON object per line: {"done": 12, "total": 1000},
{"waiting": true} while another process updates the index, or {"error": "…"}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from acp_tui.config.paths import paths, private_directory
from acp_tui.errors import UserError
from acp_tui.session_list.search_index import remove_index, update_index
from acp_tui.store.locks import LockedError, file_lock

WAITING_SECONDS = 0.5
"""Seconds between two attempts to take the lock while another process has it."""
NICENESS = 19


def main(arguments: list[str]) -> int:
    """Update the index of all sessions and return the exit code. `--rebuild` deletes the index first."""
    with suppress(OSError):
        os.nice(NICENESS)
    places = paths()
    try:
        private_directory(places.cache)
        with ExitStack() as stack:
            _enter_lock(stack, places.cache / "sessions.lock")
            if "--rebuild" in arguments:
                remove_index(places.cache)
            update_index(places.cache, places.data, lambda done, total: _print(done=done, total=total))
    except (UserError, OSError) as error:
        _print(error=str(error))
        return 1
    return 0


def _enter_lock(stack: ExitStack, path: Path) -> None:
    """Take the lock for updates. If another process is updating the index, wait until it has finished."""
    while True:
        try:
            stack.enter_context(file_lock(path, timeout=0))
        except LockedError:
            _print(waiting=True)
            time.sleep(WAITING_SECONDS)
        else:
            return


def _print(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
