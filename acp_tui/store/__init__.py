"""Session folders: the wire log, stderr, metadata; also drafts and prompt history."""
