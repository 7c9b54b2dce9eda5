"""Checks an agent's messages and describes the agent. The command is in `acp_tui/cli/doctor_run.py`.

Imports only packages listed below `controller` in docs/architecture.md, and the SDK's schema models.
"""
