"""Tool calls: a headline, and below it what the call shows."""
