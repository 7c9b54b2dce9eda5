"""What acp-tui records: session folders (wire log, stderr, metadata), drafts and prompt history."""
