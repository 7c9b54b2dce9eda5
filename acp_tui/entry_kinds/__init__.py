"""The kinds of transcript entries. Each kind has a row in `kind_table`: how to draw, fold and export entries.

To draw, search, fold or export an entry, the transcript, the search, the exports and the text output of
`exec` look up the entry's row. A row names a renderer and the entry's blocks, from which the exports, the
plain text and the searched text are made. This package imports no screen library: the renderer is imported
when the first entry of the kind is drawn.
"""
