"""The process that updates the index: `python -m acp_tui.session_index`. `IndexUpdater` starts it.

Prints one JSON object per line: {"done": 12, "total": 1000}, or {"error": "…"}.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from acp_tui.config.paths import paths, private_directory
from acp_tui.errors import UserError
from acp_tui.session_index.database import remove_index
from acp_tui.session_index.index_update import update_index
from acp_tui.store.locks import file_lock

LOCK_SECONDS = 3600.0
"""Seconds to wait for another process that updates the index. Its work is not repeated then."""
NICENESS = 19


def main(arguments: list[str]) -> int:
    """Update the index of all sessions and return the exit code. `--rebuild` makes it from scratch."""
    with suppress(OSError):
        os.nice(NICENESS)
    places = paths()
    try:
        private_directory(places.cache)
        with file_lock(places.cache / "sessions.lock", timeout=LOCK_SECONDS):
            if "--rebuild" in arguments:
                remove_index(places.cache)
            update_index(places.cache, places.data, lambda done, total: _print(done=done, total=total))
    except (UserError, OSError) as error:
        _print(error=str(error))
        return 1
    return 0


def _print(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
