"""Checks of sign-in. Only with `--sign-in METHOD` do they sign in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.doctor.behaviour_check import objects_in
from acp_tui.doctor.suite.client import FULL_CAPABILITIES, Failed, NotOffered, NotSeen
from acp_tui.session.record import AUTH_REQUIRED

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import SuiteClient

UNKNOWN_METHOD_ID = "acp-tui-no-such-method"


async def method_ids(bench: Bench) -> None:
    methods = _methods(await bench.client())
    if not methods:
        raise NotOffered("the agent advertises no authMethods")
    ids = [method.get("id") for method in methods]
    if not all(isinstance(identity, str) and identity for identity in ids):
        raise Failed("a sign-in method has no id")
    if len(set(ids)) < len(ids):
        raise Failed(f"two sign-in methods have the same id: {', '.join(map(str, ids))}")


async def terminal_method_undeclared(bench: Bench) -> None:
    without = {name: value for name, value in FULL_CAPABILITIES.items() if name != "auth"}
    offered = _of_type(_methods(await bench.client()), "terminal")
    async with bench.connect(without) as client:
        found = _of_type(_methods(client), "terminal")
    if found:
        raise Failed(f"{found[0].get('id')!r} is offered to a client without auth.terminal")
    if not offered:
        raise NotOffered("the agent advertises no method of the type terminal")


async def sign_in_required_has_methods(bench: Bench) -> None:
    async with bench.start() as client:
        await client.initialize()
        answer = await _open_session(bench, client)
        if _code(answer) != AUTH_REQUIRED:
            raise NotSeen("the agent opens sessions without a sign-in")
        if not _methods(client):
            raise Failed("session/new demands a sign-in, but initialize offered no authMethods")


async def unknown_method_answered(bench: Bench) -> None:
    client = await bench.client()
    await client.answer(client.send_request("authenticate", {"methodId": UNKNOWN_METHOD_ID}))


async def authenticate(bench: Bench) -> None:
    method = _named_method(bench)
    async with bench.start() as client:
        await client.initialize()
        result = await client.request("authenticate", {"methodId": method})
        _require_object(result, "authenticate")
        if _code(await _open_session(bench, client)) == AUTH_REQUIRED:
            raise Failed("session/new still demands a sign-in after authenticate has succeeded")


async def logout(bench: Bench) -> None:
    offered = await bench.client()
    offered.require("auth", "logout")
    method = _named_method(bench)
    async with bench.connect() as client:
        try:
            _require_object(await client.request("logout", {}), "logout")
            answer = await _open_session(bench, client)
        finally:
            await client.answer(client.send_request("authenticate", {"methodId": method}))
    if "error" in answer and _code(answer) != AUTH_REQUIRED:
        raise Failed(f"after logout, session/new was answered with error {_code(answer)} instead of -32000")


def _methods(client: SuiteClient) -> list[dict[str, Any]]:
    return objects_in(client.agent.get("authMethods"))


def _of_type(methods: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [method for method in methods if method.get("type") == kind]


def _named_method(bench: Bench) -> str:
    if bench.sign_in is None:
        raise NotSeen("it would change whether you are signed in; use --sign-in METHOD")
    return bench.sign_in


async def _open_session(bench: Bench, client: SuiteClient) -> dict[str, Any]:
    """Return the answer to `session/new`, whether result or error."""
    params = {"cwd": str(bench.folder("shared")), "mcpServers": []}
    return await client.answer(client.send_request("session/new", params))


def _code(answer: dict[str, Any]) -> Any:
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _require_object(result: Any, method: str) -> None:
    """Raise `Failed` unless a result is an object, or null, which stands for an empty one."""
    if result is not None and not isinstance(result, dict):
        raise Failed(f"the result of {method} is not an object")
