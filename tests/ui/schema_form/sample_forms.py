"""Schemas and dialogs for the tests of the form."""

from __future__ import annotations

from typing import Any

from acp_tui.mcp.schema_validation import SchemaValidator
from acp_tui.ui.schema_form.dialog import SchemaFormDialog
from tests.support.looks import Show

BOOKING: dict[str, Any] = {
    "type": "object",
    "description": "The office is closed on Sundays.",
    "required": ["name", "room"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "As on your badge", "minLength": 2},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "room": {
            "title": "Room",
            "oneOf": [
                {"const": "a", "title": "Attic", "description": "8 seats"},
                {"const": "b", "title": "Basement", "description": "20 seats, no windows"},
            ],
        },
        "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 20, "default": 4},
        "catering": {"type": "boolean", "title": "Catering", "default": False},
        "extras": {
            "type": "array",
            "title": "Extras",
            "items": {"enum": ["projector", "whiteboard", "phone"]},
            "maxItems": 2,
        },
        "guests": {"type": "array", "title": "Guests", "items": {"type": "string"}},
        "day": {"type": "string", "title": "Day", "format": "date"},
    },
}
NESTED: dict[str, Any] = {
    "type": "object",
    "oneOf": [{"required": ["path"]}, {"required": ["query"]}],
    "properties": {"path": {"type": "string"}, "query": {"type": "object"}, "depth": {"default": 3}},
}
SECRETS: dict[str, Any] = {
    "type": "object",
    "required": ["api_token"],
    "properties": {
        "api_token": {"type": "string", "description": "Paste it from\x1b[31m your\u202e account page"},
        "password": {"type": "string", "format": "password"},
        "country": {"enum": [f"Country {number}" for number in range(1, 251)]},
    },
}


class Clock:
    """A clock set by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def form_app(schema: Any, theme: str = "dark", *, title: str = "Call book_room", **more: Any) -> Show:
    """Return an app that shows the form of a schema."""
    clock = Clock()

    def screen() -> SchemaFormDialog:
        return SchemaFormDialog(
            title,
            schema,
            asked_by='MCP server "office"',
            validate=SchemaValidator(schema).faults,
            clock=clock,
            **more,
        )

    app = Show(theme, screen=screen)  # type: ignore[arg-type]  # of whatever result
    app.clock = clock  # type: ignore[attr-defined]
    return app
