"""The kinds of entries. A row of `kind_table` says how its kind is drawn, folded, searched and exported.

The transcript, the search, the exports and `exec` look up rows and do not depend on kinds. This package
imports no screen library; renderers are named in the rows and imported when the first entry of their kind is
drawn.
"""
