"""Recorded sessions as documents."""
