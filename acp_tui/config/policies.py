"""What may happen without asking: the names, from the strictest on. What each means: `permissions.decide`."""

from typing import Literal

Policy = Literal["deny", "read-only", "ask", "accept-edits", "yolo"]
POLICIES: tuple[Policy, ...] = ("deny", "read-only", "ask", "accept-edits", "yolo")
