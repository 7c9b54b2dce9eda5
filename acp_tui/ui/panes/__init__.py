"""Panes beside the conversation: the plan, files, terminals, and the session. Made when first asked for."""
