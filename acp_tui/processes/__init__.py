"""Processes of ours, and the certainty that none of them outlives us.

The neutral ground below connection and workspace: both start programs, and neither may leave one behind,
not even when acp-tui itself is killed without a chance to clean up.
"""

from acp_tui.processes.reaper import Reaper, ReaperClosedError
from acp_tui.processes.watched_process import WatchedProcess

__all__ = ["Reaper", "ReaperClosedError", "WatchedProcess"]
