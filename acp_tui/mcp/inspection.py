"""Inspection of a server: what the server offers, as plain values.

Importing this module does not import the SDK.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.mcp.callbacks import ServerHandlers
from acp_tui.mcp.failures import FailureCause, ServerFailure
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import httpx2
    from mcp_types import Prompt, Resource, ResourceTemplate

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.connection import McpConnection

MAX_ITEMS = 2000
"""The maximum number of items read from a list.

It limits what is shown, and how many digests of tools are saved.
"""
MAX_PAGES = 50
"""The maximum number of pages that are read of one list. A server with more is broken or hostile."""
MAX_TEXT = 20_000
"""The maximum number of characters that are kept of one text."""
FIND_TIMEOUT_SECONDS = 3.0
"""How long a call waits for the tool's schema."""
LIST_TIMEOUT_SECONDS = 30.0
"""The time limit for one page of a list."""

_ANNOTATIONS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The annotations that the digest of a tool covers: those that the SDK does not drop."""

_LIST_CAUSES = (FailureCause.ANSWER, FailureCause.INVALID_ANSWER, FailureCause.TIMEOUT)
"""Causes for which one list cannot be read although the server can be used."""

InspectionStatus = Literal["connected", "failed", "needs sign-in"]


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool. Its texts are raw: sanitize them before display."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    annotations: dict[str, Any]  # what the server claims, such as readOnlyHint
    digest: str  # see `tool_digest`

    @property
    def claims(self) -> list[str]:
        """The server's claims about the effects of the tool. Permissions do not depend on these claims."""
        words = {
            "readOnlyHint": ("only reads", "may change something"),
            "destructiveHint": ("may destroy something", "destroys nothing"),
        }
        return [
            texts[0] if self.annotations[key] else texts[1]
            for key, texts in words.items()
            if isinstance(self.annotations.get(key), bool)
        ]


@dataclass(frozen=True, slots=True)
class PromptArgumentInfo:
    name: str
    title: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class PromptInfo:
    """A prompt that the server offers."""

    name: str
    title: str
    description: str
    arguments: list[PromptArgumentInfo]


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource that the server offers."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    size: int | None


@dataclass(frozen=True, slots=True)
class TemplateInfo:
    """A template for resource URIs, such as `file:///{path}`."""

    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """Why a server cannot be used."""

    cause: FailureCause
    sentence: str


@dataclass(slots=True)
class Inspection:
    """What a server offers, or why it cannot be used."""

    name: str
    at: float  # seconds since the epoch
    status: InspectionStatus = "connected"
    seconds: float = 0.0
    protocol_version: str = ""
    server_info: dict[str, str] = field(default_factory=dict)  # name, version, …
    instructions: str = ""
    capabilities: list[str] = field(default_factory=list)
    tools: list[ToolInfo] = field(default_factory=list)
    prompts: list[PromptInfo] = field(default_factory=list)
    resources: list[ResourceInfo] = field(default_factory=list)
    templates: list[TemplateInfo] = field(default_factory=list)
    failure: FailureInfo | None = None
    noise: list[str] = field(default_factory=list)  # the first lines on stdout that are not MCP messages
    notes: list[str] = field(default_factory=list)  # sentences about what is left out above
    failed_lists: dict[str, str] = field(default_factory=dict)  # why a list is missing, such as "tools"

    @property
    def lists_tools(self) -> bool:
        """Whether `tools` contains what the server offers. False if the server did not list its tools."""
        return self.status == "connected" and "tools" not in self.failed_lists

    @property
    def tool_digests(self) -> dict[str, str]:
        """The digest of each tool, by tool name. If a name is listed several times, see `combined_digest`."""
        found: dict[str, set[str]] = {}
        for tool in self.tools:
            found.setdefault(tool.name, set()).add(tool.digest)
        return {name: combined_digest(digests) for name, digests in found.items()}

    @property
    def server_version(self) -> str:
        """The server's own name and version as one string; empty if the server does not send them."""
        return " ".join(filter(None, (self.server_info.get("name"), self.server_info.get("version"))))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def inspect(
    server: ResolvedServer,
    *,
    roots: Sequence[Path] = (),
    auth: httpx2.Auth | None = None,
    handlers: ServerHandlers = ServerHandlers(),  # noqa: B008  # frozen
    timeout: float | None = None,
) -> Inspection:
    """Connect to a server and return what it offers. A failure is part of the result and is not raised.

    Takes the arguments of `connect`.
    """
    from acp_tui.mcp.connection import connect

    inspection = Inspection(server.name, time.time())
    start = time.monotonic()
    try:
        async with connect(server, roots=roots, auth=auth, handlers=handlers, timeout=timeout) as connection:
            await describe(connection, inspection)
    except ServerFailure as failure:
        inspection.status = "needs sign-in" if failure.needs_sign_in else "failed"
        inspection.failure = FailureInfo(failure.cause, failure.sentence)
    inspection.seconds = round(time.monotonic() - start, 3)
    return inspection


async def describe(connection: McpConnection, inspection: Inspection) -> None:
    """Fill `inspection` with what a connected server offers. Raises `ServerFailure`."""
    try:
        await _describe(connection, inspection)
    finally:
        inspection.notes += connection.repairs
        inspection.noise = list(connection.noise)
        if (more := connection.noise_count - len(inspection.noise)) > 0:
            lines = "1 more line on its stdout is not an MCP message."
            if more > 1:
                lines = f"{more:,} more lines on its stdout are not MCP messages."
            inspection.notes.append(lines)


async def _describe(connection: McpConnection, inspection: Inspection) -> None:
    info = connection.server_info
    inspection.protocol_version = connection.protocol_version
    if info is not None:
        values = {
            "name": info.name,
            "title": info.title,
            "version": info.version,
            "website": info.website_url,
        }
        inspection.server_info = {key: _text(value) for key, value in values.items() if value}
    inspection.instructions = _text(connection.instructions)
    offered = connection.capabilities
    inspection.capabilities = sorted(offered.model_dump(by_alias=True, exclude_none=True))
    client, lists = connection.client, _Lists(connection, inspection)
    if offered.tools is not None:
        tools = await lists.read("tools", lambda cursor: client.list_tools(cursor=cursor))
        inspection.tools = [
            tool_info(tool.model_dump(mode="json", by_alias=True, exclude_none=True)) for tool in tools
        ]
        names = Counter(tool.name for tool in inspection.tools)
        inspection.notes += [
            f"{count} of its tools have the name {escape_line(name)}; agents can call only one of them."
            for name, count in names.items()
            if count > 1
        ]
    if offered.prompts is not None:
        prompts = await lists.read("prompts", lambda cursor: client.list_prompts(cursor=cursor))
        inspection.prompts = [_prompt_info(prompt) for prompt in prompts]
    if offered.resources is not None:
        resources = await lists.read("resources", lambda cursor: client.list_resources(cursor=cursor))
        inspection.resources = [_resource_info(resource) for resource in resources]
        templates = await lists.read(
            "resource_templates", lambda cursor: client.list_resource_templates(cursor=cursor)
        )
        inspection.templates = [_template_info(template) for template in templates]
    lists.require_any()


async def find_tool(connection: McpConnection, name: str) -> ToolInfo | None:
    """Return the description of a tool; None if the server does not list the tool within three seconds."""
    if connection.capabilities.tools is None:
        return None
    client = connection.client
    try:
        async with asyncio.timeout(FIND_TIMEOUT_SECONDS):
            tools = await _all_pages(
                connection,
                "tools",
                lambda cursor: client.list_tools(cursor=cursor),
                "tools",
                Inspection(connection.server.name, time.time()),
            )
    except (ServerFailure, TimeoutError):
        return None
    tool = next((tool for tool in tools if tool.name == name), None)
    return tool and tool_info(tool.model_dump(mode="json", by_alias=True, exclude_none=True))


class _Lists:
    """Reads the lists of a server. A list that cannot be read is noted, and does not affect the others."""

    def __init__(self, connection: McpConnection, inspection: Inspection) -> None:
        self._connection = connection
        self._inspection = inspection
        self._failures: list[ServerFailure] = []
        self._count = 0

    async def read(self, attribute: str, fetch: Callable[[str | None], Awaitable[Any]]) -> list[Any]:
        """Return the items of a list; none if it cannot be read.

        Raises `ServerFailure` if the connection is broken.
        """
        self._count += 1
        kind = attribute.replace("_", " ")
        try:
            return await _all_pages(self._connection, kind, fetch, attribute, self._inspection)
        except ServerFailure as failure:
            if failure.cause not in _LIST_CAUSES:
                raise
            self._failures.append(failure)
            self._inspection.failed_lists[attribute] = failure.sentence
            self._inspection.notes.append(failure.sentence)
            return []

    def require_any(self) -> None:
        """Raise the first `ServerFailure` if none of the lists could be read."""
        if self._failures and len(self._failures) == self._count:
            raise self._failures[0]


async def _all_pages(
    connection: McpConnection,
    kind: str,
    fetch: Callable[[str | None], Awaitable[Any]],
    attribute: str,
    inspection: Inspection,
) -> list[Any]:
    """Return all items of a list, and note in `inspection` if some are left out. Raises `ServerFailure`."""
    from acp_tui.mcp.diagnosis import is_unknown_method, list_timeout

    items: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        try:
            async with asyncio.timeout(LIST_TIMEOUT_SECONDS):
                page = await fetch(cursor)
        except TimeoutError:
            raise list_timeout(connection.server, kind, LIST_TIMEOUT_SECONDS) from None
        except Exception as error:
            if is_unknown_method(error) and not items:
                return []  # e.g. the server has resources but does not support templates
            raise await connection.failure(error, f"list its {kind}") from error
        items += getattr(page, attribute)
        if len(items) > MAX_ITEMS:
            inspection.notes.append(
                f"Its list of {kind} has more than {MAX_ITEMS:,} items; the rest is left out."
            )
            return items[:MAX_ITEMS]
        cursor = page.next_cursor
        if cursor is None:
            return items
        if cursor in seen:
            inspection.notes.append(f"Its list of {kind} repeats a page; ignoring the rest.")
            return items
        seen.add(cursor)
    inspection.notes.append(f"Its list of {kind} has more than {MAX_PAGES} pages; the rest is left out.")
    return items


def tool_info(data: dict[str, Any]) -> ToolInfo:
    """Convert one of the objects in the result of `tools/list`, which must have a name."""
    annotations, schema = data.get("annotations"), data.get("inputSchema")
    annotations = annotations if isinstance(annotations, dict) else {}
    title = data.get("title") or annotations.get("title")
    return ToolInfo(
        name=data["name"],
        title=_text(title),
        description=_text(data.get("description")),
        input_schema=schema if isinstance(schema, dict) else {},
        output_schema=data.get("outputSchema"),
        annotations=annotations,
        digest=tool_digest(data),
    )


def tool_digest(tool: dict[str, Any]) -> str:
    """Return a digest of a tool's title, description, schemas and annotations.

    `tool` is one of the objects in the result of `tools/list`.
    """
    keys = ("title", "description", "inputSchema", "outputSchema")
    annotations = tool.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    hints = {key: annotations[key] for key in _ANNOTATIONS if annotations.get(key) is not None}
    parts = json.dumps([*(tool.get(key) for key in keys), hints], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def combined_digest(digests: Collection[str]) -> str:
    """Combine the digests of the definitions listed under one tool name. Return a single digest unchanged.

    If a server lists different definitions under one name, the result differs from each of their digests.
    """
    one, *others = sorted(digests)
    return hashlib.sha256(" ".join([one, *others]).encode()).hexdigest() if others else one


def _prompt_info(prompt: Prompt) -> PromptInfo:
    arguments = [
        PromptArgumentInfo(
            each.name, _text(each.title), _text(each.description), required=bool(each.required)
        )
        for each in prompt.arguments or []
    ]
    return PromptInfo(prompt.name, _text(prompt.title), _text(prompt.description), arguments)


def _resource_info(resource: Resource) -> ResourceInfo:
    texts = (_text(resource.title), _text(resource.description), _text(resource.mime_type))
    return ResourceInfo(resource.uri, resource.name, *texts, resource.size)


def _template_info(template: ResourceTemplate) -> TemplateInfo:
    texts = (_text(template.title), _text(template.description), _text(template.mime_type))
    return TemplateInfo(template.uri_template, template.name, *texts)


def _text(text: Any) -> str:
    """Return text, shortened to `MAX_TEXT`; an empty string for anything else."""
    if not isinstance(text, str) or len(text) <= MAX_TEXT:
        return text if isinstance(text, str) else ""
    return f"{text[: MAX_TEXT - 1]}…"
