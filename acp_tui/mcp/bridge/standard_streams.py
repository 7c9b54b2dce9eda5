"""Stdin and stdout as the connection of a program to the agent that started it."""

from __future__ import annotations

import asyncio
import os
import stat

from acp_tui.errors import UserError
from acp_tui.mcp.json_rpc_peer import SocketStream


async def open_standard_streams() -> SocketStream:
    """Take over stdin and stdout for messages. Afterwards, `print` writes to stderr, and stdin is empty.

    Raises `UserError` if stdin or stdout is neither a pipe nor a socket nor a terminal.
    """
    if any(_is_unusable_device(descriptor) for descriptor in (0, 1)):
        raise _wrong_streams()
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb"))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(outgoing, "wb")
        )
    except ValueError:
        raise _wrong_streams() from None
    return SocketStream(reader, asyncio.StreamWriter(transport, protocol, None, loop))


def _is_unusable_device(descriptor: int) -> bool:
    """Return True for a device such as /dev/null, which asyncio accepts but never reads."""
    return stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor)


def _wrong_streams() -> UserError:
    message = "This command is meant to be started by an agent: stdin and stdout must be pipes."
    return UserError(message, exit_code=2)
