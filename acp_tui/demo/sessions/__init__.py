"""The demo's sessions: what is stored on disk, what lasts while a session is open, and its settings."""
