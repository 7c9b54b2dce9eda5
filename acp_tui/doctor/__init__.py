"""Checks an agent's messages and describes the agent. The command is in `acp_tui/cli/commands/doctor.py`.

At run time, the only imported packages of acp-tui are those listed below `controller` in
docs/architecture.md. The SDK is not needed: messages are compared with the schema itself.
"""
