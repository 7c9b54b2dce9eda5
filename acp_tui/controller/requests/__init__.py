"""Answering the agent's requests: permissions, files, terminals and elicitations."""
