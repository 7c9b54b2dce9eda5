"""Full-text search over all recorded sessions: an SQLite FTS5 index that is made from their logs.

SQLite comes with Python, so searching needs no further library and no service. A separate process of low
priority keeps the index up to date (`__main__`). The sessions screen and `acp-tui sessions search` only read
the index (`search`). The index is a cache: it can be deleted at any time, and is then made anew. Secrets that
are redacted in the logs are not in the index.
"""
