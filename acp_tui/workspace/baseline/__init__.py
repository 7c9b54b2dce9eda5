"""Snapshot of the files at session start: changes since then, and reverting them."""
