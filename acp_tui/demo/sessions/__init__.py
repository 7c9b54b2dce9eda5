"""The demo's sessions: settings, what is stored on disk, and what lasts only while a session is open."""
