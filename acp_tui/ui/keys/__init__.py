"""Keys: the table of all actions, the user's own keys, and the commands of the palette."""

from acp_tui.ui.keys.table import KEYS, PLACES, TABLE, Key, Place, Where, bindings, key_name, named

__all__ = ["KEYS", "PLACES", "TABLE", "Key", "Place", "Where", "bindings", "key_name", "named"]
