"""The permission dialog: its content, its options, and protection against type-ahead."""
