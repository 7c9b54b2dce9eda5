"""The built-in agent: a small ACP agent for any model with an OpenAI-compatible API.

It runs in a process of its own, `python -m acp_tui.local_agent`, and imports nothing else of `acp_tui`. A
good reading order: `agent` (the methods of the protocol), `turn` (the loop that answers a prompt), `tools`,
`model`. `docs/write-an-agent.md` walks through it.
"""
