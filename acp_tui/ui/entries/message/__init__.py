"""Draws the messages of the user and of the agent, and the agent's thoughts."""
