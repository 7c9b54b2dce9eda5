"""What acp-tui serves to the agent: files and terminals. Also the baseline that shows the agent's changes."""
