"""Commands that ask the user something."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

from acp import text_block, tool_content, tool_diff_content
from acp.schema import (
    AcceptElicitationResponse,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationUrlSessionMode,
    PermissionOption,
    ToolCallUpdate,
)

from acp_tui.demo.commands.registry import number_argument, slash_command
from acp_tui.demo.permission import ask_client, standard_options
from acp_tui.demo.tool_call import ToolCall

if TYPE_CHECKING:
    from acp.schema import PermissionOptionKind

    from acp_tui.demo.turn import Turn


def _options(*given: tuple[str, PermissionOptionKind]) -> list[PermissionOption]:
    return [
        PermissionOption(option_id=f"option-{index}", name=name, kind=kind)
        for index, (name, kind) in enumerate(given, 1)
    ]


_SETS = {
    "four": standard_options("execute"),
    "twins": _options(
        ("Allow", "allow_once"),
        ("Always allow for this project", "allow_always"),
        ("Always allow for me", "allow_always"),
        ("Always allow, and switch to auto mode", "allow_always"),
        ("Reject", "reject_once"),
    ),
    "noreject": _options(("Allow", "allow_once"), ("Always allow", "allow_always")),
    "onlyreject": _options(
        ("Reject", "reject_once"),
    ),
    "backwards": _options(("Never", "reject_always"), ("No", "reject_once"), ("Yes", "allow_once")),
    "plans": _options(
        ("Approve plan A", "allow_once"), ("Approve plan B", "allow_once"), ("Neither", "reject_once")
    ),
}


@slash_command(
    "permission",
    "Permission requests with odd sets of options; nothing is done, whatever you answer",
    "[" + "|".join((*_SETS, "bare", "many")) + "]",
)
async def permission(turn: Turn) -> None:
    """Several options of a kind, missing kinds, an unannounced call, several requests at once."""
    if turn.argument == "bare":
        await _tell(
            turn,
            "bare",
            await ask_client(turn, ToolCallUpdate(tool_call_id="never-announced"), _SETS["four"]),
        )
        return
    if turn.argument == "many":
        questions = [_question(turn, f"Question {index} of 3", _SETS["four"]) for index in range(1, 4)]
        for index, option in enumerate(await asyncio.gather(*questions), 1):
            await _tell(turn, f"Question {index} of 3", option)
        return
    title = "Do nothing, once you agree"
    await _tell(turn, title, await _question(turn, title, _SETS.get(turn.argument, _SETS["twins"])))


async def _question(turn: Turn, title: str, options: list[PermissionOption]) -> PermissionOption:
    call = ToolCall(
        turn,
        title,
        "execute",
        raw_input={"command": "true", "cwd": str(turn.cwd), "env": {"DEMO": "1"}},
        content=[
            tool_content(text_block("The demo does **nothing** here, whatever you answer.")),
            tool_diff_content(str(turn.cwd / "imaginary.txt"), "after\n", "before\n"),
        ],
    )
    await call.start()
    option = await ask_client(turn, call.question(), options)
    await (call.done() if option.kind.startswith("allow") else call.fail("Rejected by the user."))
    return option


async def _tell(turn: Turn, title: str, option: PermissionOption) -> None:
    await turn.say(f"{title}: you chose “{option.name}” (`{option.option_id}`, {option.kind}).\n")


@slash_command("withdraw", "Asks for permission and takes the question back", "[seconds]")
async def withdraw(turn: Turn) -> None:
    """The agent's side of `$/cancel_request`: the dialog should go away by itself."""
    call = await ToolCall(
        turn, "A question that is taken back", "execute", raw_input={"command": "true"}
    ).start()
    question = asyncio.ensure_future(ask_client(turn, call.question(), _SETS["four"]))
    try:
        async with asyncio.timeout(number_argument(turn.argument, 2, most=60)):
            option = await asyncio.shield(question)
    except TimeoutError:
        for request_id in turn.wire.unanswered("session/request_permission", turn.session_id):
            await turn.notify("$/cancel_request", {"requestId": request_id})
        await call.fail("The demo took its question back.")
        await turn.say("Too late: I took my question back with `$/cancel_request`.")
    else:
        await call.done()
        await _tell(turn, "You were quicker", option)
    finally:
        question.cancel()


def _field(kind: str, title: str, **rules: Any) -> dict[str, Any]:
    return {"type": kind, "title": title, **rules}


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


_FORM = {
    "title": "A form with every kind of field",
    "description": "The demo tells you what arrived and forgets it.",
    "required": ["name", "colour"],
    "properties": {
        "name": _field("string", "Name", description="Two to forty letters", minLength=2, maxLength=40),
        "email": _field("string", "E-mail", format="email"),
        "day": _field("string", "A day", format="date"),
        "code": _field("string", "Code", description="Like AB-12", pattern="^[A-Z]{2}-[0-9]{2}$"),
        "colour": _field(
            "string", "Colour", default="green", oneOf=_titled(red="Red", green="Green", blue="Blue")
        ),
        "size": _field("string", "Size", enum=["S", "M", "L"]),
        "count": _field("integer", "How many", minimum=1, maximum=10, default=1),
        "weight": _field("number", "Weight in kg", minimum=0, maximum=99.5),
        "gift": _field("boolean", "Wrap it as a gift", default=False),
        "extras": _field("array", "Extras", maxItems=2, items={"anyOf": _titled(card="A card", bow="A bow")}),
        "tags": _field("array", "Tags", items={"type": "string", "enum": ["new", "old", "odd"]}),
    },
}


@slash_command("elicit", "Asks for structured input: a form, or a page to visit", "[form|url]")
async def elicit(turn: Turn) -> None:
    """Only what the client advertised may be asked for."""
    mode = "url" if turn.argument == "url" else "form"
    offered = turn.capabilities.elicitation
    if offered is None or (offered.url if mode == "url" else offered.form) is None:
        what = "pages to visit" if mode == "url" else "forms"
        await turn.say(
            f"I would ask you something now, but your client takes no {what} from agents (elicitation of mode"
            f" `{mode}`), so I must not. Try `/permission`: that question every client takes."
        )
    elif mode == "url":
        await _visit(turn)
    else:
        await _form(turn)


async def _form(turn: Turn) -> None:
    form = ElicitationFormSessionMode(
        session_id=turn.session_id, requested_schema=ElicitationSchema.model_validate(_FORM)
    )
    answer = await turn.client.create_elicitation("Please fill in as much as you like.", form)
    if isinstance(answer, AcceptElicitationResponse):
        rows = [f"| {name} | `{value!r}` |" for name, value in (answer.content or {}).items()]
        await turn.say("\n".join(("You sent:\n", "| Field | Value |", "|---|---|", *rows)) + "\n")
    else:
        await turn.say(f"You did not send the form: `{answer.action}`.")


async def _visit(turn: Turn) -> None:
    elicitation_id = str(uuid.uuid4())
    page = ElicitationUrlSessionMode.model_validate(
        {
            "sessionId": turn.session_id,
            "elicitationId": elicitation_id,
            "url": f"https://example.com/acp-tui-demo?state={elicitation_id}",
        }
    )
    answer = await turn.client.create_elicitation("Would you visit a page? It is only an example.", page)
    if isinstance(answer, AcceptElicitationResponse):
        await turn.rest(30)
        await turn.client.complete_elicitation(elicitation_id)
        await turn.say("I said that the visit is complete; I cannot know, no page reports to me.")
    else:
        await turn.say(f"No visit, then: `{answer.action}`.")
