"""How entries are drawn."""
