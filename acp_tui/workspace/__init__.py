"""Files and terminals that acp-tui serves to the agent, snapshots to find changes, and access to git."""
