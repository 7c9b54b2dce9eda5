"""The server that a model runs on: the HTTP clients, the list of models, the sizes of their contexts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
from openai import AsyncOpenAI

from acp_tui.local_agent.model_errors import ModelError, connection_sentence, message_of, status_sentence
from acp_tui.local_agent.profile import ModelInfo, ModelProfile

CONNECT_SECONDS = 10
READ_SECONDS = 1800
"""A model on a slow machine reads a long conversation for many minutes before its first word."""

LIST_SECONDS = 5
MAX_MODELS = 1000

_CONTEXT_KEYS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
)
"""Where `/v1/models` tells the size of the context: vLLM and SGLang, LM Studio, OpenRouter, Groq, Mistral."""


def http_client(profile: ModelProfile) -> httpx2.AsyncClient:
    """Return a client that sends the key to the profile's address only.

    Redirects are not followed. Proxies of the environment are used for https alone: they see only the host.
    """
    is_https = profile.base_url.lower().startswith("https:")
    verify: ssl.SSLContext | bool = True
    if is_https:
        import truststore

        verify = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def drop_placeholder(request: httpx2.Request) -> None:
        if request.headers.get("Authorization") == f"Bearer {_NO_KEY}":
            del request.headers["Authorization"]

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        trust_env=is_https,
        follow_redirects=False,
        verify=verify,
        event_hooks={"request": [drop_placeholder]},
    )


_NO_KEY = "none"  # the OpenAI client insists on a key


def openai_client(profile: ModelProfile, http: httpx2.AsyncClient) -> AsyncOpenAI:
    with _without_openai_variables():
        return AsyncOpenAI(
            base_url=profile.base_url,
            api_key=profile.api_key or _NO_KEY,
            default_headers=dict(profile.headers),
            http_client=http,
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            max_retries=0,  # each wait is reported, see `model.py`
        )


@contextlib.contextmanager
def _without_openai_variables() -> Iterator[None]:
    """Hide what the client would add to each request: organization, project, headers, another key."""
    hidden = {name: value for name, value in os.environ.items() if name.startswith("OPENAI_")}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


async def list_models(profile: ModelProfile, http: httpx2.AsyncClient) -> list[ModelInfo]:
    """Return the models of the server, with their contexts where it tells them. Raises `ModelError`."""
    base = profile.base_url.rstrip("/")
    try:
        response = await http.get(f"{base}/models", headers=_headers(profile), timeout=LIST_SECONDS)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelError(connection_sentence(error, profile.base_url)) from None
    body = _json(response)
    if response.status_code != httpx2.codes.OK:
        raise ModelError(status_sentence(response.status_code, profile, message_of(body)[:300]))
    rows = body.get("data", body.get("models")) if isinstance(body, dict) else body
    if not isinstance(rows, list):
        raise ModelError(f"{profile.base_url} sent no list of models: does the address end in /v1?")
    infos = [info for row in rows[:MAX_MODELS] if (info := _info(row)) is not None]
    if infos and not any(info.context for info in infos):
        contexts = await _other_contexts(profile, http, infos)
        infos = [ModelInfo(info.name, contexts.get(info.name)) for info in infos]
    return infos


def _headers(profile: ModelProfile) -> dict[str, str]:
    key = {"Authorization": f"Bearer {profile.api_key}"} if profile.api_key else {}
    return {**key, **{name.title(): value for name, value in profile.headers.items()}}


def _json(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _info(row: Any) -> ModelInfo | None:
    if not isinstance(row, dict):
        return None
    name = row.get("id") or row.get("name")
    if not isinstance(name, str) or not name.isprintable():
        return None
    meta = row.get("meta")
    context = next((size for key in _CONTEXT_KEYS if (size := _size(row.get(key)))), None)
    if context is None and isinstance(meta, dict):  # llama.cpp
        context = _size(meta.get("n_ctx"))
    return ModelInfo(name, context)


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40 else None


async def _other_contexts(
    profile: ModelProfile, http: httpx2.AsyncClient, infos: list[ModelInfo]
) -> dict[str, int]:
    """Ask llama.cpp, Ollama and LM Studio in their own ways. Errors of other servers are ignored.

    What the model was trained for is not what the server gives it, so that is not asked.
    """
    root = profile.base_url.rstrip("/").removesuffix("/v1")

    async def ask(path: str, body: Any = None) -> dict[str, Any]:
        try:
            response = await http.request(
                "POST" if body else "GET",
                f"{root}{path}",
                json=body,
                headers=_headers(profile),
                timeout=LIST_SECONDS,
            )
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return {}
        answer = _json(response) if response.status_code == httpx2.codes.OK else None
        return answer if isinstance(answer, dict) else {}

    llama_cpp, running, shown, lm_studio = await asyncio.gather(
        ask(f"/props?model={quote(profile.model)}"),
        ask("/api/ps"),
        ask("/api/show", {"model": profile.model}),
        ask("/api/v0/models"),
    )
    contexts: dict[str, int] = {}
    generation = llama_cpp.get("default_generation_settings")
    if isinstance(generation, dict) and (size := _size(generation.get("n_ctx"))):
        contexts.update(dict.fromkeys((info.name for info in infos), size))
    if size := _ollama_parameter(shown.get("parameters")):
        contexts[profile.model] = size
    for rows, key in (
        (running.get("models"), "context_length"),
        (lm_studio.get("data"), "loaded_context_length"),
    ):
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and (size := _size(row.get(key))):
                contexts[str(row.get("id") or row.get("name"))] = size
    return contexts


def _ollama_parameter(parameters: Any) -> int | None:
    """Return `num_ctx` of a model file."""
    for line in parameters.splitlines() if isinstance(parameters, str) else []:
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return _size(int(value))
    return None
