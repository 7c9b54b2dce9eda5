"""The built-in agent: a small ACP agent for any model with an OpenAI-compatible API.

It runs in a process of its own and imports nothing else of `acp_tui`.
"""
