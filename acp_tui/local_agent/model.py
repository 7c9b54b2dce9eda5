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
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
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
    refuses_images,
    refuses_tools,
)
from acp_tui.local_agent.model_server import http_client, list_models, openai_client
from acp_tui.local_agent.profile import (
    Answer,
    CallBegun,
    CallPiece,
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
    describe_tools,
    messages_as_text,
    new_call_id,
    parse_arguments,
    unknown_tool,
)

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

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
        try:
            return await list_models(self._profile, self._http)
        except ModelError:
            raise
        except Exception as error:
            raise explain(error, self._profile) from None

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
                waiting = None if has_begun else self._adapt(error, messages, tools)
                if waiting is None and not has_begun:
                    waiting = self._wait_before_retry(error, attempt)
                    attempt += 1
                if waiting is None:
                    raise explain(error, self._profile) from None
            else:
                return
            yield waiting
            await asyncio.sleep(waiting.seconds)

    def _adapt(
        self, error: Exception, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]
    ) -> Waiting | None:
        """Leave out from now on what the model does not take, if that is why the request has failed."""
        if is_context_full(error):
            return None
        if self._takes_images and refuses_images(error) and _has_images(messages):
            self._takes_images = False
            return Waiting(0, f"{self._profile.model} takes no images, so they are left out")
        if self._takes_tools and self._profile.calls == "auto" and tools and refuses_tools(error):
            self._takes_tools = False
            return Waiting(0, f"{self._profile.model} takes no tools, so it is told to write calls as XML")
        return None

    def _wait_before_retry(self, error: Exception, attempt: int) -> Waiting | None:
        if not isinstance(error, ModelHTTPError) or isinstance(error, ModelQuotaExceededError):
            return None
        is_temporary = error.status_code in (408, 429) or error.status_code >= 500
        if not is_temporary or attempt >= MAX_RETRIES or is_context_full(error):
            return None
        seconds = FIRST_WAIT_SECONDS * 2**attempt
        if error.retry_after is not None:
            seconds = max(0.0, error.retry_after)
        if seconds > MAX_WAIT_SECONDS:
            return None
        said = reason(error, self._profile) or "no reason given"
        return Waiting(seconds, f"The model's server answered {error.status_code}: {said}")

    async def _request(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], instructions: str
    ) -> AsyncGenerator[ModelEvent, None]:
        as_xml = not self._takes_tools
        sent = _without_old_thoughts(messages)
        if not self._takes_images:
            sent = [_without_images(message) for message in sent]
        if as_xml:
            sent = messages_as_text(sent, tools)
            instructions = f"{instructions}\n\n{describe_tools(tools)}".strip()
        parameters = ModelRequestParameters(
            function_tools=[] if as_xml else [_tool_definition(tool) for tool in tools],
            instruction_parts=[InstructionPart(instructions)] if instructions else [],
        )
        settings = ModelSettings()
        if self._profile.temperature is not None:
            settings["temperature"] = self._profile.temperature
        answer = _AnswerReader(tools, messages, as_xml=as_xml)
        sent = self._chat.prepare_messages(sent, parameters)
        async with self._chat.request_stream(sent, settings, parameters) as stream:
            assert isinstance(stream, _Stream)
            async for event in stream:
                for piece in answer.read(event):
                    yield piece
            for piece in answer.finish():
                yield piece
            if not stream.is_complete:
                raise ModelError(f"The connection to {self._profile.base_url} was lost during the answer.")
            estimate = estimate_tokens(sent, () if as_xml else tools, instructions)
            yield answer.answer(stream, estimate)


# ---------------------------------------------------------------------- what is sent


def _tool_definition(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
    )


def _without_old_thoughts(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave out the reasoning of earlier turns. That of the current turn is expected beside its calls."""
    turn = max((index for index, message in enumerate(messages) if _is_prompt(message)), default=0)
    kept: list[ModelMessage] = []
    for index, message in enumerate(messages):
        if index < turn and isinstance(message, ModelResponse):
            parts = [part for part in message.parts if not isinstance(part, ThinkingPart)]
            if not parts:
                continue
            message = replace(message, parts=parts)
        kept.append(message)
    return kept


def _is_prompt(message: ModelMessage) -> bool:
    if not isinstance(message, ModelRequest):
        return False
    has_results = any(isinstance(part, ToolReturnPart) for part in message.parts)
    return not has_results and any(isinstance(part, UserPromptPart) for part in message.parts)


def _has_images(messages: Sequence[ModelMessage]) -> bool:
    return any(_without_images(message) is not message for message in messages)


def _without_images(message: ModelMessage) -> ModelMessage:
    """Return the message itself if it has none."""
    if not isinstance(message, ModelRequest):
        return message
    parts: list[ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, UserPromptPart | ToolReturnPart) and isinstance(part.content, list | tuple):
            items: Any = [NO_IMAGE if isinstance(item, BinaryContent) else item for item in part.content]
            if items != list(part.content):
                part = replace(part, content=items)
        parts.append(part)
    is_same = all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if is_same else replace(message, parts=parts)


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
            content: Any = getattr(part, "content", None)
            for item in content if isinstance(content, list | tuple) else [content]:
                if isinstance(item, BinaryContent):
                    images += 1
                elif item is not None:
                    size += len((item if isinstance(item, str) else str(item)).encode(errors="replace"))
    return int(size / BYTES_PER_TOKEN) + images * IMAGE_TOKENS


# ---------------------------------------------------------------------- what is received


class _ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Stream


@dataclass
class _Stream(OpenAIStreamedResponse):
    """Puts right what servers send differently from OpenAI, before pydantic-ai reads it."""

    def __post_init__(self) -> None:
        self.is_complete = False  # without a reason to stop and without usage, the connection was lost
        self.last_usage: object = None
        self._calls_by_index: dict[object, tuple[int, str | None]] = {}  # the server's index → ours, id
        self._call_count = 0
        # Tags in the text are read by `_ThoughtReader`: pydantic-ai knows them only as pieces of their own.
        profile: Any = {**self._model_profile, "thinking_tags": None}
        self._model_profile = profile

    async def _validate_response(self) -> AsyncIterator[ChatCompletionChunk]:
        async for chunk in self._response:
            # Some servers send the usage so far with each piece; pydantic-ai would add it up.
            if chunk.usage is not None:
                self.last_usage = chunk.usage
                self.is_complete = self.is_complete or not chunk.choices
                chunk.usage = None
            for choice in chunk.choices or []:
                self.is_complete = self.is_complete or bool(choice.finish_reason)
                delta: Any = choice.delta
                if delta is not None and delta.tool_calls:
                    delta.tool_calls = [piece for piece in delta.tool_calls if self._repair_call(piece)]
            yield chunk

    def _repair_call(self, piece: Any) -> bool:
        """Give the call an index of its own, and its name once. Return False if it belongs to no call."""
        function = piece.function
        if function is None:
            return False
        if function.arguments is not None and not isinstance(function.arguments, str):
            function.arguments = json.dumps(function.arguments)
        index, call_id = self._calls_by_index.get(piece.index, (None, None))
        is_other = index is not None and piece.id and call_id and piece.id != call_id
        if index is None or (function.name and (is_other or piece.index is None)):
            if not function.name:
                return False
            index, self._call_count = self._call_count, self._call_count + 1
            self._calls_by_index[piece.index] = index, piece.id
        else:
            function.name = None
        piece.index = index
        return True


class _ThoughtReader:
    """Separates reasoning between `<think>` tags at the beginning of the text from the answer."""

    _TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))

    def __init__(self) -> None:
        self._held = ""
        self._closing: str | None = None  # inside reasoning: what ends it
        self._had_thought = False
        self._is_over = False  # the answer has begun

    def feed(self, text: str) -> Iterator[TextPiece | ThoughtPiece]:
        if self._is_over:
            yield TextPiece(text)
            return
        self._held += text
        yield from self._read()

    def _read(self) -> Iterator[TextPiece | ThoughtPiece]:
        if self._closing is None:
            start = self._held.lstrip()
            for opening, closing in self._TAGS:
                if start.startswith(opening):
                    self._held, self._closing = start.removeprefix(opening), closing
                    self._had_thought = True
                    break
                if opening.startswith(start):
                    return
            else:
                self._is_over = True
                if self._had_thought:
                    self._held = start
                yield from self.finish()
                return
        thought, tag, rest = self._held.partition(self._closing)
        if tag:
            self._held, self._closing = rest, None
            if thought:
                yield ThoughtPiece(thought)
            yield from self._read()
            return
        size = _end_of_sure_text(self._held, self._closing)
        if size:
            yield ThoughtPiece(self._held[:size])
            self._held = self._held[size:]

    def finish(self) -> Iterator[TextPiece | ThoughtPiece]:
        held, self._held = self._held, ""
        if held:
            yield ThoughtPiece(held) if self._closing else TextPiece(held)


def _end_of_sure_text(text: str, tag: str) -> int:
    """Return the length of the text without what may be the beginning of the tag."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return len(text) - size
    return len(text)


class _AnswerReader:
    """Makes the pieces, the calls and the response for the history from what pydantic-ai reads."""

    def __init__(self, tools: Sequence[ToolSpec], messages: Sequence[ModelMessage], *, as_xml: bool) -> None:
        self._tools = tools
        self._xml = XmlCallReader(tools) if as_xml else None
        self._thoughts = _ThoughtReader()
        self._parts: list[ModelResponsePart | int] = []  # int: that part of pydantic-ai's response
        self._ids: dict[int, str] = {}
        self._used_ids = {
            part.tool_call_id
            for message in messages
            for part in message.parts
            if isinstance(part, ToolCallPart)
        }
        self._raw_arguments: dict[str, str] = {}
        self._calls: list[CallRequest] = []
        self._size = 0

    def read(self, event: object) -> Iterator[ModelEvent]:
        if isinstance(event, PartStartEvent):
            if isinstance(event.part, TextPart):
                yield from self._read_text(event.part.content)
            elif isinstance(event.part, ThinkingPart):
                self._parts.append(event.index)
                yield from self._thought(event.part.content)
            elif isinstance(event.part, ToolCallPart):
                self._parts.append(event.index)
                call_id = self._ids[event.index] = self._unused_id(event.part.tool_call_id)
                yield CallBegun(call_id, event.part.tool_name)
                yield from self._arguments(call_id, event.part.args)
        elif isinstance(event, PartDeltaEvent):
            if isinstance(event.delta, TextPartDelta):
                yield from self._read_text(event.delta.content_delta)
            elif isinstance(event.delta, ThinkingPartDelta):
                yield from self._thought(event.delta.content_delta)
            elif isinstance(event.delta, ToolCallPartDelta) and event.index in self._ids:
                yield from self._arguments(self._ids[event.index], event.delta.args_delta)

    def finish(self) -> Iterator[ModelEvent]:
        """Yield what has been held back."""
        for piece in self._thoughts.finish():
            yield from self._read_piece(piece)
        if self._xml is not None:
            yield from self._read_xml(self._xml.finish())

    def _unused_id(self, call_id: str) -> str:
        """Some servers count the calls of each answer from 0; a session shows each call under its id."""
        if not call_id or call_id in self._used_ids:
            call_id = new_call_id()
        self._used_ids.add(call_id)
        return call_id

    def _thought(self, text: str | None) -> Iterator[ModelEvent]:
        if text:
            self._size += len(text)
            yield ThoughtPiece(text)

    def _arguments(self, call_id: str, arguments: object) -> Iterator[ModelEvent]:
        if arguments:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self._size += len(text)
            yield CallPiece(call_id, text)

    def _read_text(self, text: str) -> Iterator[ModelEvent]:
        self._size += len(text)
        for piece in self._thoughts.feed(text):
            yield from self._read_piece(piece)

    def _read_piece(self, piece: TextPiece | ThoughtPiece) -> Iterator[ModelEvent]:
        if isinstance(piece, ThoughtPiece):
            last = self._parts[-1] if self._parts else None
            if isinstance(last, ThinkingPart):
                last.content += piece.text
            else:
                self._parts.append(ThinkingPart(piece.text, id="content"))
            yield piece
        elif self._xml is not None:
            yield from self._read_xml(self._xml.feed(piece.text))
        else:
            yield from self._read_xml([piece])

    def _read_xml(
        self, events: Sequence[TextPiece | CallBegun | CallPiece | CallRequest]
    ) -> Iterator[ModelEvent]:
        for event in events:
            if isinstance(event, CallRequest):
                raw = self._raw_arguments.get(event.id, "").strip()
                self._calls.append(event)
                self._parts.append(ToolCallPart(event.name, _stored_arguments(raw, event), event.id))
                continue
            if isinstance(event, CallPiece):
                self._raw_arguments[event.id] = self._raw_arguments.get(event.id, "") + event.text
            elif isinstance(event, TextPiece):
                last = self._parts[-1] if self._parts else None
                if isinstance(last, TextPart):
                    last.content += event.text
                else:
                    self._parts.append(TextPart(event.text))
            yield event

    def answer(self, stream: _Stream, estimated_input: int) -> Answer:
        response = stream.get()
        stopped_by: Literal["end", "length", "filter"] = "end"
        if response.finish_reason == "length":
            stopped_by = "length"
        elif response.finish_reason == "content_filter":
            stopped_by = "filter"
        parts: list[ModelResponsePart] = []
        for part in self._parts:
            if isinstance(part, int):
                call_id = self._ids.get(part, "")
                part = response.parts[part]
                if isinstance(part, ToolCallPart):
                    call = self._native_call(part, call_id, is_cut_off=stopped_by == "length")
                    self._calls.append(call)
                    raw = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
                    part = replace(part, tool_call_id=call_id, args=_stored_arguments(raw, call))
            parts.append(part)
        input_tokens, output_tokens = _token_counts(stream.last_usage, estimated_input, self._size)
        response = replace(
            response,
            parts=parts,
            usage=RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens),
        )
        return Answer(response, self._calls, input_tokens, output_tokens, stopped_by)

    def _native_call(self, part: ToolCallPart, call_id: str, *, is_cut_off: bool) -> CallRequest:
        if isinstance(part.args, dict):
            arguments, problem = part.args, ""
        else:
            arguments, problem = parse_arguments(part.args or "")
        if problem and is_cut_off:
            problem = "The call was cut off at the limit of tokens. Write it again, shorter."
        if all(tool.name != part.tool_name for tool in self._tools):
            problem = unknown_tool(part.tool_name, self._tools)
        return CallRequest(call_id, part.tool_name, arguments, problem)


def _stored_arguments(raw: str, call: CallRequest) -> str:
    """Return valid JSON for the history, as the model wrote it if possible: servers cache what they read."""
    try:
        if isinstance(json.loads(raw), dict):
            return raw
    except (ValueError, RecursionError):
        pass
    return json.dumps(call.arguments or ({"INVALID_JSON": raw} if raw else {}))


def _token_counts(usage: object, estimated_input: int, output_characters: int) -> tuple[int, int]:
    """Return the tokens of a request, estimated where the server counts none or something else.

    Servers count nothing, zeros, or the part of the prompt that was not in their cache.
    """
    estimated_output = max(1, int(output_characters / BYTES_PER_TOKEN)) if output_characters else 0
    input_tokens = getattr(usage, "prompt_tokens", None)
    output_tokens = getattr(usage, "completion_tokens", None)
    if (
        not isinstance(input_tokens, int)
        or not estimated_input / 6 < input_tokens < estimated_input * 6 + 4000
    ):
        input_tokens = estimated_input
    # Hidden reasoning counts as well, so there can be far more than what was sent.
    if not isinstance(output_tokens, int) or not estimated_output / 6 < output_tokens < 10_000_000:
        output_tokens = estimated_output
    return input_tokens, output_tokens
