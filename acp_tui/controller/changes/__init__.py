"""The files a conversation changes: the baseline, diffs of tool calls, review and rewind."""
