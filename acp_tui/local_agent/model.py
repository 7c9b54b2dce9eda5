"""Requests to the model: streaming, retries, usage, and models that do not take tools or images.

pydantic-ai's model class sends the request and reads the stream. Its agent loop is not used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError
from pydantic_ai.messages import (
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from acp_tui.local_agent.model_errors import (
    ContextFull,
    ModelError,
    explain,
    is_context_full,
    reason,
    refuses,
)
from acp_tui.local_agent.model_server import http_client, list_models, openai_client
from acp_tui.local_agent.profile import (
    Answer,
    CallBegun,
    CallRequest,
    ModelEvent,
    ModelInfo,
    ModelProfile,
    TextPiece,
    ThoughtPiece,
    ToolSpec,
    Waiting,
)
from acp_tui.local_agent.xml_calls import (
    XmlCallReader,
    XmlEvent,
    describe_tools,
    messages_as_text,
    parse_arguments,
)

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import Choice

__all__ = ["ContextFull", "Model", "ModelError", "estimate_tokens"]

FIRST_WAIT_SECONDS = 2.0
MAX_RETRIES = 4
MAX_WAIT_SECONDS = 120.0
"""A server that asks for a longer pause is not waited for."""

BYTES_PER_TOKEN = 3.5
IMAGE_TOKENS = 1500
NO_IMAGE = "[An image was left out: this model does not take images.]"


class Model:
    """A model of a profile. Several requests can run at the same time."""

    def __init__(self, profile: ModelProfile) -> None:
        self._profile = profile
        self._http = http_client(profile)
        provider = OpenAICompatibleProvider(
            f"local:{profile.base_url}", openai_client=openai_client(profile, self._http)
        )
        # Schemas go to the model as they are: strict ones make some servers refuse, or write slowly.
        self._chat = _ChatModel(profile.model, provider=provider, profile={"json_schema_transformer": None})
        self._takes_tools = profile.calls != "xml"
        self._takes_images = True

    async def models(self) -> list[ModelInfo]:
        """Return the models that the server offers. Raises `ModelError`."""
        return await list_models(self._profile, self._http)

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], *, instructions: str
    ) -> AsyncGenerator[ModelEvent, None]:
        """Ask the model. Cancelling the task, or closing the iterator, ends the HTTP request at once.

        Raises:
            ContextFull: If the messages do not fit.
            ModelError: If there is no answer for another reason.
        """
        attempt = 0
        while True:
            has_begun = False
            try:
                async with aclosing(self._request(messages, tools, instructions)) as events:
                    async for event in events:
                        has_begun = True
                        yield event
            except ModelError:
                raise
            except Exception as error:  # servers send anything, and the libraries trip over some of it
                waiting = None
                if not has_begun:
                    waiting = self._adapt(error, tools) or self._wait_before_retry(error, attempt)
                if waiting is None:
                    raise explain(error, self._profile) from None
            else:
                return
            yield waiting
            await asyncio.sleep(waiting.seconds)
            attempt += 1

    def _adapt(self, error: Exception, tools: Sequence[ToolSpec]) -> Waiting | None:
        """Leave out from now on what the model does not take, if that is why the request has failed."""
        name = self._profile.model
        if self._takes_images and refuses(error, "images", name):
            self._takes_images = False
            return Waiting(0, f"{name} takes no images, so they are left out")
        if self._takes_tools and self._profile.calls == "auto" and tools and refuses(error, "tools", name):
            self._takes_tools = False
            return Waiting(0, f"{name} takes no tools, so it is told to write calls as XML")
        return None

    def _wait_before_retry(self, error: Exception, attempt: int) -> Waiting | None:
        if not isinstance(error, ModelHTTPError) or isinstance(error, ModelQuotaExceededError):
            return None
        is_temporary = error.status_code in (408, 429) or error.status_code >= 500
        if not is_temporary or attempt >= MAX_RETRIES or is_context_full(error):
            return None
        seconds = FIRST_WAIT_SECONDS * 2**attempt if error.retry_after is None else error.retry_after
        if seconds > MAX_WAIT_SECONDS:
            return None
        said = reason(error.body, self._profile) or "no reason given"
        return Waiting(seconds, f"The model's server answered {error.status_code}: {said}")

    async def _request(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], instructions: str
    ) -> AsyncGenerator[ModelEvent, None]:
        sent = _to_send(messages, with_images=self._takes_images)
        declared = tools
        if not self._takes_tools:
            sent = messages_as_text(sent, tools)
            instructions = f"{instructions}\n\n{describe_tools(tools)}".strip()
            declared = ()
        parameters = ModelRequestParameters(
            function_tools=[
                ToolDefinition(
                    name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
                )
                for tool in declared
            ],
            instruction_parts=[InstructionPart(instructions)] if instructions else [],
        )
        settings = ModelSettings()
        if self._profile.temperature is not None:
            settings["temperature"] = self._profile.temperature
        sent = self._chat.prepare_messages(sent, parameters)
        async with self._chat.request_stream(sent, settings, parameters) as stream:
            assert isinstance(stream, _Stream)
            if not self._takes_tools:
                stream.xml = XmlCallReader(tools)
            async for event in stream:
                if (piece := _piece(event)) is not None:
                    yield piece
            if not stream.is_complete:
                raise ModelError(f"The connection to {self._profile.base_url} was lost during the answer.")
            yield _answer(stream, tools, estimate_tokens(sent, declared, instructions))


# ---------------------------------------------------------------------- what is sent


def _to_send(messages: Sequence[ModelMessage], *, with_images: bool) -> list[ModelMessage]:
    """Leave out the reasoning of earlier turns. That of the current turn is expected beside its calls."""
    turn = 0
    for index, message in enumerate(messages):
        # The images of tools are in prompts as well, but after the results.
        if message.parts and isinstance(message.parts[0], UserPromptPart):
            turn = index
    sent: list[ModelMessage] = []
    for index, message in enumerate(messages):
        parts: list[Any] = []
        for part in message.parts:
            if isinstance(part, ThinkingPart) and index < turn:
                continue
            if isinstance(part, UserPromptPart) and not isinstance(part.content, str) and not with_images:
                items = [NO_IMAGE if isinstance(item, BinaryContent) else item for item in part.content]
                part = replace(part, content=items)
            parts.append(part)
        copy: Any = message
        sent.append(replace(copy, parts=parts))
    return sent


def estimate_tokens(
    messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = (), instructions: str = ""
) -> int:
    """Estimate how many tokens a request has, rather too many than too few."""
    size = len(instructions.encode())
    size += sum(len(tool.description) + len(json.dumps(tool.parameters)) + 40 for tool in tools)
    images = 0
    for message in messages:
        for part in message.parts:
            size += 16
            if isinstance(part, ToolCallPart):
                size += len(part.tool_name) + len(part.args_as_json_str().encode())
                continue
            content: Any = getattr(part, "content", None) or ""
            for item in content if isinstance(content, list | tuple) else [content]:
                if isinstance(item, BinaryContent):
                    images += 1
                else:
                    size += len(str(item).encode(errors="replace"))
    return int(size / BYTES_PER_TOKEN) + images * IMAGE_TOKENS


# ---------------------------------------------------------------------- what is received


class _ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Stream


@dataclass
class _Stream(OpenAIStreamedResponse):
    """Reads what servers and models send differently from OpenAI. pydantic-ai has hooks for that."""

    def __post_init__(self) -> None:
        self.is_complete = False  # without a reason to stop and without usage, the connection was lost
        self.last_usage: Any = None
        self.xml: XmlCallReader | None = None
        self._thoughts = _ThoughtReader()
        self._call_count = 0

    async def _validate_response(self) -> AsyncIterator[ChatCompletionChunk]:
        async for chunk in self._response:
            # Some servers send the usage so far with each piece; pydantic-ai would add it up.
            if chunk.usage is not None:
                self.last_usage, chunk.usage = chunk.usage, None
                self.is_complete = self.is_complete or not chunk.choices
            for choice in chunk.choices or []:
                self.is_complete = self.is_complete or bool(choice.finish_reason)
                for piece in getattr(choice.delta, "tool_calls", None) or []:
                    # A name begins a call. Gemini and older versions of Ollama give all calls the index 0.
                    if piece.function is not None and piece.function.name:
                        self._call_count += 1
                    piece.index = self._call_count
            yield chunk

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        async for event in super()._get_event_iterator():
            yield event
        for event in self._read_text("", is_last=True):
            yield event

    def _map_text_delta(self, choice: Choice) -> Iterator[ModelResponseStreamEvent]:
        return self._read_text(choice.delta.content or "")

    def _read_text(self, text: str, *, is_last: bool = False) -> Iterator[ModelResponseStreamEvent]:
        """Separate the reasoning and the calls in a piece of the text from the answer."""
        events: list[ThoughtPiece | XmlEvent] = []
        for piece in self._thoughts.read(text, is_last=is_last):
            if isinstance(piece, TextPiece) and self.xml is not None:
                events += self.xml.feed(piece.text)
            else:
                events.append(piece)
        if is_last and self.xml is not None:
            events += self.xml.finish()
        parts = self._parts_manager
        for event in events:
            if isinstance(event, ThoughtPiece):
                yield from parts.handle_thinking_delta(vendor_part_id=None, id="content", content=event.text)
            elif isinstance(event, TextPiece):
                yield from parts.handle_text_delta(vendor_part_id=None, content=event.text)
            elif isinstance(event, CallBegun):
                yield from parts.handle_tool_call_delta_events(vendor_part_id=event.id, tool_name=event.name)
            else:
                yield from parts.handle_tool_call_delta_events(vendor_part_id=event.id, args=event.arguments)


class _ThoughtReader:
    """Separates reasoning between `<think>` and `</think>` at the beginning of the text from the answer."""

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["start", "thought", "answer"] = "start"

    def read(self, text: str, *, is_last: bool) -> Iterator[ThoughtPiece | TextPiece]:
        self._held += text
        if self._place == "start":
            start = self._held.lstrip()
            if "<think>".startswith(start) and not is_last:
                return
            self._place = "thought" if start.startswith("<think>") else "answer"
            self._held = start.removeprefix("<think>")
        if self._place == "answer":
            if self._held:
                yield TextPiece(self._held)
            self._held = ""
            return
        thought, tag, rest = self._held.partition("</think>")
        if not tag and not is_last:  # it can end within the tag
            thought, rest = thought[:-7], thought[-7:]
        self._held = rest
        if thought:
            yield ThoughtPiece(thought)
        if tag:
            self._place = "start"
            yield from self.read("", is_last=is_last)


def _piece(event: object) -> ModelEvent | None:
    """Return what the client is shown of an event, if anything."""
    if isinstance(event, PartStartEvent):
        if isinstance(event.part, TextPart):
            return TextPiece(event.part.content)
        if isinstance(event.part, ThinkingPart):
            return ThoughtPiece(event.part.content)
        if isinstance(event.part, ToolCallPart):
            return CallBegun(event.part.tool_call_id, event.part.tool_name)
    elif isinstance(event, PartDeltaEvent):
        if isinstance(event.delta, TextPartDelta):
            return TextPiece(event.delta.content_delta)
        if isinstance(event.delta, ThinkingPartDelta):
            return ThoughtPiece(event.delta.content_delta or "")
    return None


def _answer(stream: _Stream, tools: Sequence[ToolSpec], estimated_input: int) -> Answer:
    """Return the whole answer, with calls that have been checked."""
    response = stream.get()
    stopped_by: Literal["end", "length", "filter"] = "end"
    if response.finish_reason == "length":
        stopped_by = "length"
    elif response.finish_reason == "content_filter":
        stopped_by = "filter"
    calls: list[CallRequest] = []
    parts: list[ModelResponsePart] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            call = _call(part, tools, is_cut_off=stopped_by == "length")
            calls.append(call)
            if not call.problem:
                part = replace(part, args=json.dumps(call.arguments))
        parts.append(part)
    read = _counted(stream.last_usage, "prompt_tokens", estimated_input)
    written = _counted(stream.last_usage, "completion_tokens", estimate_tokens([response]))
    usage = RequestUsage(input_tokens=read, output_tokens=written)
    return Answer(replace(response, parts=parts, usage=usage), calls, read, written, stopped_by)


def _call(part: ToolCallPart, tools: Sequence[ToolSpec], *, is_cut_off: bool) -> CallRequest:
    arguments, problem = parse_arguments(str(part.args or ""))
    names = [tool.name for tool in tools]
    if problem and is_cut_off:
        problem = "The call was cut off at the limit of tokens. Write it again, shorter."
    if part.tool_name not in names:
        problem = f"There is no tool {part.tool_name!r}. The tools are: {', '.join(names) or 'none'}."
    return CallRequest(part.tool_call_id, part.tool_name, arguments, problem)


def _counted(usage: Any, name: str, estimate: int) -> int:
    """Return what the server counted. Some count nothing, or only what was not in their cache."""
    tokens = getattr(usage, name, None) or 0
    return tokens if tokens > estimate / 6 else estimate
