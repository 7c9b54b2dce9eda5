"""Prompts in a conversation: sending, queueing and editing them, and the prompts of MCP servers."""
