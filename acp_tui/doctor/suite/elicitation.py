"""Checks of questions to the user: `elicitation/create`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from acp_tui.doctor.behaviour_check import objects_in
from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import FULL_CAPABILITIES, Failed, NotSeen, ObservedTurn
from acp_tui.errors import Refusal
from acp_tui.schema_form.fields import NotAForm, asks_for_secret
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.session.record import INTERNAL_ERROR

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import Handler, RequestId

CREATE = "elicitation/create"
MODES = ("form", "url")
PROPERTY_TYPES = ("string", "number", "integer", "boolean", "array")
EXAMPLES = {"email": "suite@example.com", "uri": "https://example.com", "date": "2026-01-02"}
"""Texts by the format that a field demands."""


async def mode_declared(bench: Bench) -> None:
    await _question(bench)
    without = {name: value for name, value in FULL_CAPABILITIES.items() if name != "elicitation"}
    async with bench.connect(without) as client:
        session = await client.new_session(bench.folder("shared"))
        turn = await client.run_turn(session, bench.prompt("ask"))
        if turn.requests(CREATE):
            raise Failed("elicitation/create was sent to a client without the capability elicitation")


async def mode_given(bench: Bench) -> None:
    for question in await _questions(bench):
        mode = question.get("mode")
        if not isinstance(mode, str) or (mode not in MODES and not mode.startswith("_")):
            raise Failed(f"the mode is {mode!r}")


async def scope(bench: Bench) -> None:
    for question in await _questions(bench):
        if ("sessionId" in question) == ("requestId" in question):
            raise Failed("elicitation/create must have either a sessionId or a requestId")


async def flat_form(bench: Bench) -> None:
    for form in await _forms(bench):
        if form.get("type", "object") != "object":
            raise Failed(f"the type of a form is {form['type']!r} instead of 'object'")
        properties = form.get("properties") or {}
        for name, field in properties.items():
            kind = field.get("type") if isinstance(field, dict) else None
            if kind not in PROPERTY_TYPES and not str(kind).startswith("_"):
                raise Failed(f"the field {name!r} has the type {kind!r}")
        missing = [name for name in form.get("required") or [] if name not in properties]
        if missing:
            raise Failed(f"the required field {missing[0]!r} has no definition")


async def no_secret(bench: Bench) -> None:
    for form in await _forms(bench):
        try:
            fields = read_form(form).fields
        except NotAForm:
            continue
        if secret := next((field for field in fields if asks_for_secret(field)), None):
            raise Failed(f"the form asks for {secret.label!r}")


async def accepted(bench: Bench) -> None:
    async def accept(params: dict[str, Any], _: RequestId) -> Any:
        if params.get("mode") != "form":
            return {"action": "decline"}
        return {"action": "accept", "content": fill_in(params.get("requestedSchema"))}

    await _answered(bench, accept)


async def declined(bench: Bench) -> None:
    await _answered(bench, _action("decline"))


async def dismissed(bench: Bench) -> None:
    await _answered(bench, _action("cancel"))


async def failed(bench: Bench) -> None:
    async def fail(_params: dict[str, Any], _: RequestId) -> Any:
        raise Refusal(INTERNAL_ERROR, "The question could not be shown")

    await _answered(bench, fail)


async def turn_cancelled(bench: Bench) -> None:
    async def cancel_turn(_params: dict[str, Any], _: RequestId) -> Any:
        client, session = await bench.session()
        client.cancel(session)
        return {"action": "cancel"}

    turn = await bench.asked_turn(CREATE, cancel_turn, "ask")
    require_success(turn)
    if turn.stop_reason != "cancelled":
        raise Failed(f"a turn that was cancelled during a question ended with {turn.stop_reason!r}")


async def url(bench: Bench) -> None:
    turn = await bench.asked_turn(CREATE, _action("accept"), "ask_url")
    for request in turn.requests(CREATE):
        question = request["params"]
        if question.get("mode") != "url":
            raise NotSeen("the agent asked with a form")
        if not isinstance(question.get("elicitationId"), str) or not question["elicitationId"]:
            raise Failed("a question with a URL has no elicitationId")
        address = urlsplit(str(question.get("url")))
        if not address.scheme or not (address.netloc or address.path):
            raise Failed(f"the url is {question.get('url')!r}")
    _require_known_completions(turn)


def _require_known_completions(turn: ObservedTurn) -> None:
    """Raise `Failed` if the agent reports the completion of a question that it has not asked."""
    asked: set[Any] = set()
    for frame in turn.received:
        params = frame.get("params")
        identity = params.get("elicitationId") if isinstance(params, dict) else None
        if frame.get("method") == CREATE:
            asked.add(identity)
        elif frame.get("method") == "elicitation/complete" and identity not in asked:
            raise Failed(f"elicitation/complete names {identity!r}, which was never asked")


def fill_in(form: Any) -> dict[str, Any]:
    """Return values for the required fields of a form, or for the first field if none is required."""
    properties = form.get("properties") if isinstance(form, dict) else None
    if not isinstance(properties, dict):
        return {}
    names = form.get("required") or list(properties)[:1]
    return {name: _example(properties[name]) for name in names if isinstance(properties.get(name), dict)}


def _example(field: dict[str, Any]) -> Any:
    """Return a value that a field allows."""
    if field.get("default") is not None:
        return field["default"]
    choices = [*(field.get("enum") or []), *(one.get("const") for one in objects_in(field.get("oneOf")))]
    if choices:
        return choices[0]
    kind = field.get("type")
    if kind == "array":
        items = field.get("items")
        items = items if isinstance(items, dict) else {}
        listed = [*(items.get("enum") or []), *(one.get("const") for one in objects_in(items.get("anyOf")))]
        return listed[: max(1, field.get("minItems") or 0)]
    if kind in ("integer", "number"):
        return field.get("minimum") or 1
    if kind == "boolean":
        return True
    return EXAMPLES.get(str(field.get("format")), "suite".ljust(field.get("minLength") or 0, "."))


def _action(action: str) -> Handler:
    async def answer(_params: dict[str, Any], _: RequestId) -> Any:
        return {"action": action}

    return answer


async def _answered(bench: Bench, handler: Handler) -> None:
    """Run a turn with a question that is answered in a way, and require that the turn goes on."""
    require_success(await bench.asked_turn(CREATE, handler, "ask"))


async def _question(bench: Bench) -> ObservedTurn:
    """Return the turn in which the agent asked something. Raises `NotSeen` if it did not."""
    turn = await bench.turn("ask")
    if not turn.requests(CREATE):
        raise NotSeen("the agent sent no elicitation/create")
    return turn


async def _questions(bench: Bench) -> list[dict[str, Any]]:
    turn = await _question(bench)
    return objects_in([request.get("params") for request in turn.requests(CREATE)])


async def _forms(bench: Bench) -> list[dict[str, Any]]:
    forms = objects_in([one.get("requestedSchema") for one in await _questions(bench)])
    if not forms:
        raise NotSeen("the agent sent no form")
    return forms
