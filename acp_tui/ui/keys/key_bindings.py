"""All key bindings in one table. Widget bindings, footer, help page and docs/keys.md use the table.

Each action has an id, so that `App.set_keymap` can rebind the action. Within a scope every key is used once,
so that rebinding one action leaves the other actions alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingType
    from textual.dom import DOMNode


ScopeName = Literal[
    "app",
    "launcher",
    "sessions",
    "anywhere",
    "conversation",
    "replay",
    "subagent",
    "prompt",
    "menu",
    "history",
    "edit",
    "queue",
    "read_only",
    "transcript",
    "pane",
    "review",
    "comment",
    "commit",
    "mcp",
    "signin",
    "rename",
    "overview",
    "find",
    "dialog",
    "permission",
    "rule",
    "rules",
    "form",
    "form_choice",
    "choose",
    "rewind",
    "options",
    "detail",
    "help",
]


@dataclass(frozen=True, slots=True)
class KeyScope:
    """A scope of key bindings, such as one part of the screen. The help page has a heading for each scope."""

    title: str
    help: str  # a sentence below the heading


SCOPES: dict[ScopeName, KeyScope] = {
    "launcher": KeyScope("Launcher", "Start an agent or resume a session. Type to filter."),
    "sessions": KeyScope("Sessions", "Recorded sessions. Type to filter and search."),
    "prompt": KeyScope(
        "Prompt",
        "Write to the agent. Prompts sent while it works are queued. @ attaches a file"
        " (@file:10-20 attaches lines 10 to 20). A leading ! runs a shell command.",
    ),
    "menu": KeyScope(
        "Menus",
        "After a leading /: the agent's commands and MCP servers' prompts. After @: files and resources.",
    ),
    "history": KeyScope(
        "History search", "Previous prompts of this project that contain all the words you type."
    ),
    "queue": KeyScope("Queue", "Prompts that are sent when the agent finishes."),
    "read_only": KeyScope(
        "Read-only session", "Shown instead of the prompt if the agent cannot reopen a session."
    ),
    "transcript": KeyScope(
        "Conversation", "The transcript of the session. Its letter keys work only while it has the focus."
    ),
    "pane": KeyScope(
        "Panes",
        "Plan, files, terminals and session, beside the conversation."
        " Their letter keys work only while they have the focus.",
    ),
    "review": KeyScope(
        "Review", "The changed files and their hunks. With the focus on a file, keys act on all its hunks."
    ),
    "mcp": KeyScope(
        "MCP servers",
        "The servers and what is known about each. With the focus on a server, Enter goes to its details.",
    ),
    "signin": KeyScope("Sign-in", "Signing in to an MCP server."),
    "overview": KeyScope("Overview", "All open conversations. The list updates itself."),
    "rename": KeyScope("Rename", "The name of a tab and its session."),
    "comment": KeyScope("Comment", "A comment on changed lines. To delete it, save it empty."),
    "commit": KeyScope("Commit message", "The message of a commit that merges a worktree."),
    "find": KeyScope("Search", "Search the conversation."),
    "permission": KeyScope("Permission", "The agent is waiting for your answer."),
    "rule": KeyScope("Rule", "A permission rule, shown as a sentence whose parts can be changed."),
    "rules": KeyScope("Permission rules", "Edit and revoke remembered answers. Type to filter."),
    "form": KeyScope(
        "Form", "The arguments of a tool or a prompt, or the answer to a question from a server or an agent."
    ),
    "form_choice": KeyScope("Choices", "A form field with values to choose from."),
    "choose": KeyScope("List", "Choose an item. Type to filter."),
    "rewind": KeyScope("Rewind", "Choose the files to restore to what they were before a prompt."),
    "options": KeyScope("Agent options", "The agent's options by category. Type to filter."),
    "detail": KeyScope("Details", "Text shown full-screen, such as an entry or a file."),
    "dialog": KeyScope("Dialogs", "Everything that opens over the conversation: questions, lists, pages."),
    "replay": KeyScope("Replay", "Plays a recorded session. Nothing is sent to an agent."),
    "subagent": KeyScope("Subagent", "The transcript of a subagent. No prompts can be sent from here."),
    "conversation": KeyScope("Turn and agent", "Available wherever the focus is."),
    "anywhere": KeyScope("Anywhere", "Navigation, available wherever the focus is."),
    "app": KeyScope("Program", "Always available."),
    "edit": KeyScope("Editing", "Cursor movement and deletion in the prompt."),
    "help": KeyScope("Help", "This page. Type to search it."),
}
"""All scopes by name, in the order of the help page."""


@dataclass(frozen=True, slots=True)
class Key:
    """An action and the keys bound to it."""

    id: str
    keys: str  # separated by commas; the footer shows the first
    action: str
    label: str  # for the footer, one or two words
    scope: ScopeName
    help: str
    rank: int = 0  # order in the footer, lowest first; 0: not in the footer
    priority: bool = False  # checked before the focused widget sees the key

    def key_names(self, keymap: Mapping[str, str] | None = None) -> str:
        """Return the keys for display: those that `keymap` binds to the action, else the default keys."""
        keys = (keymap or {}).get(self.id, self.keys).split(",")
        return " ".join(key_name(key.strip()) for key in keys)


TABLE: tuple[Key, ...] = (
    # -- launcher: before the filter input; digits only while the filter is empty
    Key("launcher.up", "up", "move(-1)", "up", "launcher", "Previous / next"),
    Key("launcher.down", "down", "move(1)", "down", "launcher", "Previous / next"),
    Key("launcher.page_up", "pageup", "move(-8)", "", "launcher", "Page up / down"),
    Key("launcher.page_down", "pagedown", "move(8)", "", "launcher", "Page up / down"),
    Key(
        "launcher.take",
        "enter",
        "choose",
        "start",
        "launcher",
        "Start, resume, or show install help",
        1,
        True,
    ),
    *(
        Key(
            f"launcher.{digit}",
            str(digit),
            f"number({digit})",
            "",
            "launcher",
            "Choose the item with that number",
        )
        for digit in range(1, 10)
    ),
    Key(
        "launcher.look",
        "f5",
        "refresh_agents",
        "refresh",
        "launcher",
        "Refresh the list of installed agents",
        3,
    ),
    Key("launcher.mcp", "ctrl+n", "mcp_servers", "MCP servers", "launcher", "Show the MCP servers", 3),
    Key(
        "launcher.worktree",
        "alt+t,f6",
        "toggle_worktree",
        "in a worktree",
        "launcher",
        "Turn git worktrees on or off for new agents",
        2,
    ),
    Key(
        "launcher.close",
        "escape",
        "close",
        "quit",
        "launcher",
        "Clear the filter; if it is empty, go back or quit",
        4,
    ),
    Key(
        "launcher.interrupt",
        "ctrl+c",
        "close",
        "",
        "launcher",
        "Clear the filter; if it is empty, go back or quit",
    ),
    # -- sessions: before the filter input
    Key("sessions.up", "up", "move(-1)", "up", "sessions", "Previous / next"),
    Key("sessions.down", "down", "move(1)", "down", "sessions", "Previous / next"),
    Key("sessions.page_up", "pageup", "move(-8)", "", "sessions", "Page up / down"),
    Key("sessions.page_down", "pagedown", "move(8)", "", "sessions", "Page up / down"),
    Key("sessions.open", "enter", "choose", "open", "sessions", "Open the session", 1, True),
    Key(
        "sessions.section",
        "tab",
        "next_section",
        "matching lines",
        "sessions",
        "Show the matching lines, or go back to the sessions",
        2,
    ),
    Key(
        "sessions.folder",
        "f3",
        "toggle_folder",
        "all folders",
        "sessions",
        "Show the sessions of this folder, or of all folders",
        3,
    ),
    Key("sessions.rename", "f2", "rename", "rename", "sessions", "Rename the session", 4),
    Key("sessions.fork", "f7", "fork", "fork", "sessions", "Fork the session, and open the copy", 4),
    Key(
        "sessions.delete",
        "delete,ctrl+d",
        "delete",
        "delete",
        "sessions",
        "Delete the session, or discard the worktree",
        5,
        True,
    ),
    Key(
        "sessions.finish_worktree",
        "f8",
        "finish_worktree",
        "merge",
        "sessions",
        "Merge or discard the worktree",
        5,
    ),
    Key("sessions.export", "f9", "export", "export", "sessions", "Export the session to a file", 6),
    Key(
        "sessions.ask",
        "f6",
        "ask_agent",
        "list the agent's own sessions",
        "sessions",
        "Start an agent and list its sessions",
        7,
    ),
    Key("sessions.reload", "f5", "reload", "refresh", "sessions", "Refresh the list of sessions", 8),
    Key(
        "sessions.close",
        "escape",
        "close",
        "quit",
        "sessions",
        "Clear the filter; if it is empty, go back or quit",
        9,
    ),
    Key("sessions.interrupt", "ctrl+c", "close", "", "sessions", "Same as Esc"),
    # -- prompt
    Key("prompt.send", "enter", "send", "send", "prompt", "Send the prompt, or queue it", 1),
    Key(
        "prompt.newline",
        "ctrl+j,alt+enter,shift+enter",
        "newline",
        "newline",
        "prompt",
        "Insert a newline",
        3,
    ),
    Key(
        "prompt.send_now",
        "alt+s,ctrl+s,ctrl+enter",
        "send_now",
        "send now",
        "prompt",
        "Send the prompt (if empty, the first queued one) into the running turn, or after stopping the turn",
        8,
    ),
    Key(
        "prompt.up",
        "up",
        "up",
        "up",
        "prompt",
        "Up one line; if the prompt is empty, edit the last queued prompt or else recall an earlier one",
    ),
    Key("prompt.down", "down", "down", "down", "prompt", "Down one line, or recall a later prompt"),
    Key("prompt.history", "ctrl+r", "search_history", "history", "prompt", "Search previous prompts", 12),
    Key("prompt.editor", "ctrl+g", "external_editor", "$EDITOR", "prompt", "Edit the prompt in $EDITOR", 13),
    Key(
        "prompt.unfold",
        "alt+u,shift+f7",
        "unfold",
        "unfold paste",
        "prompt",
        "Unfold the paste at the cursor",
        5,
    ),
    Key(
        "prompt.attach_output",
        "ctrl+l",
        "attach_output",
        "attach output",
        "prompt",
        "Attach the output of your last shell command",
        3,
    ),
    # -- menus
    Key("menu.open", "slash", "menu_open", "commands", "menu", "Open the menu of commands and prompts", 4),
    Key("menu.up", "up", "menu_move(-1)", "choose", "menu", "Previous"),
    Key("menu.down", "down", "menu_move(1)", "choose", "menu", "Next"),
    Key(
        "menu.complete",
        "tab",
        "menu_complete",
        "complete",
        "menu",
        "Complete; for a folder, list its files",
        1,
    ),
    Key(
        "menu.take",
        "enter",
        "menu_take",
        "accept",
        "menu",
        "Accept the completion; if it is already typed in full, send the prompt",
        2,
    ),
    Key("menu.close", "escape", "menu_close", "close", "menu", "Close the menu", 3),
    # -- history search
    Key("history.older", "up,ctrl+r", "history('older')", "older", "history", "Older prompt", 3),
    Key("history.newer", "down,ctrl+n", "history('newer')", "newer", "history", "Newer prompt"),
    Key("history.take", "enter,tab", "history('take')", "use", "history", "Use the prompt", 1),
    Key("history.close", "escape,ctrl+g", "history('close')", "close", "history", "Close the search", 2),
    # -- queue
    Key("queue.up", "up,k", "move(-1)", "up", "queue", "Previous prompt"),
    Key(
        "queue.down",
        "down,j",
        "move(1)",
        "down",
        "queue",
        "Next prompt; from the last one, back to the input",
    ),
    Key("queue.edit", "enter,e", "edit", "edit", "queue", "Remove the prompt from the queue and edit it", 2),
    Key(
        "queue.send_now",
        "s,alt+s,ctrl+s,ctrl+enter",
        "send_now",
        "send now",
        "queue",
        "Send the prompt now: into the running turn if the agent supports that, else after stopping the turn",
        1,
    ),
    Key(
        "queue.remove",
        "delete,d,backspace",
        "remove",
        "remove",
        "queue",
        "Remove the prompt from the queue",
        3,
    ),
    Key("queue.leave", "escape", "leave", "back", "queue", "Back to the prompt", 4),
    # -- read-only
    Key(
        "session.continue",
        "enter",
        "continue",
        "continue",
        "read_only",
        "Continue in a new session; its prompt is filled with a summary of this one",
        1,
    ),
    # -- transcript
    Key("transcript.copy", "c", "copy_entry", "copy", "transcript", "Copy the entry", 1),
    Key("transcript.copy_answer", "y", "copy_answer", "copy answer", "transcript", "Copy the last answer", 9),
    Key("transcript.copy_code", "C", "copy_code", "copy code", "transcript", "Copy the code block", 8),
    Key(
        "transcript.fold",
        "space,enter",
        "fold",
        "fold",
        "transcript",
        "Fold or unfold the entry; open the transcript of a subagent",
        2,
    ),
    Key(
        "transcript.fold_kind",
        "f",
        "fold_kind",
        "fold kind",
        "transcript",
        "Fold or unfold all entries of this kind",
    ),
    Key("transcript.fold_all", "F", "fold_all", "fold all", "transcript", "Fold or unfold all entries"),
    Key(
        "transcript.whole",
        "v",
        "full_entry",
        "full",
        "transcript",
        "View the full entry: whole diff, all output",
        3,
    ),
    Key("transcript.raw", "r", "raw", "raw", "transcript", "Show the raw JSON", 3),
    Key(
        "transcript.edit",
        "e",
        "open_in_editor",
        "$EDITOR",
        "transcript",
        "Open the file in $EDITOR, at the line the agent named",
        4,
    ),
    Key(
        "transcript.open",
        "o",
        "open",
        "open",
        "transcript",
        "Open the link, the image, the subagent's transcript, or the rule that gave this permission",
    ),
    Key("transcript.kill", "x", "kill", "stop", "transcript", "Stop your running command, or the subagent"),
    Key("transcript.attach", "a", "attach", "attach", "transcript", "Attach a command's output"),
    Key("transcript.up", "up,k", "scroll_up", "up", "transcript", "Scroll"),
    Key("transcript.down", "down,j", "scroll_down", "down", "transcript", "Scroll"),
    Key("transcript.entry_before", "K", "move(-1)", "", "transcript", "Previous / next entry"),
    Key("transcript.entry_after", "J", "move(1)", "", "transcript", "Previous / next entry"),
    Key("transcript.home", "g,home", "scroll_home", "top", "transcript", "Top / bottom"),
    Key("transcript.end", "G,end", "scroll_end", "end", "transcript", "Top / bottom"),
    Key(
        "transcript.prompt_before",
        "left_square_bracket",
        "jump('prompt', -1)",
        "",
        "transcript",
        "Previous / next prompt",
    ),
    Key(
        "transcript.prompt_after",
        "right_square_bracket",
        "jump('prompt', 1)",
        "",
        "transcript",
        "Previous / next prompt",
    ),
    Key(
        "transcript.tool_before",
        "left_curly_bracket",
        "jump('tool', -1)",
        "",
        "transcript",
        "Previous / next tool call",
    ),
    Key(
        "transcript.tool_after",
        "right_curly_bracket",
        "jump('tool', 1)",
        "",
        "transcript",
        "Previous / next tool call",
    ),
    Key(
        "transcript.error_before",
        "left_parenthesis",
        "jump('error', -1)",
        "",
        "transcript",
        "Previous / next error",
    ),
    Key(
        "transcript.error",
        "right_parenthesis,exclamation_mark",
        "jump('error', 1)",
        "",
        "transcript",
        "Previous / next error",
    ),
    Key("transcript.help", "question_mark", "app.help", "", "transcript", "Show the keys"),
    Key("transcript.find", "slash", "screen.search", "search", "transcript", "Search", 5),
    Key("transcript.find_next", "n", "find_next(1)", "", "transcript", "Next / previous match"),
    Key("transcript.find_previous", "N", "find_next(-1)", "", "transcript", "Next / previous match"),
    Key("transcript.leave", "i", "leave", "prompt", "transcript", "Back to the prompt"),
    # -- panes
    Key("pane.open", "enter", "open", "open", "pane", "Open the file, show the output, set the option", 1),
    Key("pane.diff", "v", "diff", "diff", "pane", "Files: show changes since session start", 2),
    Key("pane.revert", "u,r", "revert", "revert", "pane", "Files: restore the version from session start", 3),
    Key("pane.accept", "y", "accept", "accept", "pane", "Files: accept the change, as in the review", 3),
    Key(
        "pane.undo",
        "Z,ctrl+underscore",
        "undo",
        "undo",
        "pane",
        "Files: undo what you last accepted or reverted",
    ),
    Key("pane.kill", "k", "kill", "stop", "pane", "Terminals: stop the command", 2),
    Key("pane.follow", "f", "follow", "follow", "pane", "Files: follow the agent", 3),
    Key("pane.look", "R", "look", "refresh", "pane", "Files: refresh from disk"),
    Key("pane.zoom", "z", "zoom", "zoom", "pane", "Toggle full screen", 4),
    Key("pane.before", "left", "turn(-1)", "", "pane", "Previous / next pane"),
    Key("pane.after", "right", "turn(1)", "", "pane", "Previous / next pane"),
    *(
        Key(f"pane.{digit}", str(digit), f"tab({digit})", "", "pane", "Go to plan, files, terminals, session")
        for digit in range(1, 5)
    ),
    Key("pane.up", "up", "move(-1)", "up", "pane", "Previous / next"),
    Key("pane.down", "down", "move(1)", "down", "pane", "Previous / next", 5),
    Key("pane.page_up", "pageup", "page(-1)", "", "pane", "Scroll a page"),
    Key("pane.page_down", "pagedown", "page(1)", "", "pane", "Scroll a page"),
    Key("pane.home", "home", "home", "", "pane", "Top / bottom"),
    Key("pane.end", "end", "end", "", "pane", "Top / bottom"),
    Key("pane.leave", "escape", "leave", "back", "pane", "Leave full screen, or go back to the prompt", 4),
    # -- review
    Key("review.accept", "y", "accept", "accept", "review", "Accept the hunk or file", 1),
    Key("review.revert", "u", "revert", "revert", "review", "Revert the hunk or file on disk", 2),
    Key(
        "review.comment", "c", "comment", "comment", "review", "Comment on the lines, or edit the comment", 3
    ),
    Key("review.range", "v", "range", "", "review", "Start or end a range of lines"),
    Key("review.edit", "e", "edit", "edit", "review", "Open the file in $EDITOR, at the cursor's line", 8),
    Key("review.undo", "Z,ctrl+underscore", "undo", "undo", "review", "Undo the last decision", 4),
    Key("review.revert_all", "U", "revert_all", "", "review", "Revert everything shown, after confirmation"),
    Key("review.send", "S", "send", "send", "review", "Send all comments as one prompt", 4),
    Key(
        "review.filter",
        "f",
        "filter",
        "filter",
        "review",
        "Show all changes, those of one turn, or those with comments",
        7,
    ),
    Key("review.hunk_before", "left_square_bracket", "hunk(-1)", "", "review", "Previous / next hunk"),
    Key("review.hunk_after", "right_square_bracket", "hunk(1)", "hunk", "review", "Previous / next hunk", 5),
    Key("review.file_before", "left_curly_bracket", "file(-1)", "", "review", "Previous / next file"),
    Key("review.file_after", "right_curly_bracket", "file(1)", "file", "review", "Previous / next file", 6),
    Key(
        "review.switch",
        "tab,shift+tab",
        "switch",
        "switch side",
        "review",
        "Switch between the list and the hunks",
        9,
    ),
    Key("review.open", "enter", "open", "", "review", "Go from the list to the hunks"),
    Key("review.up", "up,k", "move(-1)", "", "review", "Previous / next line"),
    Key("review.down", "down,j", "move(1)", "", "review", "Previous / next line"),
    Key("review.page_up", "pageup", "page(-1)", "", "review", "Scroll a page"),
    Key("review.page_down", "pagedown,space", "page(1)", "", "review", "Scroll a page"),
    Key("review.home", "home,g", "end(-1)", "", "review", "Top / bottom"),
    Key("review.end", "end,G", "end(1)", "", "review", "Top / bottom"),
    Key("review.help", "question_mark", "app.help", "", "review", "Show the keys"),
    Key("review.close", "escape,q,f2", "close", "close", "review", "Close the review", 10),
    # -- the overview
    Key("overview.open", "enter", "open", "go to", "overview", "Go to the conversation", 1),
    Key("overview.up", "up,k", "move(-1)", "", "overview", "Previous / next conversation"),
    Key("overview.down", "down,j", "move(1)", "", "overview", "Previous / next conversation"),
    Key("overview.rename", "n", "rename_selected", "rename", "overview", "Rename the conversation", 3),
    Key(
        "overview.close_tab",
        "delete,x",
        "close_selected",
        "close tab",
        "overview",
        "Close the tab of the conversation and end its agent",
        4,
    ),
    Key("overview.close", "escape,q", "close", "back", "overview", "Close the overview", 5),
    # -- the name of a tab
    Key(
        "rename.save",
        "enter",
        "save",
        "save",
        "rename",
        "Save the name; if empty, restore the original title",
        1,
    ),
    Key("rename.close", "escape", "close", "cancel", "rename", "Cancel", 2),
    # -- comments
    Key("comment.save", "enter", "save", "save", "comment", "Save the comment", 1),
    Key(
        "comment.newline",
        "ctrl+j,alt+enter,shift+enter",
        "newline",
        "new line",
        "comment",
        "Insert a newline",
        3,
    ),
    Key("comment.up", "up", "row(-1)", "", "comment", "Previous / next line"),
    Key("comment.down", "down", "row(1)", "", "comment", "Previous / next line"),
    Key("comment.cancel", "escape", "cancel", "cancel", "comment", "Cancel", 2),
    # -- the message of a commit
    Key("commit.save", "enter", "save", "commit", "commit", "Commit with this message", 1),
    Key("commit.newline", "ctrl+j,alt+enter,shift+enter", "newline", "", "commit", "Insert a newline"),
    Key("commit.close", "escape", "close", "back", "commit", "Close without a commit", 2),
    # -- MCP servers
    Key("mcp.test", "t", "test", "test", "mcp", "Connect to the server and list what it offers", 1),
    Key("mcp.test_all", "T", "test_all", "test all", "mcp", "Test all servers that are enabled", 6),
    Key("mcp.stop", "x", "stop", "disconnect", "mcp", "Disconnect from the server, or stop connecting", 3),
    Key(
        "mcp.enable", "space", "enable", "disable", "mcp", "Enable or disable the server for new sessions", 5
    ),
    Key("mcp.sign_in", "s", "sign_in", "sign in", "mcp", "Sign in to the server", 2),
    Key("mcp.sign_out", "S", "sign_out", "sign out", "mcp", "Sign out, and delete the stored tokens", 7),
    Key(
        "mcp.connection",
        "b",
        "connection",
        "bridge",
        "mcp",
        "Choose between a direct connection and the bridge",
        7,
    ),
    Key("mcp.edit", "e", "edit", "edit", "mcp", "Open the server's definition in $EDITOR", 8),
    Key("mcp.open", "enter", "open", "open", "mcp", "Call the tool, read the resource, show the item", 1),
    Key("mcp.view", "v", "view", "view", "mcp", "Show the item, or the server, in full", 4),
    Key(
        "mcp.changes",
        "d",
        "changes",
        "difference",
        "mcp",
        "Show what has changed in the tool since you accepted it",
        3,
    ),
    Key("mcp.accept", "a", "accept", "accept", "mcp", "Accept the tool as it is now", 3),
    Key(
        "mcp.switch", "tab,shift+tab", "switch", "switch side", "mcp", "Switch between servers and details", 9
    ),
    Key("mcp.tab_before", "left", "turn(-1)", "", "mcp", "Previous / next tab"),
    Key("mcp.tab_after", "right", "turn(1)", "tab", "mcp", "Previous / next tab", 8),
    *(
        Key(
            f"mcp.{digit}",
            str(digit),
            f"tab({digit})",
            "",
            "mcp",
            "Go to tools, prompts, resources, calls, log",
        )
        for digit in range(1, 6)
    ),
    Key("mcp.up", "up,k", "move(-1)", "", "mcp", "Previous / next item"),
    Key("mcp.down", "down,j", "move(1)", "", "mcp", "Previous / next item"),
    Key("mcp.page_up", "pageup", "page(-1)", "", "mcp", "Scroll a page"),
    Key("mcp.page_down", "pagedown", "page(1)", "", "mcp", "Scroll a page"),
    Key("mcp.home", "home,g", "end(-1)", "", "mcp", "Top / bottom"),
    Key("mcp.end", "end,G", "end(1)", "", "mcp", "Top / bottom"),
    Key("mcp.help", "question_mark", "app.help", "", "mcp", "Show the keys"),
    Key("mcp.filter", "slash", "filter", "filter", "mcp", "Filter the tools, prompts or resources", 6),
    Key("mcp.back", "escape", "back", "close", "mcp", "From a tab to the servers; from there, close", 10),
    Key("mcp.close", "q,ctrl+n", "close", "", "mcp", "Close the list of servers"),
    # -- sign-in to an MCP server: before the input
    Key("signin.send", "enter", "send", "send", "signin", "Send what you pasted", 1),
    Key("signin.copy", "alt+c,ctrl+y", "copy", "copy", "signin", "Copy the address", 2),
    Key("signin.cancel", "escape", "close", "cancel", "signin", "Cancel the sign-in", 3),
    # -- search
    Key("find.next", "enter,down", "find_next(1)", "next", "find", "Next match", 1),
    Key("find.previous", "up,shift+enter", "find_next(-1)", "previous", "find", "Previous match", 2),
    Key("find.close", "escape", "close", "close", "find", "Close the search", 3),
    # -- dialogs
    Key(
        "dialog.interrupt",
        "ctrl+c",
        "interrupt",
        "",
        "dialog",
        "Copy the selection; without one, close",
    ),
    # -- permission
    Key("permission.allow", "a", "answer('allow_once')", "allow", "permission", "Allow once", 1),
    Key("permission.allow_always", "A", "answer('allow_always')", "always", "permission", "Allow always", 2),
    Key("permission.reject", "r", "answer('reject_once')", "reject", "permission", "Reject once", 3),
    Key(
        "permission.reject_always", "R", "answer('reject_always')", "never", "permission", "Reject always", 4
    ),
    Key(
        "permission.reason",
        "t",
        "reason",
        "reject, saying why",
        "permission",
        "Reject, and tell the agent why",
        5,
    ),
    *(
        Key(
            f"permission.{digit}",
            str(digit),
            f"option({digit})",
            "",
            "permission",
            "Choose the option with that number",
        )
        for digit in range(1, 10)
    ),
    Key("permission.write", "tab", "write", "prompt", "permission", "Write a prompt; the question waits", 9),
    Key("permission.up", "up", "move(-1)", "up", "permission", "Choose an option"),
    Key("permission.down", "down", "move(1)", "down", "permission", "Choose an option"),
    Key("permission.take", "enter", "choose", "answer", "permission", "Answer with the chosen option", 5),
    Key("permission.diff", "v", "view_diff", "full diff", "permission", "View the full diff", 6),
    Key("permission.raw", "i", "raw", "raw input", "permission", "View the raw input", 7),
    Key("permission.page_up", "pageup", "page(-1)", "", "permission", "Scroll the request"),
    Key("permission.page_down", "pagedown", "page(1)", "", "permission", "Scroll the request"),
    Key(
        "permission.cancel",
        "escape",
        "close",
        "stop",
        "permission",
        'Close the raw input or full diff; else answer "cancelled" and stop the turn',
        8,
    ),
    # -- rules
    Key("rule.before", "left", "part(-1)", "part", "rule", "Previous / next part of the rule"),
    Key("rule.after", "right", "part(1)", "part", "rule", "Previous / next part of the rule"),
    Key("rule.up", "up", "change(-1)", "change", "rule", "Previous / next value of this part"),
    Key("rule.down", "down", "change(1)", "change", "rule", "Previous / next value of this part"),
    Key("rule.take", "enter", "confirm", "remember", "rule", "Answer, and remember the rule", 1),
    Key("rule.close", "escape", "cancel", "back", "rule", "Close without a rule", 2),
    # -- permission rules: before the filter input
    Key("rules.up", "up,ctrl+p", "move(-1)", "up", "rules", "Previous / next"),
    Key("rules.down", "down,ctrl+n", "move(1)", "down", "rules", "Previous / next"),
    Key("rules.page_up", "pageup", "move(-8)", "", "rules", "Page up / down"),
    Key("rules.page_down", "pagedown", "move(8)", "", "rules", "Page up / down"),
    Key("rules.edit", "enter", "edit", "edit", "rules", "Edit the rule", 1),
    Key("rules.revoke", "delete,ctrl+d", "revoke", "revoke", "rules", "Revoke the rule", 2, priority=True),
    Key("rules.undo", "ctrl+underscore,alt+u", "undo", "undo", "rules", "Undo the last change of a rule", 3),
    Key(
        "rules.close",
        "escape",
        "close",
        "close",
        "rules",
        "Clear the filter; if it is empty, close the list",
        4,
    ),
    # -- forms
    Key("form.take", "enter", "take", "next", "form", "Next field; after the last one, review", 1),
    Key("form.next", "tab", "move(1)", "next", "form", "Previous / next field"),
    Key("form.previous", "shift+tab", "move(-1)", "previous", "form", "Previous / next field"),
    Key("form.up", "up", "rows(-1)", "up", "form", "Line, choice or field above / below"),
    Key("form.down", "down", "rows(1)", "down", "form", "Line, choice or field above / below"),
    Key("form.page_up", "pageup", "page(-1)", "", "form", "Scroll the form"),
    Key("form.page_down", "pagedown", "page(1)", "", "form", "Scroll the form"),
    Key("form.newline", "ctrl+j,alt+enter,shift+enter", "newline", "", "form", "Insert a newline"),
    Key("form.review", "ctrl+s,ctrl+enter", "review", "review", "form", "Review what will be sent", 2),
    Key("form.json", "ctrl+o", "json", "as JSON", "form", "Switch between fields and JSON", 5),
    Key("form.schema", "ctrl+r", "schema", "schema", "form", "View the JSON schema", 6),
    Key("form.decline", "ctrl+n", "decline", "decline", "form", "Decline to answer the server or agent", 3),
    Key("form.close", "escape", "close", "cancel", "form", "Close the form without an answer", 4),
    Key("form.choose", "space", "choose", "choose", "form_choice", "Choose or unselect the value", 1),
    # -- lists
    Key("choose.up", "up,ctrl+p", "move(-1)", "up", "choose", "Previous / next"),
    Key("choose.down", "down,ctrl+n", "move(1)", "down", "choose", "Previous / next"),
    Key("choose.page_up", "pageup", "move(-8)", "", "choose", "Page up / down"),
    Key("choose.page_down", "pagedown", "move(8)", "", "choose", "Page up / down"),
    Key("choose.take", "enter", "choose", "choose", "choose", "Choose the selected item", 1),
    Key("choose.close", "escape", "close", "cancel", "choose", "Cancel", 2),
    # -- the files of a rewind
    Key("rewind.up", "up,k,ctrl+p", "move(-1)", "up", "rewind", "Previous / next"),
    Key("rewind.down", "down,j,ctrl+n", "move(1)", "down", "rewind", "Previous / next"),
    Key("rewind.page_up", "pageup", "move(-8)", "", "rewind", "Page up / down"),
    Key("rewind.page_down", "pagedown", "move(8)", "", "rewind", "Page up / down"),
    Key("rewind.home", "home,g", "end(-1)", "", "rewind", "Top / bottom"),
    Key("rewind.end", "end,G", "end(1)", "", "rewind", "Top / bottom"),
    Key(
        "rewind.take",
        "enter",
        "choose",
        "choose",
        "rewind",
        "Restore, or choose the file",
        1,
    ),
    Key("rewind.switch", "space", "switch", "on / off", "rewind", "Choose the file, or no longer", 2),
    Key("rewind.all", "a", "toggle_all", "all", "rewind", "Choose all files, or none", 3),
    Key("rewind.diff", "v", "diff", "diff", "rewind", "Show what restoring the file changes", 4),
    Key("rewind.close", "escape", "close", "cancel", "rewind", "Cancel", 5),
    # -- the agent's options: all before the filter, so that they take effect in the order of the key presses
    Key("options.up", "up,ctrl+p", "move(-1)", "up", "options", "Previous / next option", priority=True),
    Key("options.down", "down,ctrl+n", "move(1)", "down", "options", "Previous / next option", priority=True),
    Key("options.page_up", "pageup", "move(-8)", "", "options", "Page up / down", priority=True),
    Key("options.page_down", "pagedown", "move(8)", "", "options", "Page up / down", priority=True),
    Key("options.previous", "left", "switch(-1)", "", "options", "Previous / next value", priority=True),
    Key("options.next", "right", "switch(1)", "", "options", "Previous / next value", priority=True),
    Key(
        "options.switch",
        "space",
        "switch(1)",
        "change",
        "options",
        "Turn the option on or off, or choose its next value",
        1,
        True,
    ),
    Key(
        "options.take",
        "enter",
        "choose",
        "values",
        "options",
        "Show the option's values, or turn the option on or off",
        2,
    ),
    Key("options.close", "escape", "close", "close", "options", "Close", 3),
    # -- details
    Key("detail.up", "up,k", "scroll(-1)", "up", "detail", "Scroll"),
    Key("detail.down", "down,j", "scroll(1)", "down", "detail", "Scroll"),
    Key("detail.page_up", "pageup,b", "page(-1)", "", "detail", "Scroll a page"),
    Key("detail.page_down", "pagedown,space", "page(1)", "", "detail", "Scroll a page"),
    Key("detail.home", "home,g", "home", "", "detail", "Top / bottom"),
    Key("detail.end", "end,G", "end", "", "detail", "Top / bottom"),
    Key("detail.copy", "y,c", "copy", "copy", "detail", "Copy everything", 1),
    Key("detail.close", "escape,q", "close", "close", "detail", "Close", 2),
    # -- replay: before the transcript, but not before the search input
    Key(
        "replay.pause", "space", "pause", "pause", "replay", "Pause or play; at the end: play again", -6, True
    ),
    Key("replay.step", "right", "step", "step", "replay", "Next step", -5, True),
    Key("replay.faster", "plus", "speed(1)", "faster", "replay", "Faster", -4, True),
    Key("replay.slower", "minus", "speed(-1)", "slower", "replay", "Slower", -3, True),
    Key("replay.start", "home", "start", "start", "replay", "Restart", -2, True),
    Key("replay.finish", "end", "finish", "end", "replay", "Jump to end", -1, True),
    Key("replay.close", "escape", "close", "quit", "replay", "Close the open view, else quit", 9),
    Key("replay.quit", "q", "quit", "", "replay", "Close the open view, else quit", priority=True),
    Key(
        "replay.interrupt",
        "ctrl+c",
        "interrupt",
        "quit",
        "replay",
        "Copy the selection, else close the open view; press twice to quit",
    ),
    # -- the transcript of a subagent
    Key("subagent.stop", "ctrl+x", "stop_subagent", "stop subagent", "subagent", "Stop the subagent", 1),
    Key("subagent.close", "escape", "close", "back", "subagent", "Close the open view, else go back", 2),
    Key("subagent.interrupt", "ctrl+c", "interrupt", "", "subagent", "Copy the selection, else go back"),
    # -- conversation
    Key("turn.stop", "escape", "stop", "stop", "conversation", "Close the open view, else stop the agent", 2),
    Key(
        "turn.interrupt",
        "ctrl+c",
        "interrupt",
        "stop",
        "conversation",
        "Copy the selection, else do the same as Esc; while nothing runs, press twice to quit",
    ),
    Key("turn.again", "f6", "send_again", "send again", "conversation", "Send the last prompt again", 2),
    Key("mode.next", "shift+tab", "next_mode", "mode", "conversation", "Switch to the agent's next mode", 9),
    Key(
        "session.options",
        "ctrl+o",
        "options",
        "options",
        "conversation",
        "Agent options: mode, model and others",
        11,
    ),
    Key(
        "session.policy",
        "alt+p,shift+f6",
        "policy",
        "policy",
        "conversation",
        "Change the permission policy",
        12,
    ),
    Key(
        "session.rules",
        "shift+f4",
        "rules",
        "permissions",
        "conversation",
        "List, edit and revoke permission rules",
    ),
    Key("agent.restart", "f5", "restart_agent", "restart agent", "conversation", "Restart the agent", 15),
    Key(
        "session.own_tools",
        "shift+f5",
        "own_tools",
        "",
        "conversation",
        "Turn acp-tui's own tools on or off for the agent",
    ),
    Key("session.export", "f9", "export", "export", "conversation", "Export the conversation to a file", 16),
    Key(
        "session.undo_rewind",
        "ctrl+underscore",
        "undo_rewind",
        "",
        "conversation",
        "Undo the last rewind of files",
    ),
    Key("session.review", "f2", "review", "review", "conversation", "Review what has changed", 10),
    Key("session.mcp", "ctrl+n", "mcp_servers", "MCP", "conversation", "Show the MCP servers", 13),
    # -- anywhere
    Key("conversation.find", "ctrl+f", "search", "search", "anywhere", "Search the conversation", 10),
    Key("conversation.find_next", "f3", "find_next(1)", "next", "anywhere", "Next match"),
    Key("conversation.find_previous", "shift+f3", "find_next(-1)", "previous", "anywhere", "Previous match"),
    Key("entry.before", "alt+up", "entry(-1)", "", "anywhere", "Previous / next entry"),
    Key("entry.after", "alt+down", "entry(1)", "", "anywhere", "Previous / next entry"),
    Key("prompt.before", "alt+pageup", "prompt(-1)", "", "anywhere", "Previous / next prompt"),
    Key("prompt.after", "alt+pagedown", "prompt(1)", "", "anywhere", "Previous / next prompt"),
    Key("conversation.page_up", "pageup", "page(-1)", "", "anywhere", "Scroll the conversation"),
    Key("conversation.page_down", "pagedown", "page(1)", "", "anywhere", "Scroll the conversation"),
    Key("conversation.home", "ctrl+home", "home", "", "anywhere", "Top / bottom of the conversation"),
    Key("conversation.end", "ctrl+end", "end", "", "anywhere", "Top / bottom of the conversation"),
    Key("panes.toggle", "ctrl+b", "toggle_panes", "panes", "anywhere", "Open or close the panes", 10),
    Key("panes.focus", "f8", "focus_panes", "", "anywhere", "Focus the panes, or go back to the prompt"),
    Key("session.usage", "alt+c,shift+f9", "usage", "usage", "anywhere", "Usage: context, tokens and cost"),
    Key(
        "conversation.tab",
        "tab",
        "focus_part",
        "",
        "anywhere",
        "Return to the agent's question; if there is none, focus the next part of the screen",
    ),
    # -- program
    Key("app.help", "f1", "help", "help", "app", "Show the keys", 7, priority=True),
    Key("app.palette", "ctrl+p", "palette", "palette", "app", "Command palette: all commands and themes", 7),
    Key("app.sessions", "f4", "sessions", "sessions", "app", "List recorded sessions and search in them", 13),
    Key(
        "tab.new",
        "ctrl+t",
        "new_tab",
        "new tab",
        "app",
        "New tab: start an agent or resume a session",
        14,
        True,
    ),
    Key(
        "tab.after",
        "ctrl+pagedown,alt+right",
        "turn_tab(1)",
        "",
        "app",
        "Previous / next tab",
        priority=True,
    ),
    Key(
        "tab.before",
        "ctrl+pageup,alt+left",
        "turn_tab(-1)",
        "",
        "app",
        "Previous / next tab",
        priority=True,
    ),
    *(
        Key(
            f"tab.{digit}",
            f"alt+{digit}",
            f"show_tab({digit})",
            "",
            "app",
            "Go to the tab with that number",
            priority=True,
        )
        for digit in range(1, 10)
    ),
    Key(
        "tab.waiting",
        "alt+a,shift+f1",
        "show_waiting",
        "",
        "app",
        "Go to the tab that waits for you, and open its question",
        priority=True,
    ),
    Key(
        "tab.overview",
        "alt+o,shift+f12",
        "overview",
        "",
        "app",
        "Show all open conversations and what they are doing",
        priority=True,
    ),
    Key(
        "tab.rename",
        "alt+n,shift+f2",
        "rename_tab",
        "",
        "app",
        "Rename the tab and its session",
        priority=True,
    ),
    Key(
        "tab.close", "alt+w,ctrl+f4", "close_tab", "", "app", "Close the tab and end its agent", priority=True
    ),
    Key("app.suspend", "ctrl+z", "suspend_process", "", "app", "Suspend to the shell; `fg` resumes"),
    Key("app.quit", "ctrl+q", "quit", "quit", "app", "Quit", 14, priority=True),
    # -- editing
    Key("edit.left", "left", "cursor_left", "", "edit", "Previous / next character"),
    Key("edit.right", "right", "cursor_right", "", "edit", "Previous / next character"),
    Key("edit.word_left", "ctrl+left,alt+b", "cursor_word_left", "", "edit", "Previous / next word"),
    Key("edit.word_right", "ctrl+right,alt+f", "cursor_word_right", "", "edit", "Previous / next word"),
    Key("edit.home", "home,ctrl+a", "cursor_line_start", "", "edit", "Start / end of line"),
    Key("edit.end", "end,ctrl+e", "cursor_line_end", "", "edit", "Start / end of line"),
    Key("select.left", "shift+left", "cursor_left(True)", "", "edit", "Select"),
    Key("select.right", "shift+right", "cursor_right(True)", "", "edit", "Select"),
    Key("select.up", "shift+up", "cursor_up(True)", "", "edit", "Select"),
    Key("select.down", "shift+down", "cursor_down(True)", "", "edit", "Select"),
    Key("select.home", "shift+home", "cursor_line_start(True)", "", "edit", "Select"),
    Key("select.end", "shift+end", "cursor_line_end(True)", "", "edit", "Select"),
    Key("select.word_left", "ctrl+shift+left", "cursor_word_left(True)", "", "edit", "Select words"),
    Key("select.word_right", "ctrl+shift+right", "cursor_word_right(True)", "", "edit", "Select words"),
    Key("select.all", "f7", "select_all", "", "edit", "Select everything"),
    Key("edit.backspace", "backspace", "delete_left", "", "edit", "Delete previous / next character"),
    Key("edit.delete", "delete,ctrl+d", "delete_right", "", "edit", "Delete previous / next character"),
    Key(
        "edit.delete_word_left",
        "ctrl+w,alt+backspace,ctrl+backspace",
        "delete_word_left",
        "",
        "edit",
        "Delete previous / next word",
    ),
    Key(
        "edit.delete_word_right",
        "alt+d,alt+delete,ctrl+delete",
        "delete_word_right",
        "",
        "edit",
        "Delete previous / next word",
    ),
    Key(
        "edit.delete_to_start",
        "ctrl+u",
        "delete_to_start_of_line",
        "",
        "edit",
        "Delete to start / end of line",
    ),
    Key(
        "edit.delete_to_end",
        "ctrl+k",
        "delete_to_end_of_line_or_delete_line",
        "",
        "edit",
        "Delete to start / end of line",
    ),
    Key("edit.undo", "ctrl+underscore", "undo", "", "edit", "Undo"),
    Key("edit.redo", "ctrl+right_square_bracket", "redo", "", "edit", "Redo"),
    Key("edit.yank", "ctrl+y", "yank", "", "edit", "Insert the words or lines that were last deleted"),
    Key("edit.cut", "ctrl+x", "cut", "", "edit", "Cut, copy, paste"),
    Key("edit.copy", "ctrl+c,super+c", "copy", "", "edit", "Cut, copy, paste"),
    Key("edit.paste", "ctrl+v", "paste", "", "edit", "Cut, copy, paste"),
    # -- help
    Key("help.up", "up", "scroll(-1)", "up", "help", "Scroll"),
    Key("help.down", "down", "scroll(1)", "down", "help", "Scroll"),
    Key("help.page_up", "pageup", "page(-1)", "", "help", "Scroll a page"),
    Key("help.page_down", "pagedown", "page(1)", "", "help", "Scroll a page"),
    Key("help.close", "escape", "close", "close", "help", "Clear the search; if it is empty, close", 1),
    Key("help.quit", "f1", "close_page", "", "help", "Close the help", priority=True),
)

KEYS: dict[str, Key] = {key.id: key for key in TABLE}


def bindings(*scopes: ScopeName) -> list[BindingType]:
    """Return the Textual bindings of one or several scopes."""
    return [
        Binding(key.keys, key.action, key.help, show=False, priority=key.priority, id=key.id)
        for key in TABLE
        if key.scope in scopes
    ]


def bound_keys(node: DOMNode, key_id: str) -> str:
    """Return the keys of an action for display, as bound in the running app."""
    return KEYS[key_id].key_names(getattr(node.app, "keymap", None))


def is_bound(node: DOMNode, scope: ScopeName, key: str) -> bool:
    """Return True if a key, in Textual's spelling, is bound in a scope of the running app."""
    return any(key in active_keys(node, action.id) for action in TABLE if action.scope == scope)


def active_keys(node: DOMNode, key_id: str) -> list[str]:
    """Return the keys of an action in Textual's spelling, as bound in the running app."""
    keymap: Mapping[str, str] = getattr(node.app, "keymap", {})
    return keymap.get(key_id, KEYS[key_id].keys).split(",")


_NAMES = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "delete": "Del",
    "slash": "/",
    "underscore": "_",
    "plus": "+",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "exclamation_mark": "!",
    "question_mark": "?",
}


def key_name(key: str) -> str:
    """Return a key for display: `ctrl+j` becomes Ctrl+J."""
    *modifiers, last = key.split("+")
    if last in _NAMES:
        last = _NAMES[last]
    elif len(last) == 1:
        last = last.upper() if modifiers else last
    else:
        last = last.capitalize()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), last])
