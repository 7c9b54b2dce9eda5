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
    from acp_tui.local_agent.profile import ModelInfo, ModelProfile

ASSUMED_CONTEXT = 32_000
"""The size of the context, in tokens, if neither the settings nor the server tell it."""
SMALL_CONTEXT = 16_000
LIST_SECONDS = 3
"""How long a new session waits for the lists of models. A server on the same machine answers at once."""


class Models:
    """All models by key, `PROFILE:NAME`, with one `Model` for each that was used.

    The model library is imported in a thread once `load` is called, because it takes almost a second.
    """

    def __init__(self, profiles: Mapping[str, ModelProfile]) -> None:
        self._profiles = profiles
        self._listed: dict[str, list[ModelInfo]] = {}
        self._open: dict[str, Model] = {}
        self._learned: dict[
            str, int
        ] = {}  # contexts that have turned out to be smaller than they were thought
        self._library: asyncio.Task[None] | None = None

    @property
    def default_key(self) -> str:
        name, profile = next(iter(self._profiles.items()))
        return f"{name}:{profile.model}"

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
                self._listed[name] = await model.models()

    # ------------------------------------------------------------------ choosing

    def get(self, key: str) -> Model:
        """Return the model of a key. The library must have been loaded."""
        from acp_tui.local_agent.model import Model

        if key not in self._open:
            self._open[key] = Model(self._profile(key))
        return self._open[key]

    def find(self, text: str) -> str | None:
        """Return the key that a user means by a key or a model's name, or None if there is no such model."""
        keys = self.keys_for("")
        if text in keys:
            return text
        return next((key for key in keys if key.partition(":")[2] == text), None)

    def keys_for(self, current: str) -> list[str]:
        """Return the keys of all models, also of the current one if no server lists it."""
        return [key for keys in self._names(current).values() for key in keys]

    def known_or_default(self, key: str) -> str:
        """Return the key, or the default if its profile no longer exists."""
        return key if key.partition(":")[0] in self._profiles and ":" in key else self.default_key

    def option(self, current: str) -> schema.SessionConfigOptionSelect:
        """Return the config option for the model, with a group for each profile."""
        groups = []
        for name, keys in self._names(current).items():
            options = [
                schema.SessionConfigSelectOption(
                    value=key, name=key.partition(":")[2], description=self._description(key)
                )
                for key in keys
            ]
            groups.append(schema.SessionConfigSelectGroup(group=name, name=name, options=options))
        return schema.SessionConfigOptionSelect(
            type="select",
            id="model",
            name="Model",
            category="model",
            current_value=current,
            options=groups[0].options if len(groups) == 1 else groups,
        )

    def _names(self, current: str) -> dict[str, list[str]]:
        """Return the keys of each profile, without repetitions."""
        found: dict[str, dict[str, None]] = {}
        for name, profile in self._profiles.items():
            models = [profile.model, *(info.name for info in self._listed.get(name, ()))]
            found[name] = dict.fromkeys(f"{name}:{model}" for model in models)
        if current:
            found[current.partition(":")[0]][current] = None
        return {name: list(keys) for name, keys in found.items()}

    def _description(self, key: str) -> str | None:
        context = self.known_context(key)
        return f"{context:,} tokens of context" if context else None

    # ------------------------------------------------------------------ facts

    def _profile(self, key: str) -> ModelProfile:
        name, _, model = key.partition(":")
        return replace(self._profiles[name], model=model)

    def known_context(self, key: str) -> int | None:
        """Return the size of the context in tokens; the settings have precedence over the server."""
        if (context := self._profile(key).context) is not None:
            return context
        name, _, model = key.partition(":")
        return next((info.context for info in self._listed.get(name, ()) if info.name == model), None)

    def context(self, key: str) -> int:
        """Return the size of the context to work with."""
        context = self.known_context(key) or ASSUMED_CONTEXT
        return min(context, self._learned.get(key, context))

    def learn_context(self, key: str, tokens: int) -> None:
        """Note that a request of about so many tokens was too long for the model."""
        self._learned[key] = max(min(tokens, self.context(key)) * 4 // 5, 1)

    def context_warning(self, key: str) -> tuple[str, str] | None:
        """Return a title and a description for the user if the context is unknown or small."""
        name = key.partition(":")[2]
        context = self.known_context(key)
        raise_it = (
            f"An agent needs {SMALL_CONTEXT:,} tokens or more. Ollama: start it with"
            " OLLAMA_CONTEXT_LENGTH=32768. llama.cpp: llama-server -c 32768. LM Studio: set the context"
            " length when the model is loaded. vLLM: --max-model-len. Then set `context` in the settings of"
            " the model."
        )
        if context is None:
            title = f"The context size of {name} is unknown. {ASSUMED_CONTEXT:,} tokens are assumed."
            return title, raise_it
        if context < SMALL_CONTEXT:
            return f"The context of {name} has only {context:,} tokens.", raise_it
        return None

    def cost(self, key: str, input_tokens: int, output_tokens: int) -> float | None:
        """Return what a request costs, or None without prices. `currency` names the unit."""
        prices = self._profile(key).prices
        return prices.cost(input_tokens, output_tokens) if prices else None

    def currency(self, key: str) -> str:
        prices = self._profile(key).prices
        return prices.currency if prices else "USD"

    async def close(self) -> None:
        """Close all connections to model servers."""
        if self._library is not None:
            await asyncio.wait([self._library])
        await asyncio.gather(*(model.close() for model in self._open.values()))


def _import_library() -> None:
    import acp_tui.local_agent.model  # noqa: F401
