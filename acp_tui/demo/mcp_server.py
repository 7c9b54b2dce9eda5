"""The demo's MCP server, run as `python -m acp_tui.demo.mcp_server`.

It needs no network and shows what a server can offer: a prompt, resources, and three tools (one with a
structured result, one that reports progress, and one that asks the user a question).
"""

from __future__ import annotations

from typing import Annotated, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from acp_tui import __version__

POEM = """\
A server, small and offline,
counts your words and brews you tea.
"""

server = MCPServer(
    "demo",
    title="Demo server",
    version=__version__,
    instructions="These tools show what an MCP server can do. They neither read nor change anything.",
    log_level="ERROR",
)


class Count(BaseModel):
    """The length of a text."""

    words: int
    characters: int


@server.tool(title="Count words", annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def count_words(text: str) -> Count:
    """Count the words and characters of a text."""
    return Count(words=len(text.split()), characters=len(text))


@server.tool(title="Count down", annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def count_down(
    context: Context, start: Annotated[int, Field(ge=1, le=60, description="Seconds to count")] = 3
) -> str:
    """Count down to zero, with progress every second."""
    for second in range(start):
        await context.report_progress(second, start, f"{start - second} …")
        await anyio.sleep(1)
    return "Zero!"


class Order(BaseModel):
    """An order of tea."""

    tea: Literal["black", "green", "mint"] = Field(default="green", title="Tea")
    sugar: int = Field(default=0, ge=0, le=5, title="Spoons of sugar")
    milk: bool = Field(default=False, title="With milk")


def _ask_for_order() -> Elicit[Order]:
    return Elicit("How do you take your tea?", Order)


@server.tool(title="Brew tea")
def brew_tea(order: Annotated[ElicitationResult[Order], Resolve(_ask_for_order)]) -> str:
    """Ask the user for the kind of tea, then pretend to brew the tea."""
    if not isinstance(order, AcceptedElicitation):
        return "No tea, then."
    wanted = order.data
    milk = "with milk" if wanted.milk else "without milk"
    return f"One {wanted.tea} tea {milk}. Spoons of sugar: {wanted.sugar}."


@server.prompt(title="Write a haiku")
def haiku(topic: str, language: str = "English") -> str:
    """Ask the agent for a haiku about a topic."""
    return f"Write a haiku about {topic} in {language}."


@server.resource("demo://poem", title="A poem", mime_type="text/plain")
def poem() -> str:
    """Two lines about this server."""
    return POEM


@server.resource("demo://numbers/{number}", title="A number", mime_type="text/plain")
def number_facts(number: int) -> str:
    """Say whether a number is even."""
    return f"{number} is {'odd' if number % 2 else 'even'}.\n"


if __name__ == "__main__":
    server.run()
