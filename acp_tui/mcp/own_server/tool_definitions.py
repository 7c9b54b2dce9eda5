"""The definitions of the tools that acp-tui offers to agents."""

from __future__ import annotations

from typing import Any


def _tool(
    name: str, title: str, description: str, properties: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return {"name": name, "title": title, "description": description, "inputSchema": schema}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


SHOW_FILE = _tool(
    "show_file",
    "Show a file",
    "Show the user a text file. It opens on their screen; you do not get its content.",
    {
        "path": _text("Path of the file, absolute or relative to the session's directory."),
        "line": {"type": "integer", "minimum": 1, "description": "The line to start at, counted from 1."},
    },
    ("path",),
)
SHOW_DIFF = _tool(
    "show_diff",
    "Show a diff",
    "Show the user a change as a coloured diff. Nothing is written. With `path` alone, the tool shows how "
    "the file has changed since the session began; with `old` and `new`, the change from one to the other.",
    {
        "path": _text("Path of the file, absolute or relative to the session's directory."),
        "old": _text("The text before the change; leave it out for a new file."),
        "new": _text("The text after the change."),
    },
    ("path",),
)
ASK_USER = _tool(
    "ask_user",
    "Ask the user",
    "Ask the user a question and return the answer. Without a schema, the answer is a single text. The user "
    "can decline.",
    {
        "question": _text("The question."),
        "schema": {
            "type": "object",
            "description": "A JSON Schema of type object. The user sees a form with one field per property.",
        },
    },
    ("question",),
)
NOTIFY = _tool(
    "notify",
    "Notify the user",
    "Tell the user something that must not be missed. The message is shown in the conversation, and as a "
    "desktop notification if the user is looking at another window.",
    {"message": _text("One or two sentences.")},
    ("message",),
)
OPEN_URL = _tool(
    "open_url",
    "Open a web page",
    "Open a page in the user's browser. The user sees the whole address and has to agree each time.",
    {"url": _text("The address, beginning with http:// or https://.")},
    ("url",),
)
READ_SELECTION = _tool(
    "read_selection",
    "Read the selection",
    "Return the text that the user has selected in the conversation or in the prompt.",
    {},
)

BUILT_IN = (SHOW_FILE, SHOW_DIFF, ASK_USER, NOTIFY, OPEN_URL, READ_SELECTION)
