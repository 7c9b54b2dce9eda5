"""The agent's side of the wire: its process, the transport, calls to it, requests from it."""
