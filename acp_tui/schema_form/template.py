"""The initial text when an object is edited as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_tui.schema_form.fields import NO_VALUE
from acp_tui.schema_form.references import resolved
from acp_tui.schema_form.values import MAX_TEXT
from acp_tui.session.json_depth import limit_depth

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PROPERTIES = 100
"""The maximum number of properties in the initial object."""


def starting_object(schema: object, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the given values, the defaults, and null for other required properties.

    Only the first `MAX_PROPERTIES` properties of the schema are considered. Very long defaults are ignored.
    Most schemas do not allow null, so the user has to replace each null.
    """
    top = (resolved(schema, schema) if isinstance(schema, dict) else None) or {}
    properties, required = top.get("properties"), top.get("required")
    found: dict[str, Any] = {}
    if isinstance(properties, dict):
        for name, property_schema in list(properties.items())[:MAX_PROPERTIES]:
            default = (
                property_schema.get("default", NO_VALUE) if isinstance(property_schema, dict) else NO_VALUE
            )
            if default is not NO_VALUE and len(json.dumps(limit_depth(default))) <= MAX_TEXT:
                found[name] = limit_depth(default)
            elif isinstance(required, list) and name in required:
                found[name] = None
    return found | dict(values)
