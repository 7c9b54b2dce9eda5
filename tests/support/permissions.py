"""Permission requests for tests, in a project that does not exist on disk."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from acp_tui.permissions.commands.shell_parser import parse_argv, parse_command_line
from acp_tui.permissions.danger.dangerous_commands import find_danger
from acp_tui.permissions.danger.steps import expand_steps
from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_proposals import rule_ladders
from acp_tui.permissions.subject import PathContext, Subject
from acp_tui.permissions.subject_reader import subject_of_call, subject_of_command
from acp_tui.session.state import Content, Diff, Location, ToolCall, ToolContent

if TYPE_CHECKING:
    from acp_tui.permissions.rules import AgentIdentity, Rule, RuleDecision, Scope

PROJECT = "/ws/project"
LINKS = {
    "/ws/project/away": "/etc",
    "/ws/project/src/hidden": "/ws/project/.env",
    "/ws/in": "/ws/project/src",
}


def resolve(path: str) -> str:
    """Return what `os.path.realpath` would on a disk with `LINKS`."""
    path = posixpath.normpath(path)
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return resolve(target + path[len(link) :])
    return path


PLACE = PathContext(cwd=PROJECT, roots=[PROJECT, "/ws/more"], resolve=resolve)


def call_of(*frames: dict[str, Any]) -> ToolCall:
    """Return the tool call that results from its frames. Content of permission requests is added."""
    call = ToolCall(id=1, at=0.0, call_id="call")
    for frame in frames:
        call.title = frame.get("title", call.title)
        call.name = frame.get("name", call.name)
        call.kind = frame.get("kind", call.kind)
        call.raw_input = frame.get("rawInput", call.raw_input)
        call.meta |= frame.get("_meta", {})
        if locations := frame.get("locations"):
            call.locations = [Location(location["path"]) for location in locations]
        content = [_content(item) for item in frame.get("content", [])]
        call.content = content + (call.content if "sessionUpdate" not in frame else [])
    return call


def _content(item: dict[str, Any]) -> ToolContent:
    if item["type"] == "diff":
        return Diff(item["path"], item["oldText"], item["newText"])
    return Content("text", item["content"]["text"])


def subject_of(*frames: dict[str, Any]) -> Subject:
    """Return the subject of a permission request with these frames."""
    return subject_of_call(call_of(*frames), PLACE)


def danger(command_line: str | tuple[str, ...], folder: str = "", roots: tuple[str, ...] = ()) -> str | None:
    """Return why a command line, or a program with arguments, is dangerous.

    It runs in `folder`; `roots` are the folders of the workspace.
    """
    line = parse_command_line(command_line) if isinstance(command_line, str) else parse_argv(command_line)
    return find_danger(command_line, line, expand_steps(line, folder, roots))


def command(line: str | list[str], **fields: Any) -> Subject:
    """Return the subject of a permission request for a command."""
    return subject_of({"kind": "execute", "title": "Terminal", "rawInput": {"command": line, **fields}})


def narrowest_rule(
    subject: Subject,
    *,
    decision: RuleDecision,
    scope: Scope = "session",
    agent: AgentIdentity | None = None,
    project: str | None = None,
) -> Rule | None:
    """Return the first rule that is proposed for a request that is not composite; None if there is none."""
    asked = decide(subject, policy="ask", project=project)
    found = rule_ladders(subject, asked, answer=decision, scope=scope, agent=agent, project=project)
    return found[0].rules[0] if found and not subject.parts else None


def terminal(program: str, *args: str, cwd: str = PROJECT, env: dict[str, str] | None = None) -> Subject:
    """Return the subject of a `terminal/create` request."""
    return subject_of_command(program, args, cwd=cwd, env=env, context=PLACE)


def file(path: str, kind: str = "edit") -> Subject:
    """Return the subject of a permission request for a file."""
    return subject_of({"kind": kind, "locations": [{"path": path}]})
