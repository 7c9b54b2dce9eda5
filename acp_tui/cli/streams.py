"""The standard streams: made usable at the start, given up when nobody is at their other end."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """Standard streams that are there (somebody may have closed them), and take every character."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # until we end
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """From now on stdout leads nowhere: what is held back would be tried again when the interpreter exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
