"""What a conversation changes: the baseline, and the diffs of tool calls in their files."""
