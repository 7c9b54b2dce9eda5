"""Files and terminals that acp-tui serves to the agent, and the baseline that shows the agent's changes."""
