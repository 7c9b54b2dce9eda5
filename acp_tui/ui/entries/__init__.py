"""What each kind of entry looks like: one small module per kind, found through `registry`."""
