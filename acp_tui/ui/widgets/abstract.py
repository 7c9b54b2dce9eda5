"""Widgets with methods that each kind of them has to give."""

from abc import ABCMeta

from textual.message_pump import _MessagePumpMeta


class AbstractWidgetMeta(ABCMeta, _MessagePumpMeta):
    """For widgets what `ABC` is for other classes: they have a metaclass of their own."""
