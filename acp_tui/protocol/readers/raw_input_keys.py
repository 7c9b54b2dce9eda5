"""The keys under which agents put commands, paths and the like into `rawInput`.

The protocol leaves the shape of `rawInput` to the agent. Recorded agents use these keys.
Display, permissions and redaction take the keys that they look for from here.
"""

from __future__ import annotations

COMMAND_KEYS = (
    *("command", "cmd", "commandLine", "command_line", "shell_command", "shellCommand"),
    *("bash_command", "bashCommand", "script"),
)
COMMAND_LIST_KEYS = ("commands", "cmds")
ENVIRONMENT_KEYS = ("env", "environment", "envVars", "env_vars", "environmentVariables")
DIRECTORY_KEYS = (
    *("cwd", "workdir", "workingDir", "working_dir", "working_directory", "workingDirectory", "directory"),
    "dir_path",
)
"""Keys of the directory that a command runs in."""
FILE_KEYS = (
    *("path", "file_path", "filePath", "filepath", "fileName", "file_name", "filename", "file"),
    *("abs_path", "absolute_path", "absolutePath", "notebook_path", "notebookPath", "target_file"),
)
PATH_KEYS = (
    *FILE_KEYS,
    *("dir_path", "directory", "source", "destination", "source_path", "destination_path"),
    *("old_path", "new_path", "oldPath", "newPath"),
)
PATH_LIST_KEYS = ("paths", "files", "file_paths", "edits", "changes")
TEXT_KEYS = frozenset({
    *("content", "contents", "text", "body", "code", "code_edit", "file_text", "insert_text", "insert_line"),
    *("new_content", "newContent", "new_text", "newText", "new_string", "newString", "new_str", "newStr"),
    *("old_content", "oldContent", "old_text", "oldText", "old_string", "oldString", "old_str", "oldStr"),
    *("replacement", "replace", "new_source", "newSource"),
})  # fmt: skip
"""Keys of the text that an edit writes or replaces, beside the key of the file."""
PATTERN_KEYS = frozenset({"pattern", "query", "regex", "search", "search_term", "searchTerm", "find"})
"""Keys of what a search looks for."""
ARGUMENT_KEYS = ("input", "args", "arguments", "params", "parameters", "tool_input", "toolInput", "action")
"""Keys of nested objects in which some agents put a tool's arguments."""
