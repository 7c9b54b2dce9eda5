"""The models that a session can use: those of the profiles, and those that their servers list."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from acp import schema

if TYPE_CHECKING:
    from acp_tui.local_agent.model import Model
    from acp_tui.local_agent.profile import ModelProfile

ASSUMED_CONTEXT = 32_000
"""The size of the context, in tokens, if neither the settings nor the server tell it."""
SMALL_CONTEXT = 16_000
LIST_SECONDS = 3
"""How long a new session waits for the lists of models. A server on the same machine answers at once."""
LARGER_CONTEXT = (
    f"An agent needs {SMALL_CONTEXT:,} tokens or more. Ollama: start it with OLLAMA_CONTEXT_LENGTH=32768."
    " llama.cpp: llama-server -c 32768. LM Studio: set the context length when the model is loaded. vLLM:"
    " --max-model-len. Then set `context` in the settings of the model."
)


class Models:
    """All models by key, `PROFILE:NAME`, with one `Model` for each that was used.

    The model library is imported in a thread once `load` is called, because it takes almost a second.
    """

    def __init__(self, profiles: Mapping[str, ModelProfile]) -> None:
        self._profiles = profiles
        self._configured = {f"{name}:{each.model}": each.context for name, each in profiles.items()}
        self._contexts = dict(self._configured)
        self._learned: dict[str, int] = {}  # contexts that turned out to be smaller
        self._open: dict[str, Model] = {}
        self._library: asyncio.Task[None] | None = None

    def load(self) -> asyncio.Task[None]:
        """Import the model library, if that was not done before."""
        if self._library is None:
            self._library = asyncio.create_task(asyncio.to_thread(_import_library))
        return self._library

    async def refresh(self) -> None:
        """Ask all servers for their models. One that does not answer in time keeps what it had."""
        await asyncio.shield(self.load())
        await asyncio.gather(*(self._refresh(name) for name in self._profiles))

    async def _refresh(self, name: str) -> None:
        from acp_tui.local_agent.model import ModelError

        model = self.get(f"{name}:{self._profiles[name].model}")
        with contextlib.suppress(ModelError, TimeoutError):
            async with asyncio.timeout(LIST_SECONDS):
                for info in await model.models():
                    key = f"{name}:{info.name}"
                    known = self._configured.get(key) or info.context
                    self._contexts[key] = known or self._contexts.get(key)

    async def close(self) -> None:
        """Close all connections to model servers."""
        if self._library is not None:
            await asyncio.wait([self._library])
        await asyncio.gather(*(model.close() for model in self._open.values()))

    # ------------------------------------------------------------------ choosing

    @property
    def default_key(self) -> str:
        return self.keys_for("")[0]

    def get(self, key: str) -> Model:
        """Return the model of a key. The library must have been loaded."""
        from acp_tui.local_agent.model import Model

        if key not in self._open:
            self._open[key] = Model(self._profile(key))
        return self._open[key]

    def keys_for(self, current: str) -> list[str]:
        """Return the keys of all models, also of the current one if no server lists it."""
        return list(dict.fromkeys(filter(None, [*self._contexts, current])))

    def find(self, text: str) -> str | None:
        """Return the key that a user means by a key or a model's name, or None if there is no such model."""
        return next((key for key in self.keys_for("") if text in (key, _name(key))), None)

    def known_or_default(self, key: str) -> str:
        """Return the key, or the default if its profile no longer exists."""
        return key if key.partition(":")[0] in self._profiles else self.default_key

    def option(self, current: str) -> schema.SessionConfigOptionSelect:
        """Return the config option for the model."""
        has_profiles = len(self._profiles) > 1
        options = [
            schema.SessionConfigSelectOption(value=key, name=key if has_profiles else _name(key))
            for key in self.keys_for(current)
        ]
        return schema.SessionConfigOptionSelect(
            type="select",
            id="model",
            name="Model",
            category="model",
            current_value=current,
            options=options,
        )

    def _profile(self, key: str) -> ModelProfile:
        return replace(self._profiles[key.partition(":")[0]], model=_name(key))

    # ------------------------------------------------------------------ context and cost

    def context(self, key: str) -> int:
        """Return the size of the context in tokens; the settings have precedence over the server."""
        context = self._contexts.get(key) or ASSUMED_CONTEXT
        return min(context, self._learned.get(key, context))

    def learn_context(self, key: str, tokens: int) -> None:
        """Note that a request of about so many tokens was too long for the model."""
        self._learned[key] = max(min(tokens, self.context(key)) * 4 // 5, 1)

    def context_warning(self, key: str) -> tuple[str, str] | None:
        """Return a title and a description for the user if the context is unknown or small."""
        name, context = _name(key), self._contexts.get(key)
        if context is None:
            title = f"The context size of {name} is unknown. {ASSUMED_CONTEXT:,} tokens are assumed."
        elif context < SMALL_CONTEXT:
            title = f"The context of {name} has only {context:,} tokens."
        else:
            return None
        return title, LARGER_CONTEXT

    def cost(self, key: str, input_tokens: int, output_tokens: int) -> float | None:
        """Return what a request costs, or None without prices. `currency` names the unit."""
        prices = self._profile(key).prices
        return prices.cost(input_tokens, output_tokens) if prices else None

    def currency(self, key: str) -> str:
        prices = self._profile(key).prices
        return prices.currency if prices else "USD"


def _name(key: str) -> str:
    """Return the name of a model, as its server calls it."""
    return key.partition(":")[2]


def _import_library() -> None:
    import acp_tui.local_agent.model  # noqa: F401
