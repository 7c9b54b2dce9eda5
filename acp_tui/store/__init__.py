"""Session folders: the wire log, stderr, meta data; drafts and history beside them."""
