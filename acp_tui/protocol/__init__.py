"""Frames to events: one translator per dialect, forgiving and pure."""
