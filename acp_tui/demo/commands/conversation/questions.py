"""Commands that ask the user: permission requests and elicitations."""

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

from acp_tui.demo.commands.slash_command import parse_number, slash_command
from acp_tui.demo.tools.permission import ask_client, standard_options
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from acp.schema import PermissionOptionKind

    from acp_tui.demo.turn import Turn


def _options(*options: tuple[str, PermissionOptionKind]) -> list[PermissionOption]:
    return [
        PermissionOption(option_id=f"option-{index}", name=name, kind=kind)
        for index, (name, kind) in enumerate(options, 1)
    ]


_OPTION_SETS = {
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
    "Permission requests with unusual options; your answer has no effect",
    "[" + "|".join((*_OPTION_SETS, "bare", "many")) + "]",
)
async def permission(turn: Turn) -> None:
    """Ask for permission in the way that the argument names.

    The argument is the name of a set of options in `_OPTION_SETS`, `bare` for a request about a tool call
    that was never announced, or `many` for three requests at once. Any other argument means `twins`.
    """
    if turn.argument == "bare":
        unannounced = ToolCallUpdate(tool_call_id="never-announced")
        await _report(turn, "bare", await ask_client(turn, unannounced, _OPTION_SETS["four"]))
        return
    if turn.argument == "many":
        questions = [_ask(turn, f"Question {index} of 3", _OPTION_SETS["four"]) for index in range(1, 4)]
        for index, option in enumerate(await asyncio.gather(*questions), 1):
            await _report(turn, f"Question {index} of 3", option)
        return
    options = _OPTION_SETS.get(turn.argument, _OPTION_SETS["twins"])
    await _report(turn, "Do nothing", await _ask(turn, "Do nothing", options))


async def _ask(turn: Turn, title: str, options: list[PermissionOption]) -> PermissionOption:
    call = ToolCall(
        turn,
        title,
        "execute",
        raw_input={"command": "true", "cwd": str(turn.cwd), "env": {"DEMO": "1"}},
        content=[
            tool_content(text_block("Your answer has **no effect** in the demo.")),
            tool_diff_content(str(turn.cwd / "imaginary.txt"), "after\n", "before\n"),
        ],
    )
    await call.start()
    option = await ask_client(turn, call.for_permission_request(), options)
    await (call.complete() if option.kind.startswith("allow") else call.fail("Rejected by the user."))
    return option


async def _report(turn: Turn, title: str, option: PermissionOption) -> None:
    await turn.say(f'{title}: you chose "{option.name}" (`{option.option_id}`, {option.kind}).\n')


@slash_command("withdraw", "A permission request that is withdrawn after a few seconds", "[seconds]")
async def withdraw(turn: Turn) -> None:
    """Ask for permission, and cancel the request with `$/cancel_request` if the user does not answer in time.

    The client should then close its dialog.
    """
    call = await ToolCall(turn, "A withdrawn request", "execute", raw_input={"command": "true"}).start()
    question = asyncio.ensure_future(ask_client(turn, call.for_permission_request(), _OPTION_SETS["four"]))
    try:
        async with asyncio.timeout(parse_number(turn.argument, 2, maximum=60)):
            option = await asyncio.shield(question)
    except TimeoutError:
        for request_id in turn.wire.pending_requests("session/request_permission", turn.session_id):
            await turn.send_notification("$/cancel_request", {"requestId": request_id})
        await call.fail("The demo withdrew its request.")
        await turn.say("Too late: I withdrew my request with `$/cancel_request`.")
    else:
        await call.complete()
        await _report(turn, "You answered in time", option)
    finally:
        question.cancel()


def _field(kind: str, title: str, **rules: Any) -> dict[str, Any]:
    return {"type": kind, "title": title, **rules}


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


_FORM = {
    "title": "A form with every kind of field",
    "description": "The demo shows you what it received and stores nothing.",
    "required": ["name", "colour"],
    "properties": {
        "name": _field("string", "Name", description="Two to forty letters", minLength=2, maxLength=40),
        "email": _field("string", "E-mail", format="email"),
        "day": _field("string", "Date", format="date"),
        "code": _field("string", "Code", description="For example AB-12", pattern="^[A-Z]{2}-[0-9]{2}$"),
        "colour": _field(
            "string", "Colour", default="green", oneOf=_titled(red="Red", green="Green", blue="Blue")
        ),
        "size": _field("string", "Size", enum=["S", "M", "L"]),
        "count": _field("integer", "Quantity", minimum=1, maximum=10, default=1),
        "weight": _field("number", "Weight in kg", minimum=0, maximum=99.5),
        "gift": _field("boolean", "Wrap it as a gift", default=False),
        "extras": _field("array", "Extras", maxItems=2, items={"anyOf": _titled(card="A card", bow="A bow")}),
        "tags": _field("array", "Tags", items={"type": "string", "enum": ["new", "old", "odd"]}),
    },
}


@slash_command("elicit", "A request for input: a form, or a web page to visit", "[form|url]")
async def elicit(turn: Turn) -> None:
    """Ask the user to fill in a form or to visit a page, if the client supports that mode of elicitation."""
    mode = "url" if turn.argument == "url" else "form"
    offered = turn.capabilities.elicitation
    if offered is None or (offered.url if mode == "url" else offered.form) is None:
        await turn.say(
            f"Your client does not advertise elicitation of mode `{mode}`, so I must not ask."
            " Try `/permission`: every client supports that."
        )
    elif mode == "url":
        await _ask_to_visit_page(turn)
    else:
        await _ask_to_fill_form(turn)


async def _ask_to_fill_form(turn: Turn) -> None:
    form = ElicitationFormSessionMode(
        session_id=turn.session_id, requested_schema=ElicitationSchema.model_validate(_FORM)
    )
    answer = await turn.client.create_elicitation("Please fill in the form. Two fields are required.", form)
    if isinstance(answer, AcceptElicitationResponse):
        rows = [f"| {name} | `{value!r}` |" for name, value in (answer.content or {}).items()]
        await turn.say("\n".join(("I received:\n", "| Field | Value |", "|---|---|", *rows)) + "\n")
    else:
        did = "declined" if answer.action == "decline" else "closed"
        await turn.say(f"You {did} the form. Nothing was sent.")


async def _ask_to_visit_page(turn: Turn) -> None:
    elicitation_id = str(uuid.uuid4())
    page = ElicitationUrlSessionMode.model_validate(
        {
            "sessionId": turn.session_id,
            "elicitationId": elicitation_id,
            "url": f"https://example.com/acp-tui-demo?state={elicitation_id}",
        }
    )
    answer = await turn.client.create_elicitation("Please visit this page. It is only an example.", page)
    if isinstance(answer, AcceptElicitationResponse):
        await turn.pause(30)
        await turn.client.complete_elicitation(elicitation_id)
        await turn.say("I told your client that you are done with the page. I cannot check that.")
    else:
        await turn.say(f"The page was not visited: `{answer.action}`.")
