"""Palette titles of key actions: a verb and a noun each, the most useful ones first.

Cursor movement and editing have no command; the help page lists their keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND_TITLES: Mapping[str, str] = {
    # the conversation
    "turn.stop": "Stop the agent",
    "turn.again": "Send last prompt again",
    "session.policy": "Change policy",
    "session.options": "Change agent options",
    "mode.next": "Switch to next mode",
    "panes.toggle": "Toggle panes",
    "conversation.find": "Search conversation",
    "session.export": "Export conversation",
    "agent.restart": "Restart agent",
    "prompt.send_now": "Send prompt now",
    "prompt.history": "Search prompt history",
    "prompt.editor": "Edit prompt in $EDITOR",
    "menu.open": "Run agent command",
    "prompt.attach_output": "Attach command output",
    "prompt.unfold": "Unfold paste",
    "prompt.newline": "Insert newline",
    # one entry of the conversation
    "transcript.copy_answer": "Copy last answer",
    "transcript.copy_code": "Copy code block",
    "transcript.copy": "Copy entry",
    "transcript.whole": "View full entry",
    "transcript.fold": "Fold entry",
    "transcript.fold_kind": "Fold entries of this kind",
    "transcript.fold_all": "Fold all entries",
    "transcript.raw": "View raw JSON",
    "transcript.edit": "Open file in $EDITOR",
    "transcript.open": "Open link or image",
    "transcript.kill": "Stop running command",
    "transcript.attach": "Attach entry output",
    "transcript.prompt_before": "Go to previous prompt",
    "transcript.prompt_after": "Go to next prompt",
    "transcript.tool_before": "Go to previous tool call",
    "transcript.tool_after": "Go to next tool call",
    "transcript.error_before": "Go to previous error",
    "transcript.error": "Go to next error",
    "conversation.find_next": "Go to next match",
    "conversation.find_previous": "Go to previous match",
    "conversation.home": "Go to start of conversation",
    "conversation.end": "Go to end of conversation",
    # the queue
    "queue.edit": "Edit queued prompt",
    "queue.send_now": "Send queued prompt now",
    "queue.remove": "Remove queued prompt",
    # panes
    "panes.focus": "Focus panes",
    "pane.1": "Show plan",
    "pane.2": "Show files",
    "pane.3": "Show terminals",
    "pane.4": "Show session details",
    "pane.open": "Open selected item",
    "pane.diff": "View file changes",
    "pane.revert": "Revert file",
    "pane.kill": "Stop terminal",
    "pane.follow": "Follow agent in files",
    "pane.look": "Refresh files",
    "pane.zoom": "Zoom pane",
    # a replay
    "replay.pause": "Pause or continue replay",
    "replay.step": "Step replay",
    "replay.faster": "Speed up replay",
    "replay.slower": "Slow down replay",
    "replay.start": "Restart replay",
    "replay.finish": "Jump to end of replay",
    # the program
    "launcher.look": "Refresh agents",
    "app.help": "Show help",
    "app.suspend": "Suspend acp-tui",
    "app.quit": "Quit acp-tui",
}
"""Titles by key id."""
