"""Checks an agent's messages and describes the agent. The command is in `acp_tui/cli/doctor_run.py`.

May import the packages below `controller`, and the SDK's schema models.
"""
