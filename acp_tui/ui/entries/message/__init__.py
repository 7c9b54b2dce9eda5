"""The messages of the user and the agent, and its thoughts."""
