"""Converts the SDK's models from and to what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

ModelT = TypeVar("ModelT", bound=BaseModel)


class NoStorage:
    """The SDK's storage interface without a function: the provider saves everything in one step."""

    async def get_tokens(self) -> OAuthToken | None:
        """Return no tokens."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Save nothing."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return no registration."""
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Save nothing."""


def from_stored(kind: type[ModelT], data: dict[str, Any]) -> ModelT | None:
    """Return the model of stored data; None if nothing or something damaged was stored."""
    try:
        return kind.model_validate(data)
    except ValidationError:
        return None


def to_stored(model: BaseModel | None) -> dict[str, Any]:
    """Return a model as an object to be stored."""
    return {} if model is None else model.model_dump(mode="json", exclude_none=True)
