"""Panes beside the conversation: plan, files, terminals and session. They are created on first use."""
