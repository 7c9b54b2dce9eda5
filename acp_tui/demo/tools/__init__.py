"""What the demo does as tool calls: read and edit files, run commands, ask for permission."""
