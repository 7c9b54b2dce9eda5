"""The kinds of transcript entries. Each kind has a row in `kind_table`: how to draw, fold and export entries.

The transcript, the search, the exports and `exec` look up an entry's row, and contain no code for particular
kinds. This package imports no screen library: a row names its renderer, which is imported when the first
entry of the kind is drawn.
"""
