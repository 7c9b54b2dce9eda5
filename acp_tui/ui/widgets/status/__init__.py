"""The status line at the top of a conversation, and what the line shows at which width."""
