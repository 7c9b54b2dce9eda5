"""Child processes that never outlive acp-tui, not even when it is killed with SIGKILL.

A separate watcher process ends those that are still running when acp-tui is gone. Imports only `session`, so
that `connection`, `mcp` and `workspace` can use it.
"""

from acp_tui.processes.reaper import Reaper, ReaperClosedError
from acp_tui.processes.watched_process import WatchedProcess

__all__ = ["Reaper", "ReaperClosedError", "WatchedProcess"]
