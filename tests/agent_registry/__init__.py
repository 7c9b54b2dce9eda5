"""The registry of agents, and what is installed from it."""
