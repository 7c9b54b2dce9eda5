"""Every key of the program, in one table: what widgets bind, the footer and the help all come from it.

A key has an id, so that `App.set_keymap` can give it other keys. Within one place each key stands once: one
binding may be moved without taking another with it.
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
    "anywhere",
    "conversation",
    "replay",
    "prompt",
    "menu",
    "history",
    "edit",
    "queue",
    "transcript",
    "pane",
    "find",
    "dialog",
    "permission",
    "choose",
    "detail",
    "help",
]


@dataclass(frozen=True, slots=True)
class KeyScope:
    """A part of the screen that has keys of its own."""

    title: str
    help: str  # what it is for, in a few words


SCOPES: dict[ScopeName, KeyScope] = {
    "launcher": KeyScope("Launcher", "Start an agent or resume a session. Type to filter."),
    "prompt": KeyScope(
        "Prompt",
        "Write to the agent. While it works, what you send waits in the queue. @ attaches a file"
        " (@file:10-20 some lines of it), ! at the beginning runs a command of your own.",
    ),
    "menu": KeyScope("Menus", "The agent's commands after / at the beginning, files after @."),
    "history": KeyScope("History search", "What was asked in this project; all words you type must occur."),
    "queue": KeyScope("Queue", "Prompts that wait until the agent has finished."),
    "transcript": KeyScope("Conversation", "Everything that was said and done. Letters act only here."),
    "pane": KeyScope(
        "Panes", "Plan, files, terminals and session, beside the conversation. Letters act only here."
    ),
    "find": KeyScope("Search", "Finds words in the conversation."),
    "permission": KeyScope("Permission", "The agent waits for your answer."),
    "choose": KeyScope("List", "Choose one; what you type narrows the list."),
    "detail": KeyScope("Details", "All of a text, as it is."),
    "dialog": KeyScope("Dialogs", "Whatever opens over the conversation: questions, lists, pages."),
    "replay": KeyScope("Replay", "Plays what was recorded; nothing is sent to any agent."),
    "conversation": KeyScope("Turn and agent", "These work wherever the cursor is."),
    "anywhere": KeyScope("Anywhere", "Moving about, wherever the cursor is."),
    "app": KeyScope("Program", "These always work."),
    "edit": KeyScope("Editing", "Moving and deleting in the prompt."),
    "help": KeyScope("Help", "This page."),
}
"""In the order of the help page."""


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that keys do."""

    id: str
    keys: str  # separated by commas; the first is the one that is shown
    action: str
    label: str  # for the footer, a word or two
    where: ScopeName
    help: str
    rank: int = 0  # in the footer: the lowest is shown first, 0 never
    priority: bool = False  # before whatever has the focus

    def key_names(self, keymap: Mapping[str, str] | None = None) -> str:
        """Its keys as a person writes them, after rebinding."""
        keys = (keymap or {}).get(self.id, self.keys).split(",")
        return " ".join(key_name(key.strip()) for key in keys)


TABLE: tuple[Key, ...] = (
    # -- launcher: these come before what is typed into its filter, digits as long as that is empty
    Key("launcher.up", "up", "move(-1)", "up", "launcher", "The one above, below"),
    Key("launcher.down", "down", "move(1)", "down", "launcher", "The one above, below"),
    Key("launcher.page_up", "pageup", "move(-8)", "", "launcher", "Further up, down"),
    Key("launcher.page_down", "pagedown", "move(8)", "", "launcher", "Further up, down"),
    Key(
        "launcher.take",
        "enter",
        "take",
        "start",
        "launcher",
        "Start it, go on with it, or tell how to install it",
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
            "The one with that number",
        )
        for digit in range(1, 10)
    ),
    Key("launcher.look", "f5", "look_again", "look again", "launcher", "Look again for what is installed", 3),
    Key("launcher.close", "escape", "close", "quit", "launcher", "Empty the filter, else quit", 4),
    Key("launcher.interrupt", "ctrl+c", "close", "", "launcher", "Empty the filter, else quit"),
    # -- prompt
    Key("prompt.send", "enter", "send", "send", "prompt", "Send the prompt, or queue it", 1),
    Key(
        "prompt.newline",
        "ctrl+j,alt+enter,shift+enter",
        "newline",
        "newline",
        "prompt",
        "Begin a new line",
        3,
    ),
    Key(
        "prompt.send_now",
        "alt+s,ctrl+enter",
        "send_now",
        "send now",
        "prompt",
        "Stop the agent and send at once: the prompt, or the first one queued",
        8,
    ),
    Key(
        "prompt.up",
        "up",
        "up",
        "up",
        "prompt",
        "One line up; in an empty prompt take back the last queued one, else what was asked before",
    ),
    Key("prompt.down", "down", "down", "down", "prompt", "One line down, or what was asked after that"),
    Key(
        "prompt.history", "ctrl+r", "search_history", "history", "prompt", "Search what was asked before", 12
    ),
    Key("prompt.editor", "ctrl+g", "external_editor", "$EDITOR", "prompt", "Edit the prompt in $EDITOR", 13),
    Key("prompt.unfold", "ctrl+t", "unfold", "unfold paste", "prompt", "Unfold the paste at the cursor", 5),
    Key(
        "prompt.attach_output",
        "ctrl+l",
        "attach_output",
        "attach output",
        "prompt",
        "Attach what your command wrote",
        3,
    ),
    # -- menus of commands and files
    Key("menu.open", "slash", "menu_open", "commands", "menu", "Choose one of the agent's commands", 4),
    Key("menu.up", "up", "menu_move(-1)", "choose", "menu", "The one above"),
    Key("menu.down", "down", "menu_move(1)", "choose", "menu", "The one below"),
    Key("menu.complete", "tab", "menu_complete", "complete", "menu", "Write it out; go on in a folder", 1),
    Key("menu.take", "enter", "menu_take", "take", "menu", "Take it; what is written in full is sent", 2),
    Key("menu.close", "escape", "menu_close", "close", "menu", "Close the menu", 3),
    # -- search in the history
    Key("history.older", "up,ctrl+r", "history('older')", "older", "history", "An older one", 3),
    Key("history.newer", "down,ctrl+n", "history('newer')", "newer", "history", "A newer one"),
    Key("history.take", "enter,tab", "history('take')", "take", "history", "Take it into the prompt", 1),
    Key("history.close", "escape,ctrl+g", "history('close')", "close", "history", "Close the search", 2),
    # -- queue
    Key("queue.up", "up,k", "move(-1)", "up", "queue", "The prompt above"),
    Key(
        "queue.down",
        "down,j",
        "move(1)",
        "down",
        "queue",
        "The prompt below; from the last one back to yours",
    ),
    Key("queue.edit", "enter,e", "edit", "edit", "queue", "Take it back and edit it", 2),
    Key(
        "queue.send_now",
        "s,alt+s,ctrl+enter",
        "send_now",
        "send now",
        "queue",
        "Stop the agent and send it",
        1,
    ),
    Key("queue.remove", "delete,d,backspace", "remove", "remove", "queue", "Remove it", 3),
    Key("queue.leave", "escape", "leave", "back", "queue", "Back to the prompt", 4),
    # -- transcript
    Key("transcript.copy", "c", "copy_entry", "copy", "transcript", "Copy the entry", 1),
    Key("transcript.copy_answer", "y", "copy_answer", "copy answer", "transcript", "Copy the last answer", 9),
    Key("transcript.copy_code", "C", "copy_code", "copy code", "transcript", "Copy the code block", 8),
    Key("transcript.fold", "space,enter", "fold", "fold", "transcript", "Fold or unfold the entry", 2),
    Key("transcript.fold_kind", "f", "fold_kind", "fold kind", "transcript", "… all of its kind"),
    Key("transcript.fold_all", "F", "fold_all", "fold all", "transcript", "… everything that folds"),
    Key(
        "transcript.whole",
        "v",
        "whole",
        "whole",
        "transcript",
        "All of the entry: the whole diff, all of the output",
        3,
    ),
    Key("transcript.raw", "r", "raw", "raw", "transcript", "Show the raw JSON", 3),
    Key("transcript.edit", "e", "open_in_editor", "$EDITOR", "transcript", "Open the place in $EDITOR", 4),
    Key("transcript.open", "o", "open", "open", "transcript", "Open the link or the image"),
    Key("transcript.kill", "x", "kill", "kill", "transcript", "End your command that runs"),
    Key("transcript.attach", "a", "attach", "attach", "transcript", "Attach what a command wrote"),
    Key("transcript.up", "up,k", "scroll_up", "up", "transcript", "Scroll"),
    Key("transcript.down", "down,j", "scroll_down", "down", "transcript", "Scroll"),
    Key("transcript.home", "g,home", "scroll_home", "top", "transcript", "To the beginning, to the end"),
    Key("transcript.end", "G,end", "scroll_end", "end", "transcript", "To the beginning, to the end"),
    Key(
        "transcript.prompt_before",
        "left_square_bracket",
        "jump('prompt', -1)",
        "",
        "transcript",
        "The prompt before, after",
    ),
    Key(
        "transcript.prompt_after",
        "right_square_bracket",
        "jump('prompt', 1)",
        "",
        "transcript",
        "The prompt before, after",
    ),
    Key(
        "transcript.tool_before",
        "left_curly_bracket",
        "jump('tool', -1)",
        "",
        "transcript",
        "The tool call before, after",
    ),
    Key(
        "transcript.tool_after",
        "right_curly_bracket",
        "jump('tool', 1)",
        "",
        "transcript",
        "The tool call before, after",
    ),
    Key(
        "transcript.error_before",
        "left_parenthesis",
        "jump('error', -1)",
        "",
        "transcript",
        "The error before, after",
    ),
    Key(
        "transcript.error",
        "right_parenthesis,exclamation_mark",
        "jump('error', 1)",
        "",
        "transcript",
        "The error before, after",
    ),
    Key("transcript.help", "question_mark", "app.help", "", "transcript", "The keys, and what they act on"),
    Key("transcript.find", "slash", "screen.search", "search", "transcript", "Search", 5),
    Key("transcript.find_next", "n", "find_next(1)", "", "transcript", "The next hit, the one before"),
    Key("transcript.find_previous", "N", "find_next(-1)", "", "transcript", "The next hit, the one before"),
    Key("transcript.leave", "i", "leave", "prompt", "transcript", "Back to the prompt, as any other typing"),
    # -- panes
    Key("pane.open", "enter", "open", "open", "pane", "Open the file, show the output, set the option", 1),
    Key("pane.diff", "v", "diff", "diff", "pane", "Files: what has changed since the session began", 2),
    Key("pane.revert", "r", "revert", "revert", "pane", "Files: put it back as it was", 3),
    Key("pane.kill", "k", "kill", "kill", "pane", "Terminals: end the command", 2),
    Key("pane.follow", "f", "follow", "follow", "pane", "Files: stay with what the agent is at", 3),
    Key("pane.look", "u", "look", "look again", "pane", "Files: look at the disk again"),
    Key("pane.zoom", "z", "zoom", "zoom", "pane", "The full screen, and back", 4),
    Key("pane.before", "left", "turn(-1)", "", "pane", "The pane before, after"),
    Key("pane.after", "right", "turn(1)", "", "pane", "The pane before, after"),
    *(
        Key(f"pane.{digit}", str(digit), f"tab({digit})", "", "pane", "Plan, files, terminals, session")
        for digit in range(1, 5)
    ),
    Key("pane.up", "up", "move(-1)", "up", "pane", "The one above, below"),
    Key("pane.down", "down", "move(1)", "down", "pane", "The one above, below", 5),
    Key("pane.page_up", "pageup", "page(-1)", "", "pane", "Scroll a page"),
    Key("pane.page_down", "pagedown", "page(1)", "", "pane", "Scroll a page"),
    Key("pane.home", "home", "home", "", "pane", "To the beginning, to the end"),
    Key("pane.end", "end", "end", "", "pane", "To the beginning, to the end"),
    Key("pane.leave", "escape", "leave", "back", "pane", "Back: from the full screen, to the prompt", 4),
    # -- search in the transcript
    Key("find.next", "enter,down", "find_next(1)", "next", "find", "The next hit", 1),
    Key("find.previous", "up,shift+enter", "find_next(-1)", "previous", "find", "The one before", 2),
    Key("find.close", "escape", "close", "close", "find", "Close the search", 3),
    # -- everything that opens over the conversation
    Key(
        "dialog.interrupt",
        "ctrl+c",
        "interrupt",
        "",
        "dialog",
        "Copy what is selected, else close it as Esc does",
    ),
    # -- permission
    Key("permission.allow", "a", "answer('allow_once')", "allow", "permission", "Allow once", 1),
    Key("permission.allow_always", "A", "answer('allow_always')", "always", "permission", "Allow always", 2),
    Key("permission.reject", "r", "answer('reject_once')", "reject", "permission", "Reject once", 3),
    Key(
        "permission.reject_always", "R", "answer('reject_always')", "never", "permission", "Reject always", 4
    ),
    *(
        Key(
            f"permission.{digit}",
            str(digit),
            f"option({digit})",
            "",
            "permission",
            "The option of that number",
        )
        for digit in range(1, 10)
    ),
    Key("permission.up", "up", "move(-1)", "up", "permission", "Choose an option"),
    Key("permission.down", "down", "move(1)", "down", "permission", "Choose an option"),
    Key("permission.take", "enter", "take", "answer", "permission", "Answer with the chosen option", 5),
    Key("permission.diff", "v", "view_diff", "full diff", "permission", "The diff in full size", 6),
    Key("permission.raw", "i", "raw", "raw input", "permission", "The raw input", 7),
    Key("permission.page_up", "pageup", "page(-1)", "", "permission", "Scroll what is asked"),
    Key("permission.page_down", "pagedown", "page(1)", "", "permission", "Scroll what is asked"),
    Key(
        "permission.cancel",
        "escape",
        "close",
        "stop",
        "permission",
        "Close what is open, then stop the turn; the answer is “cancelled”",
        8,
    ),
    # -- lists to choose from
    Key("choose.up", "up,ctrl+p", "move(-1)", "up", "choose", "The one above, below"),
    Key("choose.down", "down,ctrl+n", "move(1)", "down", "choose", "The one above, below"),
    Key("choose.page_up", "pageup", "move(-8)", "", "choose", "Further up, down"),
    Key("choose.page_down", "pagedown", "move(8)", "", "choose", "Further up, down"),
    Key("choose.take", "enter", "take", "choose", "choose", "Take it", 1),
    Key("choose.close", "escape", "close", "close", "choose", "Leave everything as it is", 2),
    # -- details
    Key("detail.up", "up,k", "scroll(-1)", "up", "detail", "Scroll"),
    Key("detail.down", "down,j", "scroll(1)", "down", "detail", "Scroll"),
    Key("detail.page_up", "pageup,b", "page(-1)", "", "detail", "Scroll a page"),
    Key("detail.page_down", "pagedown,space", "page(1)", "", "detail", "Scroll a page"),
    Key("detail.home", "home,g", "home", "", "detail", "To the beginning, to the end"),
    Key("detail.end", "end,G", "end", "", "detail", "To the beginning, to the end"),
    Key("detail.copy", "y,c", "copy", "copy", "detail", "Copy all of it", 1),
    Key("detail.close", "escape,q", "close", "close", "detail", "Close it", 2),
    # -- replay: these come before the keys of the transcript, but not before what is typed into the search
    Key("replay.pause", "space", "pause", "pause", "replay", "Pause, go on; at the end: once more", -6, True),
    Key("replay.step", "right", "step", "step", "replay", "One step further", -5, True),
    Key("replay.faster", "plus", "speed(1)", "faster", "replay", "Faster", -4, True),
    Key("replay.slower", "minus", "speed(-1)", "slower", "replay", "Slower", -3, True),
    Key("replay.start", "home", "start", "start", "replay", "From the beginning", -2, True),
    Key("replay.finish", "end", "finish", "end", "replay", "All that is left at once", -1, True),
    Key("replay.close", "escape", "close", "quit", "replay", "Close what is open, then quit", 9),
    Key(
        "replay.interrupt",
        "ctrl+c",
        "interrupt",
        "quit",
        "replay",
        "Copy what is selected, else close what is open; twice: quit",
    ),
    # -- in a conversation
    Key("turn.stop", "escape", "stop", "stop", "conversation", "Close what is open, then stop the agent", 2),
    Key(
        "turn.interrupt",
        "ctrl+c",
        "interrupt",
        "stop",
        "conversation",
        "Copy what is selected, else what Esc does; twice when there is nothing to stop: quit",
    ),
    Key("turn.again", "f6", "send_again", "send again", "conversation", "Send the last prompt again", 2),
    Key("mode.next", "shift+tab", "next_mode", "mode", "conversation", "The agent's next mode", 9),
    Key(
        "session.options",
        "ctrl+o",
        "options",
        "options",
        "conversation",
        "Mode, model and what else the agent offers",
        11,
    ),
    Key(
        "session.policy",
        "f4",
        "policy",
        "policy",
        "conversation",
        "Change the policy: what is allowed without asking",
        12,
    ),
    Key("agent.restart", "f5", "restart_agent", "restart agent", "conversation", "Start the agent again", 15),
    Key("session.export", "f9", "export", "export", "conversation", "Export the conversation to a file", 16),
    # -- moving about
    Key("conversation.find", "ctrl+f", "search", "search", "anywhere", "Search the conversation", 10),
    Key("conversation.find_next", "f3", "find_next(1)", "next", "anywhere", "The next hit"),
    Key("conversation.find_previous", "shift+f3", "find_next(-1)", "previous", "anywhere", "The one before"),
    Key("entry.before", "alt+up", "entry(-1)", "", "anywhere", "The entry before, after"),
    Key("entry.after", "alt+down", "entry(1)", "", "anywhere", "The entry before, after"),
    Key("conversation.page_up", "pageup", "page(-1)", "", "anywhere", "Scroll the conversation"),
    Key("conversation.page_down", "pagedown", "page(1)", "", "anywhere", "Scroll the conversation"),
    Key("conversation.home", "ctrl+home", "home", "", "anywhere", "To its beginning, to its end"),
    Key("conversation.end", "ctrl+end", "end", "", "anywhere", "To its beginning, to its end"),
    Key("panes.toggle", "ctrl+b", "toggle_panes", "panes", "anywhere", "Open or close the panes", 10),
    Key("panes.focus", "f8", "to_panes", "", "anywhere", "To the panes, and back to the prompt"),
    Key("conversation.tab", "tab", "app.focus_next", "", "anywhere", "To the next part of the screen"),
    # -- always
    Key("app.help", "f1", "help", "help", "app", "The keys, and what they act on", 7, priority=True),
    Key("app.palette", "ctrl+p", "palette", "palette", "app", "Every command by its name; themes", 7),
    Key("app.suspend", "ctrl+z", "suspend_process", "", "app", "Back to the shell; `fg` returns"),
    Key("app.quit", "ctrl+q", "quit", "quit", "app", "Quit", 14, priority=True),
    # -- editing
    Key("edit.left", "left", "cursor_left", "", "edit", "A character back, forward"),
    Key("edit.right", "right", "cursor_right", "", "edit", "A character back, forward"),
    Key("edit.word_left", "ctrl+left,alt+b", "cursor_word_left", "", "edit", "A word back, forward"),
    Key("edit.word_right", "ctrl+right,alt+f", "cursor_word_right", "", "edit", "A word back, forward"),
    Key("edit.home", "home,ctrl+a", "cursor_line_start", "", "edit", "To the line's beginning, end"),
    Key("edit.end", "end,ctrl+e", "cursor_line_end", "", "edit", "To the line's beginning, end"),
    Key("select.left", "shift+left", "cursor_left(True)", "", "edit", "Select"),
    Key("select.right", "shift+right", "cursor_right(True)", "", "edit", "Select"),
    Key("select.up", "shift+up", "cursor_up(True)", "", "edit", "Select"),
    Key("select.down", "shift+down", "cursor_down(True)", "", "edit", "Select"),
    Key("select.home", "shift+home", "cursor_line_start(True)", "", "edit", "Select"),
    Key("select.end", "shift+end", "cursor_line_end(True)", "", "edit", "Select"),
    Key("select.word_left", "ctrl+shift+left", "cursor_word_left(True)", "", "edit", "Select words"),
    Key("select.word_right", "ctrl+shift+right", "cursor_word_right(True)", "", "edit", "Select words"),
    Key("select.all", "f7", "select_all", "", "edit", "Select everything"),
    Key("edit.backspace", "backspace", "delete_left", "", "edit", "Delete the character before, after"),
    Key("edit.delete", "delete,ctrl+d", "delete_right", "", "edit", "Delete the character before, after"),
    Key(
        "edit.delete_word_left",
        "ctrl+w,alt+backspace,ctrl+backspace",
        "delete_word_left",
        "",
        "edit",
        "Delete the word before, after",
    ),
    Key(
        "edit.delete_word_right",
        "alt+d,alt+delete,ctrl+delete",
        "delete_word_right",
        "",
        "edit",
        "Delete the word before, after",
    ),
    Key(
        "edit.delete_to_start",
        "ctrl+u",
        "delete_to_start_of_line",
        "",
        "edit",
        "Delete to the line's beginning, end",
    ),
    Key(
        "edit.delete_to_end",
        "ctrl+k",
        "delete_to_end_of_line_or_delete_line",
        "",
        "edit",
        "Delete to the line's beginning, end",
    ),
    Key("edit.undo", "ctrl+underscore", "undo", "", "edit", "Undo"),
    Key("edit.redo", "ctrl+y", "redo", "", "edit", "Redo"),
    Key("edit.cut", "ctrl+x", "cut", "", "edit", "Cut, copy, paste"),
    Key("edit.copy", "ctrl+c,super+c", "copy", "", "edit", "Cut, copy, paste"),
    Key("edit.paste", "ctrl+v", "paste", "", "edit", "Cut, copy, paste"),
    # -- help
    Key("help.close", "escape,f1,q", "close", "close", "help", "Close the help", 1),
)

KEYS: dict[str, Key] = {key.id: key for key in TABLE}
"""By id."""


def bindings(*places: ScopeName) -> list[BindingType]:
    """What a widget binds: all keys of one or several places."""
    return [
        Binding(key.keys, key.action, key.help, show=False, priority=key.priority, id=key.id)
        for key in TABLE
        if key.where in places
    ]


def bound_keys(node: DOMNode, key_id: str) -> str:
    """The keys of an action as they are bound now."""
    return KEYS[key_id].key_names(getattr(node.app, "keymap", None))


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
    """A key as a person writes it: `ctrl+j` is Ctrl+J."""
    *modifiers, last = key.split("+")
    if last in _NAMES:
        last = _NAMES[last]
    elif len(last) == 1:
        last = last.upper() if modifiers else last
    else:
        last = last.capitalize()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), last])
