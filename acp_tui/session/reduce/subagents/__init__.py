"""Subagents: other agents that the agent started.

Each subagent has a `Session` of its own, which belongs to its `Subagent` entry. The same reducer applies the
subagent's events to that session. The conversation's session (`root`) holds all subagents by key, including
those that other subagents started. In `reduce`, only `__init__` and `lifecycle` import from this package.
"""
