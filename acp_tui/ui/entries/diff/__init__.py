"""How a diff is drawn."""
