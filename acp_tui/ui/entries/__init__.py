"""How entries are drawn: one renderer per kind, named in `acp_tui.entry_kinds.kind_table`.

A renderer is a function `body(entry, context)`. Renderers may import `drawing`, `markdown` and `theme`.
"""
