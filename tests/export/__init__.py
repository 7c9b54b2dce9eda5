"""Exports of recorded sessions."""
