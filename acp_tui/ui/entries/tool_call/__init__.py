"""Tool calls: a headline, and below it the command, the changes or the output."""
