"""Slash commands that show what the agent does in a turn: plans, tool calls, calls to MCP servers."""
