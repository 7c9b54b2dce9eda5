"""The server that a model runs on: the HTTP clients, the list of models, the sizes of their contexts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from typing import Any
from urllib.parse import quote

import httpx2
from openai import AsyncOpenAI

from acp_tui.local_agent.model_errors import ModelError, connection_sentence, reason, status_sentence
from acp_tui.local_agent.profile import ModelInfo, ModelProfile

CONNECT_SECONDS = 10
READ_SECONDS = 1800
"""A model on a slow machine reads a long conversation for many minutes before its first word."""

LIST_SECONDS = 5
ALL_MODELS = "*"
"""The key of a context that all models of a server have."""

_CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Where `/v1/models` tells the size of the context: vLLM, OpenRouter, Groq, Mistral."""


def http_client(profile: ModelProfile) -> httpx2.AsyncClient:
    """Return a client that sends the key to the profile's address only.

    Redirects are not followed. Proxies of the environment are used for https alone: they see only the host.
    """
    is_https = profile.base_url.lower().startswith("https:")
    verify: ssl.SSLContext | bool = True
    if is_https:
        import truststore

        verify = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.AsyncClient(trust_env=is_https, follow_redirects=False, verify=verify)


def openai_client(profile: ModelProfile, http: httpx2.AsyncClient) -> AsyncOpenAI:
    # From its variables the client would take an organization, a project and headers for each request.
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENAI_")}
    try:
        return AsyncOpenAI(
            base_url=profile.base_url,
            api_key=profile.api_key or "none",  # the client insists on a key; servers without keys ignore it
            default_headers=dict(profile.headers),
            http_client=http,
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            max_retries=0,  # each wait is reported, see `model.py`
        )
    finally:
        os.environ.update(hidden)


async def list_models(profile: ModelProfile, http: httpx2.AsyncClient) -> list[ModelInfo]:
    """Return the models of the server, with their contexts where it tells them. Raises `ModelError`."""
    try:
        status, body = await _get(profile, http, f"{profile.base_url.rstrip('/')}/models")
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise ModelError(connection_sentence(error, profile.base_url)) from None
    if status != httpx2.codes.OK:
        raise ModelError(status_sentence(status, profile, reason(body, profile)))
    rows = _rows(body, "data")
    if rows is None:
        raise ModelError(f"{profile.base_url} sent no list of models: does the address end in /v1?")
    names = [name for row in rows if isinstance(name := row.get("id"), str) and name.isprintable()]
    contexts = {str(row.get("id")): size for row in rows if (size := _size(row, *_CONTEXT_KEYS))}
    if names and not contexts:
        contexts = await _local_contexts(profile, http)
    return [ModelInfo(name, contexts.get(name) or contexts.get(ALL_MODELS)) for name in names]


async def _local_contexts(profile: ModelProfile, http: httpx2.AsyncClient) -> dict[Any, int]:
    """Ask llama.cpp, Ollama and LM Studio in their own ways. Errors of other servers are ignored.

    What the model was trained for is not what the server gives it, so that is not asked.
    """
    root = profile.base_url.rstrip("/").removesuffix("/v1")

    async def ask(path: str) -> Any:
        with contextlib.suppress(httpx2.HTTPError):
            return (await _get(profile, http, f"{root}{path}"))[1]

    llama_cpp, ollama, lm_studio = await asyncio.gather(
        ask(f"/props?model={quote(profile.model)}"), ask("/api/ps"), ask("/api/v0/models")
    )
    contexts: dict[Any, int] = {}
    generation = llama_cpp.get("default_generation_settings") if isinstance(llama_cpp, dict) else None
    if isinstance(generation, dict) and (size := _size(generation, "n_ctx")):
        contexts[ALL_MODELS] = size
    for row in _rows(ollama, "models") or []:
        if size := _size(row, "context_length"):
            contexts[str(row.get("name"))] = size
    for row in _rows(lm_studio, "data") or []:
        if size := _size(row, "loaded_context_length"):
            contexts[str(row.get("id"))] = size
    return contexts


async def _get(profile: ModelProfile, http: httpx2.AsyncClient, url: str) -> tuple[int, Any]:
    """Return the status and the JSON of an answer, None if it is none."""
    key = {"Authorization": f"Bearer {profile.api_key}"} if profile.api_key else {}
    response = await http.get(url, headers={**key, **profile.headers}, timeout=LIST_SECONDS)
    try:
        return response.status_code, response.json()
    except (ValueError, RecursionError):
        return response.status_code, None


def _rows(body: Any, key: str) -> list[dict[str, Any]] | None:
    rows = body.get(key) if isinstance(body, dict) else body
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def _size(row: dict[str, Any], *keys: str) -> int | None:
    return next((size for key in keys if isinstance(size := row.get(key), int) and size > 0), None)
