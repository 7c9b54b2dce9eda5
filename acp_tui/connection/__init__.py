"""The connection to one agent: process, transport, calls to the agent and requests from the agent.

Imports only packages listed below `controller` in docs/architecture.md. The ACP SDK is imported inside
functions, because importing it takes half a second.
"""
