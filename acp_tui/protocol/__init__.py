"""Frames to events: one translator per dialect, forgiving and pure."""

from __future__ import annotations

from acp_tui.protocol.translator import Translator

__all__ = ["Translator"]
