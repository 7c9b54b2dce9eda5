"""What acp-tui writes outside its screen: stdout and stderr, text tables, the log file."""
