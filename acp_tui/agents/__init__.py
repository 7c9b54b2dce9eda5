"""The known agents, and how each is started."""
