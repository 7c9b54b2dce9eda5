"""A terminal client for any coding agent that speaks the Agent Client Protocol."""

__version__ = "0.1.0"
