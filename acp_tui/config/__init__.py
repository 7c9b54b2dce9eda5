"""Where things are kept and what the user has set."""
