"""Functions that the table of entry kinds refers to by name. `load` or the first call imports a function."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Imported:
    """A function that is imported by `load` or by its first call, to avoid a circle of imports."""

    def __init__(self, name: str) -> None:
        """`name` is the function to import, in the form `module:function`."""
        self._name = name
        self._function: Callable[..., Any] | None = None

    def load(self) -> Callable[..., Any]:
        if self._function is None:
            module, _, name = self._name.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        assert self._function is not None
        return self._function

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)
