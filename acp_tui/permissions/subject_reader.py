"""Reads the subject of a request from what the agent sent.

An agent says the same thing in several places: the raw input, JSON in the text, diffs, locations. Where the
places disagree, or lack a command or file that is needed, the subject is *uncertain*: rules that allow
particular commands or files do not match, and of the policies only `yolo` can allow the request. A title is
never used as a source of commands or files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.config.sensitive_files import reason_for_reading, strongest_reason
from acp_tui.permissions.commands.command_reader import Command, read_command
from acp_tui.permissions.commands.composite_reader import read_parts
from acp_tui.permissions.danger.dangerous_commands import find_danger_in_prose
from acp_tui.permissions.subject import KINDS, PATH_KINDS, PathContext, Subject, Target
from acp_tui.permissions.tool_call_sources import (
    FILE_KINDS,
    FoundCommands,
    FoundTool,
    commands_of,
    input_concerns,
    mcp_call_key,
    mcp_call_of,
    mcp_tool_of,
    patches_of,
    paths_of,
    texts_of,
    url_of,
)
from acp_tui.session.safe_text import escape_invisible_line, visible_excerpt
from acp_tui.session.state import Diff, ToolCall

if TYPE_CHECKING:
    from acp_tui.protocol.raw_patches import RawPatches


# Calls of these kinds are judged by their command or files, even if they use a tool of an MCP server. Calls
# that use such a tool and state another kind, such as "search" or "think", are judged by the tool.
_SERIOUS = frozenset({"read", "edit", "delete", "move", "execute"})
_CHANGING = frozenset({"edit", "delete", "move", "execute"})
_PATCHABLE = frozenset({"read", "search", "think", "edit"})
"""Kinds that become an edit, a delete or a move if the raw input contains a patch."""
_OPERATIONS = frozenset({"add", "delete", "modify", "move", "copy"})
"""What a change in a diff can do to a file."""
MAX_SHOWN_VALUE = 60
MAX_SHOWN_COMMAND = 10_000
"""The maximum length, in characters, of a command in the description of a subject."""


def subject_of_call(call: ToolCall, context: PathContext) -> Subject:
    """Return the subject of a permission request; `call` is the request's tool call with all updates applied.

    The kind that the agent states is not trusted: a request with a command counts as `execute`. Without a
    command, a request with a diff or a patch counts as `edit`, or as what else the patch does, unless the
    stated kind is `delete`, `move` or `execute`.
    """
    tool = mcp_tool_of(call)
    return _subject_of_call(call, context, tool).evolve(mcp_call=mcp_call_of(call, tool))


def subject_of_mcp_call(server: str, tool: str, arguments: Any, context: PathContext) -> Subject:
    """Return the subject of an MCP call that acp-tui itself forwards: server and tool are certain.

    As with other requests, the kind is `execute` if the arguments contain a command.
    """
    call = ToolCall(id=0, at=0.0, call_id="", raw_input=arguments)
    subject = _subject_of_call(call, context, FoundTool(server, tool))
    return subject.evolve(mcp_call=mcp_call_key(server, tool, arguments))


def _subject_of_call(call: ToolCall, context: PathContext, tool: FoundTool) -> Subject:
    found = commands_of(call)
    patches = patches_of(call)
    has_diff = bool(patches.files) or any(isinstance(part, Diff) for part in call.content)
    kind = _kind(call, found, patches, uses_tool=tool != FoundTool() or call.mcp_tool is not None)
    if kind == "execute" and tool.name and not (found.commands or found.doubt):
        kind = "other"  # Codex calls each MCP call an execution
    if kind not in _SERIOUS and (subject_of_tool := _mcp_tool(call, tool)):
        subject = subject_of_tool
    elif kind == "execute":
        subject = _execution(call, found, context, has_diff=has_diff)
    elif kind in PATH_KINDS:
        subject = _files(call, kind, context)
    else:
        subject = _anything_else(call, kind)
    if patches.files and kind not in PATH_KINDS:
        bases = (None, found.cwd) if found.cwd else (None,)
        patched = [context.target(path, base) for base in bases for path in patches.paths]
        subject = subject.evolve(targets=_distinct([*subject.targets, *patched]))
    known = subject.command is not None or subject.argv is not None
    if not known and not subject.dangerous and kind not in FILE_KINDS:  # files often quote dangerous commands
        suspicion = next((why for text in texts_of(call) if (why := find_danger_in_prose(text))), None)
        subject = subject.evolve(dangerous=suspicion)
    # The tool in the call's title is uncertain, so it only matters for rules that reject.
    guess = call.mcp_tool if tool.server is None else None
    subject = subject.evolve(
        server=guess.server if guess else tool.server,
        tool=guess.name if guess else tool.name,
        doubt=subject.doubt or tool.doubt or (_ONLY_TITLE if guess else None),
        also_edits=has_diff and subject.kind != "edit",
    )
    if (unclear := _unclear_change(call)) is not None:
        subject = subject.evolve(doubt=subject.doubt or unclear)
    if patches.too_many:
        subject = subject.evolve(doubt=subject.doubt or "its patches name too many files")
    return subject.evolve(input_concerns=tuple(input_concerns(call, subject, context)))


def _kind(call: ToolCall, found: FoundCommands, patches: RawPatches, *, uses_tool: bool) -> str:
    """Return the kind of a request: the stated one, or a stricter one.

    A patch makes a request of the kind "other" an edit only if the request has no other text and uses no tool
    of an MCP server: policies that allow edits ask about other requests.
    """
    kind = call.kind if call.kind in KINDS and call.kind != "mcp" else "other"
    if found.commands or found.doubt:
        return "execute"
    diffs = [part for part in call.content if isinstance(part, Diff) and not part.from_input]
    if kind not in _CHANGING and diffs:
        kind = "edit"
    if kind in ("edit", "move") and (named := {diff.operation for diff in diffs} & {"delete", "move"}):
        kind = "delete" if "delete" in named else "move"
    if not patches.files or not (
        kind in _PATCHABLE or (kind == "other" and patches.is_all and not uses_tool)
    ):
        return kind
    operations = {file.operation for file in patches.files}
    return next((stricter for stricter in ("delete", "move") if stricter in operations), "edit")


def _unclear_change(call: ToolCall) -> str | None:
    """Return a clause if a diff of the call does not say clearly what it does to which file; else None."""
    for part in call.content:
        if isinstance(part, Diff) and not part.from_input and part.operation is not None:
            if not part.path or (part.operation == "move" and not part.old_path):
                return "one of its changes does not name its file"
            if part.operation not in _OPERATIONS:
                kind = escape_invisible_line(visible_excerpt(part.operation, MAX_SHOWN_VALUE))
                return f"one of its changes is of an unknown kind: {kind}"
    return None


def subject_of_read(
    path: str, *, inside: bool, sensitive: str | None = None, real: str | None = None
) -> Subject:
    """Return the subject of `fs/read_text_file`. The arguments describe the file that was opened."""
    return _served("read", Target(path, real or path, inside, sensitive))


def subject_of_write(
    path: str, *, inside: bool, sensitive: str | None = None, real: str | None = None, content: str = ""
) -> Subject:
    """Return the subject of `fs/write_text_file`; `content` is what the file will contain."""
    subject = _served("edit", Target(path, real or path, inside, sensitive))
    return subject.evolve(contents=((real or path, content),))


def subject_of_command(
    command: str,
    args: Sequence[str] = (),
    *,
    cwd: str | Target | None = None,
    env: Mapping[str, str] | None = None,
    context: PathContext,
    served: bool = True,
    is_line: bool | None = None,
    follow_cd: bool = True,
) -> Subject:
    """Return the subject of a request to run a command, such as `terminal/create`.

    Args:
        command: A line for the shell, or a program.
        args: The program's arguments.
        cwd: Where the command runs: a path, or the `Target` of a folder that is open already.
        env: Environment variables that are set for the command.
        context: The folders of the conversation.
        served: Whether acp-tui would run the command; otherwise the agent runs it.
        is_line: Whether `command` is a line for the shell; None: only if there are no `args`.
        follow_cd: Whether a leading `cd` is replaced by the directory it leads to.
    """
    program = bool(args) if is_line is None else not is_line
    given: str | tuple[str, ...] = (command, *args) if program else command
    read = read_command(
        given, context, cwd=cwd, env=env or {}, shell_free=served and program, follow_cd=follow_cd
    )
    return _of_command(read, context, served=served)


def subject_of_kind(
    kind: str,
    paths: Sequence[str] = (),
    *,
    context: PathContext,
    server: str | None = None,
    tool: str | None = None,
) -> Subject:
    """Return the subject of a request of this kind, about these files or this MCP tool."""
    targets = tuple(context.target(path) for path in paths)
    if kind in PATH_KINDS:
        doubt = "it names no file" if not targets and kind != "search" else None
        return Subject(
            kind=kind, description=_about_files(kind, targets, context), doubt=doubt, targets=targets
        )
    words = f"use `{tool}` of the MCP server {server}" if server else _PLAIN_WORDS.get(kind, kind)
    return Subject(kind=kind, description=escape_invisible_line(words), server=server, tool=tool)


# --------------------------------------------------------------------------- commands


def _execution(call: ToolCall, found: FoundCommands, context: PathContext, *, has_diff: bool) -> Subject:
    named = [location.path for location in call.locations]
    if call.kind != "execute" or has_diff:  # then its files count as well
        named += [path for source in paths_of(call) for path in source]
    targets = tuple({target.real: target for target in map(context.target, named)}.values())
    read = [read_command(given, context, cwd=found.cwd, env=found.env) for given in found.commands]
    doubt = found.doubt
    if doubt is None and len({command.key for command in read}) > 1:
        doubt = "it names different commands in different places"
    if doubt is None and read:
        return _of_command(read[0], context, targets=targets)
    return Subject(
        kind="execute",
        description=escape_invisible_line(
            f'run a command it did not state clearly ("{call.permission_title}")'
        ),
        doubt=doubt or "the command appears only in the tool call's title",
        targets=targets,
        cwd=context.folder(found.cwd) if found.cwd else None,
        sensitive_names=tuple(dict.fromkeys(name for command in read for name in command.sensitive_names)),
        written=tuple(target for command in read for target in command.written),
        writes_unknown=any(command.writes_unknown for command in read),
        dangerous=next((command.dangerous for command in read if command.dangerous), None),
        too_long=any(command.too_long for command in read),
    )


def _of_command(
    command: Command, context: PathContext, *, served: bool = False, targets: tuple[Target, ...] = ()
) -> Subject:
    text = command.line if command.line is not None else shlex.join(command.argv or ())
    where = (
        ""
        if command.cwd.real == context.target(context.cwd).real
        else f" in {context.display_path(command.cwd)}"
    )
    parts = tuple(part for each in read_parts(command, context) for part in _part_subjects(each, context))
    problem = next((part.not_plain for part in parts if part.not_plain), None)
    return Subject(
        kind="execute",
        description=escape_invisible_line(f"run `{_shortened(text)}`{where}{_with(command.variables)}"),
        served=served,
        targets=targets,
        command=command.line,
        argv=command.argv,
        command_text=text,
        command_words=command.words,
        argument_risks=command.argument_risks,
        not_plain=problem if parts else command.not_plain,
        parts=parts,
        cwd=command.cwd,
        run=command.run,
        environment=command.environment,
        variables=command.variables,
        sensitive_names=command.sensitive_names,
        written=command.written,
        writes_unknown=command.writes_unknown,
        dangerous=command.dangerous,
        too_long=command.too_long,
        parsed=command.parsed,
    )


def _part_subjects(part: Command, context: PathContext) -> Iterator[Subject]:
    """Yield the subject of one command in a line, then one subject per file with redirected output."""
    text = part.line or ""
    yield Subject(
        kind="execute",
        description=escape_invisible_line(f"run `{_shortened(text)}`"),
        command=text,
        command_text=text,
        part_text=escape_invisible_line(_shortened(text)),
        command_words=part.words,
        argument_risks=part.argument_risks,
        not_plain=part.not_plain,
        cwd=part.cwd,
        environment=part.environment,
        variables=part.variables,
        sensitive_names=part.sensitive_names,
        dangerous=part.dangerous,
        too_long=part.too_long,
        parsed=part.parsed,
    )
    for target in part.written:
        words = _about_files("edit", (target,), context)
        doubt = "an earlier command may put a link in place of this file" if part.paths_may_change else None
        yield Subject(kind="edit", description=words, part_text=words, targets=(target,), doubt=doubt)


def _shortened(command: str) -> str:
    """Return the command; if it is very long, omit its middle. The dialog and the wire log show more."""
    if len(command) <= MAX_SHOWN_COMMAND:
        return command
    half = MAX_SHOWN_COMMAND // 2
    return f"{command[:half]} … {len(command) - 2 * half:,} more characters … {command[-half:]}"


def _with(variables: Sequence[tuple[str, str]]) -> str:
    """Return " with NAME=value, …", or an empty string without variables.

    Long values are truncated here; the dialog shows them in full.
    """
    if not variables:
        return ""
    shown = [
        f"{name}={value if len(value) <= MAX_SHOWN_VALUE else value[:MAX_SHOWN_VALUE] + '…'}"
        for name, value in variables
    ]
    return f" with {', '.join(shown)}"


# --------------------------------------------------------------------------- files

_VERBS = {"read": "read", "search": "search in", "edit": "edit", "delete": "delete", "move": "move"}


def _files(call: ToolCall, kind: str, context: PathContext) -> Subject:
    sources = [[context.target(path) for path in source] for source in paths_of(call)]
    targets = _distinct(target for source in sources for target in source)
    if kind in {"read", "search"}:
        targets = tuple(replace(each, sensitive=reason_for_reading(each.sensitive)) for each in targets)
    doubt = None
    if len({frozenset(target.real for target in source) for source in sources}) > 1:
        doubt = "it names different files in different places"
    elif not targets and kind != "search":
        doubt = "it names no file"
    return Subject(kind=kind, description=_about_files(kind, targets, context), doubt=doubt, targets=targets)


def _distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return the first target for each real path, marked as sensitive if any target for the path is."""
    found: dict[str, Target] = {}
    for target in targets:
        first = found.setdefault(target.real, target)
        found[target.real] = replace(first, sensitive=strongest_reason(first.sensitive, target.sensitive))
    return tuple(found.values())


def _served(kind: str, target: Target) -> Subject:
    words = escape_invisible_line(f"{_VERBS[kind]} {target.path}")
    return Subject(kind=kind, description=words, served=True, targets=(target,))


def _about_files(kind: str, targets: tuple[Target, ...], context: PathContext) -> str:
    names = [context.display_path(target) for target in targets]
    if not names:
        return "search" if kind == "search" else f"{_VERBS[kind]} an unspecified file"
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more files"]
    last = names.pop()
    return escape_invisible_line(f"{_VERBS[kind]} {', '.join(names) + ' and ' + last if names else last}")


# --------------------------------------------------------------------------- the rest


def _mcp_tool(call: ToolCall, tool: FoundTool) -> Subject | None:
    """Return the subject of a call if the call uses an MCP tool, else None.

    The subject is uncertain if only the title of the call names the tool.
    """
    titled = call.mcp_tool
    if tool.doubt:
        return Subject(kind="mcp", description=escape_invisible_line(_use(call)))
    if tool.name:
        words = f"use `{tool.name}` of the MCP server {tool.server}"
        return Subject(kind="mcp", description=escape_invisible_line(words))
    if titled is None:
        return None
    words = f"use `{titled.name}` of the MCP server {titled.server}"
    return Subject(kind="mcp", description=escape_invisible_line(words), doubt=_ONLY_TITLE)


_ONLY_TITLE = "only the call's title names the server and the tool"


_PLAIN_WORDS = {
    "think": "think",
    "fetch": "fetch something from the network",
    "switch_mode": "change its mode",
    "mcp": "use a tool of an MCP server",
    "other": "do something it did not describe",
}


def _anything_else(call: ToolCall, kind: str) -> Subject:
    words = _PLAIN_WORDS[kind]
    if kind == "fetch" and (url := url_of(call)):
        words = f"fetch {url}"
    elif kind == "other":
        words = _use(call)
    elif call.permission_title:
        words += f' ("{call.permission_title}")'
    return Subject(kind=kind, description=escape_invisible_line(words))


def _use(call: ToolCall) -> str:
    if call.name:
        return f"use `{call.name}`"
    return f'do "{call.permission_title}"' if call.permission_title else _PLAIN_WORDS["other"]
