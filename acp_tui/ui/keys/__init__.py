"""Keys: the table of all actions, the user's own keys, and the commands of the palette."""

from acp_tui.ui.keys.key_bindings import (
    KEYS,
    SCOPES,
    TABLE,
    Key,
    KeyScope,
    ScopeName,
    active_keys,
    bindings,
    bound_keys,
    is_bound,
    key_name,
)

__all__ = [
    "KEYS",
    "SCOPES",
    "TABLE",
    "Key",
    "KeyScope",
    "ScopeName",
    "active_keys",
    "bindings",
    "bound_keys",
    "is_bound",
    "key_name",
]
