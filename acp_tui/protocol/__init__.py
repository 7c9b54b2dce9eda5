"""Translate protocol frames into events. Pure: no I/O and no clock; bad input never raises."""

from __future__ import annotations

from acp_tui.protocol.translator import Translator

__all__ = ["Translator"]
