"""Private names of Textual are used in `acp_tui/ui/terminal/` only, so that an upgrade has one place to look.

A name of ours that is also one of Textual's counts as a use: Textual would call or overwrite it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

import acp_tui.ui

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULES = [
    found.name
    for found in pkgutil.walk_packages(acp_tui.ui.__path__, "acp_tui.ui.")
    if not found.name.startswith("acp_tui.ui.terminal")
]
NAMED_TUPLE = frozenset({"_replace", "_asdict", "_fields", "_make"})
"""Public in spite of their names."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


@cache
def syntax(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(load(module)))


@cache
def below(node: ast.AST) -> tuple[ast.AST, ...]:
    """The node and all nodes below it."""
    return tuple(ast.walk(node))


def attributes(node: ast.AST) -> Iterator[ast.Attribute]:
    return (each for each in below(node) if isinstance(each, ast.Attribute) and is_private(each.attr))


def is_of_self(attribute: ast.Attribute) -> bool:
    return ast.unparse(attribute.value) in ("self", "cls", "super()")


def names_defined_in(node: ast.AST) -> set[str]:
    """Private functions, variables of classes, and attributes that are set on `self`."""
    names = {each.attr for each in attributes(node) if isinstance(each.ctx, ast.Store) and is_of_self(each)}
    for each in below(node):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(each.name)
        elif isinstance(each, ast.ClassDef):
            assignments = (one for one in each.body if isinstance(one, (ast.Assign, ast.AnnAssign)))
            names.update(
                one.id for line in assignments for one in ast.walk(line) if isinstance(one, ast.Name)
            )
    return {name for name in names if is_private(name)}


def class_definitions(module: str) -> list[ast.ClassDef]:
    return [node for node in below(syntax(module)) if isinstance(node, ast.ClassDef)]


@cache
def names_defined_by(cls: type) -> frozenset[str]:
    names = {name for name in vars(cls) if is_private(name)}
    for node in class_definitions(cls.__module__):
        if node.name == cls.__name__:
            names |= names_defined_in(node)
    return frozenset(names)


def names_of_textual(cls: type) -> set[str]:
    """Private names in the Textual classes that a class inherits from."""
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "textual"]
    return set().union(*map(names_defined_by, bases))


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_no_class_uses_or_overrides_a_private_name_of_textual() -> None:
    classes = [(load(name), node) for name in MODULES for node in class_definitions(name)]
    for module, node in classes:
        cls = getattr(module, node.name, None)
        if isinstance(cls, type):
            used = {each.attr for each in attributes(node) if is_of_self(each)} | names_defined_in(node)
            assert used & names_of_textual(cls) == set(), f"{module.__name__}.{node.name}"


def test_private_attributes_of_other_objects_are_used_in_their_own_module_only() -> None:
    for name in MODULES:
        own = names_defined_in(syntax(name)) | NAMED_TUPLE
        others = {
            ast.unparse(each)
            for each in attributes(syntax(name))
            if each.attr not in own and not is_of_self(each)
        }
        assert others == set(), name


def test_nothing_private_is_imported_from_textual() -> None:
    statements = [node for name in MODULES for node in below(syntax(name))]
    for node in statements:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "textual":
            path = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            assert not any(map(is_private, path)), ast.unparse(node)
