"""Full-text search over all recorded sessions: an SQLite FTS5 index that is made from their logs.

SQLite comes with Python, so searching needs no further library and no service. A separate process of low
priority keeps the index up to date (`__main__`). The screen and the command line only read it (`search`).
The index is a cache: it can be deleted at any time, and is then made anew. Secrets are not in it, because
they are redacted in the logs.
"""
