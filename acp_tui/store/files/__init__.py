"""File formats and locks for other packages: JSON lines, TOML, locks between processes."""
