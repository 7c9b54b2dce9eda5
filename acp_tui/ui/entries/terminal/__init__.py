"""How a terminal and its output are drawn."""
