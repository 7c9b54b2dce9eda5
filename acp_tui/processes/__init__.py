"""Child processes that never outlive acp-tui, not even when acp-tui is killed with SIGKILL.

A separate watcher process ends the child processes that are still running when acp-tui is gone. The package
imports only `session`, so that `connection`, `mcp` and `workspace` can use the package.
"""
