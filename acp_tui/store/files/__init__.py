"""File formats and locks that the other modules use: JSON lines, TOML, locks between processes."""
