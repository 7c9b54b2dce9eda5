"""Frames of permission requests as real agents sent them, with changed paths."""

from __future__ import annotations

from typing import Any

CLAUDE_BASH: list[dict[str, Any]] = [
    {
        "_meta": {"claudeCode": {"toolName": "Bash"}},
        "toolCallId": "toolu_0120fb22dc13ede7",
        "sessionUpdate": "tool_call",
        "name": "Bash",
        "rawInput": {},
        "status": "pending",
        "title": "Terminal",
        "kind": "execute",
        "content": [],
    },
    {
        "toolCallId": "toolu_0120fb22dc13ede7",
        "name": "Bash",
        "status": "pending",
        "rawInput": {"command": "touch one"},
        "title": "touch one",
        "kind": "execute",
        "content": [],
        "locations": [{"path": "/ws/project/one"}],
    },
]
CLAUDE_EDIT: list[dict[str, Any]] = [
    {
        "toolCallId": "toolu_00255ebab29520fc",
        "name": "Edit",
        "status": "pending",
        "rawInput": {
            "file_path": "/ws/project/README.md",
            "old_string": "alpha",
            "new_string": "omega",
            "replace_all": False,
        },
        "title": "Edit README.md",
        "kind": "edit",
        "content": [
            {"type": "diff", "path": "/ws/project/README.md", "oldText": "alpha", "newText": "omega"}
        ],
        "locations": [{"path": "/ws/project/README.md"}],
    }
]
KIMI_BASH: list[dict[str, Any]] = [
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "0:call_10854752fdb99e93",
        "title": "Bash",
        "kind": "execute",
        "status": "pending",
        "content": [{"type": "content", "content": {"type": "text", "text": ""}}],
    },
    {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "0:call_10854752fdb99e93",
        "status": "in_progress",
        "content": [{"type": "content", "content": {"type": "text", "text": '{"command": "touch one"}'}}],
    },
    {
        "toolCallId": "0:call_10854752fdb99e93",
        "title": "Bash",
        "content": [
            {
                "type": "content",
                "content": {"type": "text", "text": "Requesting approval to Running: touch one"},
            }
        ],
    },
]
OPENCODE_BASH: list[dict[str, Any]] = [
    {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "call_00909b11c5b3e5de",
        "status": "in_progress",
        "kind": "execute",
        "title": "touch one",
        "locations": [{"path": "/ws/project"}],
        "rawInput": {"command": "touch one", "cwd": "/ws/project"},
    },
    {
        "toolCallId": "call_00909b11c5b3e5de",
        "title": "touch one",
        "kind": "execute",
        "status": "pending",
        "locations": [],
        "rawInput": {"command": "touch one"},
    },
]
OPENCODE_EDIT: list[dict[str, Any]] = [
    {
        "toolCallId": "call_002157a670c46b51",
        "title": "/ws/project/README.md",
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": "/ws/project/README.md"}],
        "rawInput": {"filepath": "/ws/project/README.md", "diff": "Index: /ws/project/README.md\n--- …"},
        "content": [
            {"type": "diff", "path": "/ws/project/README.md", "oldText": "# Sample\n", "newText": "# Other\n"}
        ],
    }
]
EXAMPLE_EDIT: list[dict[str, Any]] = [
    {
        "toolCallId": "call_2",
        "title": "Modifying critical configuration file",
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": "/home/user/project/config.json"}],
        "rawInput": {
            "path": "/home/user/project/config.json",
            "content": '{"database": {"host": "new-host"}}',
        },
    }
]
CLAUDE_PLAN: list[dict[str, Any]] = [
    {
        "toolCallId": "toolu_0245968cd6bbc949",
        "name": "ExitPlanMode",
        "status": "pending",
        "rawInput": {},
        "title": "Approve Plan",
        "kind": "switch_mode",
        "content": [],
    }
]
KIMI_TERMINAL = ("/bin/bash", "-c", "cd '/ws/project' && touch one")
KIMI_ENVIRONMENT = {"NO_COLOR": "1", "TERM": "dumb", "GIT_TERMINAL_PROMPT": "0", "SHELL": "/bin/bash"}
