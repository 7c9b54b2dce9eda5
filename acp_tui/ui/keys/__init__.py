"""Keys: the table of all actions, the user's own keys, and the commands of the palette."""

from acp_tui.ui.keys.table import (
    KEYS,
    SCOPES,
    TABLE,
    Key,
    KeyScope,
    ScopeName,
    bindings,
    bound_keys,
    key_name,
)

__all__ = ["KEYS", "SCOPES", "TABLE", "Key", "KeyScope", "ScopeName", "bindings", "bound_keys", "key_name"]
