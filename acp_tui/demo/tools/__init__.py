"""The demo's actions that clients see as tool calls: reading and editing files, and running commands."""
