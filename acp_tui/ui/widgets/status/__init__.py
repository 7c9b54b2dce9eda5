"""The status line at the top of a conversation, and what it shows at which width."""
