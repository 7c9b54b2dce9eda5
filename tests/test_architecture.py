"""Import rules that import-linter cannot check: pure packages, lazy imports and circles."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import acp_tui

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(acp_tui.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# Modules of the standard library without I/O, clock or randomness.
PURE = frozenset(
    {
        "__future__", "abc", "base64", "binascii", "bisect", "codecs", "collections", "contextlib", "copy",
        "dataclasses", "difflib", "enum", "functools", "hashlib", "itertools", "json", "math", "operator",
        "posixpath", "re", "shlex", "stat", "string", "textwrap", "types", "typing", "unicodedata",
        "urllib.parse",
    }
)  # fmt: skip


def imports(tree: ast.AST, *, when_loaded: bool = False) -> Iterator[str]:
    """Yield the modules that the code imports; with `when_loaded` only those imported when it is loaded."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield node.module or ""
        elif when_loaded and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        elif when_loaded and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from imports(other, when_loaded=True)
        else:
            yield from imports(node, when_loaded=when_loaded)


@cache
def parsed(path: Path) -> ast.AST:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def room(path: Path) -> str:
    """Return the top-level folder or module that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_of(module: str, package: str) -> bool:
    """Return True if the module is the package or inside it."""
    return module == package or module.startswith(f"{package}.")


def name(path: Path) -> str:
    """Return the test id for a file."""
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("package", ["session", "protocol", "diffing", "review", "schema_form"])
def test_pure_packages_use_neither_files_nor_clock(package: str) -> None:
    below: tuple[str, ...] = ("acp_tui.session", "acp_tui.diffing", f"acp_tui.{package}")
    if package == "review":
        below += ("pathlib",)  # a changed file is named by a `Path`, which is only a value there
    imported = {module for path in MODULES if room(path) == package for module in imports(parsed(path))}
    assert {
        module
        for module in imported
        if not {module, module.partition(".")[0]} & PURE and not any(is_of(module, known) for known in below)
    } == set()


@pytest.mark.parametrize(
    ("libraries", "packages"),
    [
        (("acp",), ("connection", "demo", "local_agent")),
        (("textual", "rich"), ("ui",)),
        (("mcp", "mcp_types"), ("mcp", "demo", "local_agent")),
    ],
)
def test_the_sdk_and_textual_are_imported_only_in_their_packages(
    libraries: tuple[str, ...], packages: tuple[str, ...]
) -> None:
    others = [path for path in MODULES if room(path) not in packages]
    assert [name(path) for path in others if any(imports_any_of(libraries, parsed(path)))] == []


def imports_any_of(libraries: tuple[str, ...], tree: ast.AST) -> Iterator[bool]:
    return (is_of(module, library) for module in imports(tree) for library in libraries)


def test_the_client_and_the_demo_import_the_sdk_inside_of_functions() -> None:
    """It costs half a second, which must not come before the first frame."""
    lazy = [path for path in MODULES if room(path) == "connection"] + [PACKAGE / "demo" / "__init__.py"]
    loaded = [module for path in lazy for module in imports(parsed(path), when_loaded=True)]
    assert loaded
    assert [module for module in loaded if is_of(module, "acp")] == []


def test_no_other_package_imports_the_demo_agent() -> None:
    """It is a separate program, and the only one that loads the SDK at its start."""
    for path in MODULES:
        if room(path) != "demo":
            loaded = list(imports(parsed(path), when_loaded=True))
            assert not any(is_of(module, "acp_tui.demo") for module in loaded), name(path)


def test_the_built_in_agent_imports_nothing_of_the_client_and_the_client_nothing_of_it() -> None:
    for path in MODULES:
        own = [module for module in imports(parsed(path)) if is_of(module, "acp_tui")]
        if room(path) == "local_agent":
            assert [
                each for each in own if each != "acp_tui" and not is_of(each, "acp_tui.local_agent")
            ] == []
        else:
            assert [each for each in own if is_of(each, "acp_tui.local_agent")] == [], name(path)


def test_own_files_are_opened_in_one_place() -> None:
    """A pipe would block, and a huge file would fill the memory: see `acp_tui.config.own_files`."""
    rooms = ("store", "permissions", "session_list")
    paths = [path for path in MODULES if room(path) in rooms]
    paths += [PACKAGE / "store" / "log_file.py", PACKAGE / "mcp" / "sign_in" / "token_store.py"]
    paths += [PACKAGE / "workspace" / "baseline" / "saved_state.py"]
    calls = (node for path in paths for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    called = {ast.unparse(call.func) for call in calls}
    assert {
        each for each in called if each.endswith(("os.open", ".read_bytes", ".read_text", ".open"))
    } == set()


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, also in functions and under TYPE_CHECKING."""
    paths = {
        ".".join(("acp_tui", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in MODULES
    }
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        targets: set[str] = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                targets.update(each if each in paths else node.module for each in names)
        graph[module] = (targets & paths.keys()) - {module}
    return graph


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all modules that a module imports directly or indirectly."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = import_graph()
    imported = {module: reachable(graph, module) for module in graph}
    circles = {
        frozenset(other for other in imported[module] if module in imported[other])
        for module in graph
        if module in imported[module]
    }
    assert [sorted(circle) for circle in circles] == []


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["agents"], ["sessions"], ["agents", "--help"]], ids=" ".join
)
def test_quick_commands_load_nothing_heavy(words: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "acp_tui", *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = {
        line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")
    }
    assert "acp_tui" in loaded
    heavy = {
        module
        for module in loaded
        if module.partition(".")[0] in ("acp", "mcp", "textual", "rich", "pydantic")
    }
    assert heavy == set()


@pytest.mark.parametrize(
    "module", ["acp_tui.mcp.bridge.program", "acp_tui.mcp.own_server", "acp_tui.controller"], ids=str
)
def test_an_sdk_is_loaded_only_when_it_is_used(module: str) -> None:
    """An agent can start one bridge for each server; the MCP SDK would cost each half a second and 50 MB."""
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert loaded & {"acp", "mcp", "mcp_types", "pydantic"} == set()
