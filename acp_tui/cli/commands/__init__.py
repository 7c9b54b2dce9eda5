"""One module per command, listed in `acp_tui.cli.COMMANDS`. Only the chosen one is imported."""
