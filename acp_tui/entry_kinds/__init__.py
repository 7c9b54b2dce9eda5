"""The kinds of entries: one row per kind in `table`, and what the rows are made of.

The transcript, the search, the exports and `exec` look up rows and know no kinds. This package imports no
screen library; renderers are named in the rows and imported when the first entry of their kind is drawn.
"""
