"""Connects a conversation to its screen: the runner, pending questions, status, frames, alerts."""
