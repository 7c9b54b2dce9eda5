"""A token storage that does nothing, and the conversion between the SDK's models and stored JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

ModelT = TypeVar("ModelT", bound=BaseModel)


class NoStorage:
    """A token storage for the SDK that does nothing, because `SignInProvider` saves the tokens."""

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
    """Return the model of a stored object; None if the object is empty or damaged."""
    try:
        return kind.model_validate(data)
    except ValidationError:
        return None


def to_stored(model: BaseModel | None) -> dict[str, Any]:
    """Return a model as an object to be stored."""
    return {} if model is None else model.model_dump(mode="json", exclude_none=True)
