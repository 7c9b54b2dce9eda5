"""What stands between a conversation and its widgets."""
