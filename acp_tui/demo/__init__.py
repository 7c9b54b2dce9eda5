"""The embedded demo agent: a real ACP agent in its own process, scripted and honest about it.

It is also meant to be read by people who write agents. A good order: `agent` (what the protocol
asks of an agent), `turn` (what one prompt can say), `work` (files and commands), then the `tour`.

This module and `sample` import nothing of the SDK, because the client imports them.
"""
