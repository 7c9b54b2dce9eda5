"""Incremental Markdown: cut into sections while it grows (`scanner`) and drawn lazily (`document`)."""
