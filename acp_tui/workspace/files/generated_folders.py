"""Folders that tools create and can create again: dependencies, build output, caches."""

from __future__ import annotations

# Only untracked folders are left out: a project that tracks its `build` folder has sources there.
GENERATED_FOLDERS = (
    *("node_modules", "bower_components", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info", ".pixi"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".direnv", ".cache"),
    *("target", "build", "dist", "out", ".build", "_build", ".gradle", "DerivedData", "Pods", ".terraform"),
    *(".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".dart_tool", ".stack-work"),
    *("dist-newstyle", "elm-stuff", "coverage", ".nyc_output", ".hg", ".svn", ".jj"),
)
"""Names and glob patterns of folders with generated files."""
