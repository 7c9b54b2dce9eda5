"""Commands with their output: in the transcript, in full, and as a text to attach."""
