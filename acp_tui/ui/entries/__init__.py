"""The renderers that draw entries: one for each kind, named in `acp_tui.entry_kinds.kind_table`.

A renderer is a function `body(entry, context)`. Of the other packages in `ui`, `entries`
imports only `drawing`, `keys`, `markdown`, `terminal` and `theme`.
"""
