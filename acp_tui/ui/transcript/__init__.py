"""The transcript: one widget for a whole conversation, drawn line by line (see `view`)."""
