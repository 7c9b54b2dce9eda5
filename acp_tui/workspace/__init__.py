"""What acp-tui serves to the agent: files and terminals; and the baseline that changes are compared with."""
