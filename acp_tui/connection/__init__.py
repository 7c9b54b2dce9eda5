"""The agent's process and the wire to it: spawn, transport, calls to the agent, requests from it."""
