"""The names of the permission policies, strictest first. `permissions.decision` implements the policies."""

from typing import Literal

Policy = Literal["deny", "read-only", "ask", "accept-edits", "yolo"]
POLICIES: tuple[Policy, ...] = ("deny", "read-only", "ask", "accept-edits", "yolo")

POLICY_SUMMARIES: dict[Policy, str] = {
    "deny": "Allow only what a rule allows; reject everything else",
    "read-only": "Allow reading and searching in the workspace; reject the rest",
    "ask": "Ask before everything that no rule allows",
    "accept-edits": "Allow reading and edits in the workspace; ask about the rest",
    "yolo": "Allow everything; ask only about what is dangerous, sensitive or outside the workspace",
}
"""One sentence about each policy."""
