"""One module per command, as listed in `acp_tui.cli.COMMANDS`. Only the chosen command is imported."""
