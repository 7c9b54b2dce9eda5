"""Slash commands about the session: questions, sign-in, options, titles, notices, how a turn ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Sequence
from typing import Any, Literal, get_args

from acp import schema, tool_diff_content, update_agent_message_text

from acp_tui.demo.sessions import MODELS, MODES
from acp_tui.demo.turn import ToolCall, Turn, slash_command, standard_options, text_content

# ------------------------------------------------------------------ permission requests


def _options(*options: tuple[str, schema.PermissionOptionKind]) -> list[schema.PermissionOption]:
    return [
        schema.PermissionOption(option_id=f"option-{index}", name=name, kind=kind)
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
    "onlyreject": _options(("Reject", "reject_once")),
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
        unannounced = schema.ToolCallUpdate(tool_call_id="never-announced")
        await _report(turn, "bare", await turn.ask_permission(unannounced, _OPTION_SETS["four"]))
        return
    many = turn.argument == "many"
    titles = [f"Question {index} of 3" for index in range(1, 4)] if many else ["Do nothing"]
    options = _OPTION_SETS.get("four" if many else turn.argument, _OPTION_SETS["twins"])
    chosen = await asyncio.gather(*(_ask(turn, title, options) for title in titles))
    for title, option in zip(titles, chosen, strict=True):
        await _report(turn, title, option)


async def _ask(turn: Turn, title: str, options: Sequence[schema.PermissionOption]) -> schema.PermissionOption:
    call = ToolCall(
        turn,
        title,
        "execute",
        raw_input={"command": "true", "cwd": str(turn.cwd), "env": {"DEMO": "1"}},
        content=[
            text_content("Your answer has **no effect** in the demo."),
            tool_diff_content(str(turn.cwd / "imaginary.txt"), "after\n", "before\n"),
        ],
    )
    await call.start()
    option = await call.ask(options)
    await (call.complete() if option.kind.startswith("allow") else call.fail("Rejected by the user."))
    return option


async def _report(turn: Turn, title: str, option: schema.PermissionOption) -> None:
    await turn.say(f'{title}: you chose "{option.name}" (`{option.option_id}`, {option.kind}).\n')


@slash_command("withdraw", "A permission request that is withdrawn after a few seconds", "[seconds]")
async def withdraw(turn: Turn) -> None:
    """Ask for permission, and cancel the request with `$/cancel_request` if the user does not answer in time.

    The client should then close its dialog.
    """
    call = await ToolCall(turn, "A withdrawn request", "execute", raw_input={"command": "true"}).start()
    question = asyncio.ensure_future(call.ask(_OPTION_SETS["four"]))
    try:
        async with asyncio.timeout(turn.number(2, maximum=60)):
            option = await asyncio.shield(question)
    except TimeoutError:
        for request_id in turn.wire.pending_requests("session/request_permission", turn.session_id):
            await turn.wire.notify("$/cancel_request", {"requestId": request_id})
        await call.fail("The demo withdrew its request.")
        await turn.say("Too late: I withdrew my request with `$/cancel_request`.")
    else:
        await call.complete()
        await _report(turn, "You answered in time", option)
    finally:
        question.cancel()


# ------------------------------------------------------------------ elicitation


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
    mode: Literal["form", "url"] = "url" if turn.argument == "url" else "form"
    if not turn.can_elicit(mode):
        await turn.say(
            f"Your client does not advertise elicitation of mode `{mode}`, so I must not ask."
            " Try `/permission`: every client supports that."
        )
    else:
        await (_ask_to_visit_page(turn) if mode == "url" else _ask_to_fill_form(turn))


async def _ask_to_fill_form(turn: Turn) -> None:
    answer = await turn.elicit_form("Please fill in the form. Two fields are required.", _FORM)
    if isinstance(answer, schema.AcceptElicitationResponse):
        rows = [f"| {name} | `{value!r}` |" for name, value in (answer.content or {}).items()]
        await turn.say("\n".join(("I received:\n", "| Field | Value |", "|---|---|", *rows)) + "\n")
    else:
        did = "declined" if answer.action == "decline" else "closed"
        await turn.say(f"You {did} the form. Nothing was sent.")


async def _ask_to_visit_page(turn: Turn) -> None:
    elicitation_id = str(uuid.uuid4())
    url = f"https://example.com/acp-tui-demo?state={elicitation_id}"
    answer = await turn.elicit_visit("Please visit this page. It is only an example.", url, elicitation_id)
    if isinstance(answer, schema.AcceptElicitationResponse):
        await turn.pause(30)
        await turn.client.complete_elicitation(elicitation_id)
        await turn.say("I told your client that you are done with the page. I cannot check that.")
    else:
        await turn.say(f"The page was not visited: `{answer.action}`.")


# ------------------------------------------------------------------ account


@slash_command("signin", "A prompt that is refused until you sign in; then your client sends it again")
async def sign_in(turn: Turn) -> None:
    """Say that the user is signed in. Without a sign-in, the prompt is refused before this command runs."""
    await turn.say("You are signed in, though I have no accounts. `/logout` signs you out.")


@slash_command("logout", "Sign out; the next request is refused until you sign in")
async def logout(turn: Turn) -> None:
    """Sign out without a request from the client, as when a login expires."""
    turn.session.sign_out()
    await turn.say("Signed out. I will refuse the next request, so that your client asks you to sign in.")


# ------------------------------------------------------------------ session state


@slash_command("mode", "The agent changes its own mode", "[" + "|".join(MODES) + "]")
async def mode(turn: Turn) -> None:
    """Switch to the mode that the argument names; without an argument, to the next mode."""
    settings = turn.stored.settings
    names = list(MODES)
    settings.set("mode", turn.argument or names[(names.index(settings.mode) + 1) % len(names)])
    await turn.session.send_settings()
    name, description = MODES[settings.mode]
    await turn.say(f"Switched to **{name}**: {description[0].lower()}{description[1:]}.")


@slash_command("title", "Set the title of the session, or clear it", "[title]")
async def title(turn: Turn) -> None:
    turn.stored.title = turn.argument or None
    if turn.argument:
        await turn.send_update(
            schema.SessionInfoUpdate(session_update="session_info_update", title=turn.argument)
        )
    else:  # the SDK's models omit None, so send null as raw JSON
        await turn.send_raw_update("session_info_update", title=None)
    await turn.say(f'The title is now "{turn.argument}".' if turn.argument else "The title was cleared.")


@slash_command("forget", "Forget this session, as some agents do when they are restarted")
async def forget(turn: Turn) -> None:
    """Forget the session: from now on, the agent refuses to reopen it."""
    turn.stored.forgotten = True
    await turn.say(
        "I will not remember this session. Restart me with `F5`, or quit and run `acp-tui demo --continue`. "
        "Then *Continue in a new session* gives me a summary of this one."
    )


@slash_command("usage", "Fill the context window and raise the cost (made-up numbers)", "[percent]")
async def usage(turn: Turn) -> None:
    """Raise the usage in ten steps to the given percentage of the context window, by default 90."""
    percent = turn.number(90, maximum=100)
    model = MODELS[turn.stored.settings.model]
    for step in range(1, 11):
        turn.stored.used = model.context_window * percent * step // 1000
        turn.stored.cost += model.context_window * model.price / 100_000
        await turn.session.send_usage()
        await turn.pause(8)
    await turn.send_update(
        schema.UsageUpdate(session_update="usage_update", used=turn.stored.used, size=model.context_window)
    )
    await turn.say("The last update had no cost, so the previous cost still applies.")


@slash_command("session", "What the agent knows about this session: folders, options, MCP servers")
async def session(turn: Turn) -> None:
    """Show the parameters of `session/new` and the current settings."""
    stored, settings = turn.stored, turn.stored.settings
    facts = {
        "id": stored.id,
        "folder": stored.cwd,
        "additional folders": ", ".join(stored.directories) or "none",
        "MCP servers": ", ".join(server.name for server in turn.session.mcp_servers) or "none",
        "mode": settings.mode,
        "model": f"{settings.model} (made up)",
        "pace": settings.pace,
        "thoughts": settings.thoughts,
        "remembered answers": json.dumps(stored.remembered),
    }
    rows = "\n".join(f"| {name} | `{value}` |" for name, value in facts.items())
    await turn.say(f"| Setting | Value |\n|---|---|\n{rows}\n")


@slash_command("client", "What the client said about itself")
async def client(turn: Turn) -> None:
    """Show the parameters of `initialize` and the `_meta` of this prompt."""
    parameters: dict[str, Any] = {"initialize": turn.wire.initialize_params}
    if turn.meta:
        parameters["_meta of this prompt"] = turn.meta
    await turn.say(f"```json\n{json.dumps(parameters, indent=2, ensure_ascii=False)}\n```\n")


# ------------------------------------------------------------------ notices, compactions, limits

SUMMARY = """\
## What happened

You asked for a **demonstration**, and the demo agent gave one:

- it wrote a summary of the conversation
- it forgot everything else

## What comes next

The next prompt. The context is *nearly empty* again; `Alt+C` shows it.
"""
NOTICES = {
    "info": ("A new version of the demo agent exists", "It does nothing new."),
    "warning": ("The imaginary model is slow today", "Answers may take a second longer."),
    "error": ("An imaginary MCP server did not start", "`weather`: connection refused. Nothing is wrong."),
}


def _advertises(turn: Turn, capability: str) -> bool:
    """Return True if the client supports this capability of sessions."""
    return (turn.client_capabilities.get("session") or {}).get(capability) is not None


@slash_command("notice", "Send a notice of each severity, or of the one you name", "[info|warning|error]")
async def notice(turn: Turn) -> None:
    if not _advertises(turn, "notices"):
        await turn.say("Your client does not advertise `session.notices`, so I cannot send any.")
        return
    for severity, (title, description) in NOTICES.items():
        if turn.argument in ("", severity):
            await turn.send_raw_update("notice", severity=severity, title=title, description=description)
            await turn.pause(20)


@slash_command("compact", "Summarise the context, as agents do when it is nearly full")
async def compact(turn: Turn) -> None:
    """Send a compaction with a streamed summary, then the new usage."""
    if not _advertises(turn, "compaction"):
        await turn.say("Your client does not advertise `session.compaction`, so I cannot send a compaction.")
        return
    before, after = turn.stored.used, turn.stored.used // 10
    compaction = {"compactionId": str(uuid.uuid4())}
    await turn.send_raw_update("compaction_update", **compaction, status="in_progress")
    for word in SUMMARY.split(" "):
        content = {"type": "text", "text": f"{word} "}
        await turn.send_raw_update("compaction_summary_chunk", **compaction, content=content)
        await turn.pause(2)
    meta = {"preTokens": before, "postTokens": after}
    await turn.send_raw_update("compaction_update", **compaction, status="completed", _meta=meta)
    turn.stored.used = after
    await turn.session.send_usage()


@slash_command("limit", "A limit of your plan that is nearly used up, as Claude Code reports it", "[percent]")
async def limit(turn: Turn) -> None:
    """Report how much of a made-up limit of the user's plan is used, in the `_meta` of a usage update."""
    percent = turn.number(91, maximum=100)
    rate_limit = {
        "status": "allowed" if percent < 80 else "allowed_warning" if percent < 100 else "rejected",
        "rateLimitType": "five_hour",
        "utilization": percent / 100,
        "resetsAt": round(time.time()) + 3 * 3600,
    }
    size = MODELS[turn.stored.settings.model].context_window
    meta = {"_claude/rateLimit": rate_limit}
    await turn.send_raw_update("usage_update", used=turn.stored.used, size=size, _meta=meta)


# ------------------------------------------------------------------ how a turn ends

_INTERNAL = {"code": -32603, "message": "Internal error"}
_ERRORS: dict[str, Any] = {
    "message": {"code": -32603, "message": 'A simulated error, in the field "message"'},
    "details": {**_INTERNAL, "data": {"details": 'A simulated error, in the field "data.details"'}},
    "text": {**_INTERNAL, "data": 'A simulated error, in the field "data"'},
    "http": {
        "code": 429,
        "message": '{"error":{"type":"rate_limit","message":"Simulated: too many requests"}}',
    },
    "nested": {
        **_INTERNAL,
        "data": {"error": {"cause": {"message": 'A simulated error, nested in the field "data"'}}},
    },
    "list": {"code": -32602, "message": "Invalid params", "data": [{"loc": ["prompt"], "msg": "Simulated"}]},
    "empty": {"code": -32603, "message": ""},
    "long": {"code": -32603, "message": "A long message. " * 400},
    "escape": {"code": -32603, "message": "\x1b[2J\x1b[31mAn error that wants to clear the screen"},
    "missing": {"code": -32002, "message": "Resource not found", "data": {"uri": "file:///nowhere"}},
    "auth": {"code": -32000, "message": "Authentication required"},
    "cancelled": {"code": -32800, "message": "Request cancelled"},
    "bare": "An error that is a string, which violates JSON-RPC",
    "null": {"code": None, "message": None},
}


@slash_command("error", "Answer the prompt with an error", "[" + "|".join(_ERRORS) + "]")
async def error(turn: Turn) -> None:
    """Answer the prompt with an error. Agents send all these forms; the last two violate JSON-RPC."""
    turn.wire.override_response(error=_ERRORS.get(turn.argument, _ERRORS["details"]))


@slash_command("refuse", "Refuse the prompt, which removes it from the agent's context")
async def refuse(turn: Turn) -> schema.StopReason:
    await turn.say("I will not do that. (This refusal is simulated.)")
    return "refusal"


_REASONS: tuple[schema.StopReason, ...] = get_args(schema.StopReason)


@slash_command("stop", "End the turn with a stop reason", "[" + "|".join((*_REASONS, "unknown")) + "]")
async def stop(turn: Turn) -> schema.StopReason:
    """End the turn as the argument says; `unknown` is a stop reason that the protocol does not define."""
    await turn.say("This sentence is cut off in the mid")
    if turn.argument == "unknown":
        turn.wire.override_response(result={"stopReason": "_demo_reason"})
    return next((reason for reason in _REASONS if reason == turn.argument), "max_tokens")


@slash_command(
    "slow",
    "A turn that takes a few seconds, so that you can cancel it or send a message into it",
    "[seconds]",
)
async def slow(turn: Turn) -> None:
    seconds = turn.number(10, maximum=24 * 3600)
    for second in range(seconds):
        await turn.send_update(update_agent_message_text(f"{second + 1} "))
        await turn.wait(1)
    await turn.say("\nDone.")


@slash_command("hang", "A turn that never ends and ignores cancellation; restart the agent to stop it")
async def hang(turn: Turn) -> None:
    turn.ignores_cancel = True
    await turn.say("I am stuck now and ignore `session/cancel`. Restart me.")
    await asyncio.Event().wait()


@slash_command("silence", "End the turn without a message")
async def silence(turn: Turn) -> None:
    """Send nothing, as some agents do after a cancel."""


@slash_command("flood", "Many chunks, as fast as possible", "[chunks] [characters]")
async def flood(turn: Turn) -> None:
    """Send chunks without pauses. The chunks are not added to the history."""
    chunks = turn.number(2000, maximum=1_000_000)
    size = turn.number(40, maximum=100_000, position=1)
    text = ("The quick brown fox jumps over the lazy dog. " * (size // 45 + 1))[:size]
    update = update_agent_message_text(text)
    for index in range(chunks):
        await turn.send_update(update, store=False)
        if index % 50 == 0:
            # Let a cancel be handled: `send_update` yields to the event loop only if the pipe is full.
            await asyncio.sleep(0)
    await turn.say(f"\n\nThose were {chunks} chunks of {size} characters.")


@slash_command("crash", "The agent's process ends during the turn", "[code|signal|zero]")
async def crash(turn: Turn) -> None:
    """Write to stderr, then exit with a code (3 by default) or die from a signal."""
    await turn.say("I am about to crash.")
    print("demo: crashing on request", file=sys.stderr)
    print("demo: the last line before the end", file=sys.stderr, flush=True)
    if turn.argument == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0 if turn.argument == "zero" else turn.number(3, maximum=255))


@slash_command("later", "A message that arrives after the turn has ended")
async def later(turn: Turn) -> None:
    """Send a message after the turn has ended, as agents that work in the background do."""

    def report() -> None:
        turn.session.run_in_background(turn.say("This message comes after the turn, from background work."))

    turn.wire.call_after_response(report)
    await turn.say("The turn ends now. Another message follows.")
