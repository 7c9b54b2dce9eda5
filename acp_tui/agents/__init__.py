"""The catalogue of agents and how each is launched."""
