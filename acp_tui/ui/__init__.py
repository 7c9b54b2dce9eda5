"""The Textual app: screens, widgets, keys and themes. It reaches the engine as plain data only."""
