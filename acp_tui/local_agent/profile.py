"""A model's settings, its tools, and what requests and calls yield. Imports no model library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.messages import ModelResponse


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost."""

    input: float
    output: float
    currency: str = "USD"

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


@dataclass(frozen=True)
class ModelProfile:
    """Where a model is and how to talk to it.

    Attributes:
        base_url: The address as OpenAI clients expect it, with `/v1`.
        api_key: From the environment; never in arguments, files or errors.
        context: Tokens that fit into the model's window; None if unknown.
        headers: Sent with each request.
        calls: How the model calls tools: by the API's own calls, as XML in its text, or whichever works.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    context: int | None = None
    temperature: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    calls: Literal["auto", "native", "xml"] = "auto"
    prices: Prices | None = None


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model sees it.

    Attributes:
        name: Plain for the agent's own tools, `server__tool` for those of MCP servers.
        parameters: The JSON schema of the arguments, an object.
        server: The server's name in the XML form; `local` for the agent's own tools.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    server: str = "local"


@dataclass(frozen=True)
class ModelInfo:
    """A model that the server offers; `context` in tokens, None if the server does not tell it."""

    name: str
    context: int | None = None


@dataclass(frozen=True)
class TextPiece:
    text: str


@dataclass(frozen=True)
class ThoughtPiece:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True)
class CallBegun:
    """The model has begun to write a call."""

    id: str
    name: str


@dataclass(frozen=True)
class Waiting:
    """The server refused for now; the request is repeated after `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True)
class CallRequest:
    """A complete call. `problem` says to the model why the arguments cannot be used; empty if they can."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class Image:
    data: bytes
    media_type: str


@dataclass(frozen=True)
class ToolResult:
    """What a call came to: text and images for the model. An error goes back to the model as well."""

    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The whole answer, always the last event of a request.

    Attributes:
        response: For the history, as it is.
        input_tokens: As the server counted them, or estimated where it did not.
        stopped_by: `length` if the answer was cut off at the limit of tokens, `filter` if it was withheld.
    """

    response: ModelResponse
    calls: list[CallRequest]
    input_tokens: int | None
    output_tokens: int | None
    stopped_by: Literal["end", "length", "filter"]


ModelEvent = TextPiece | ThoughtPiece | CallBegun | Waiting | Answer
