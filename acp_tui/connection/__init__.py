"""The connection to one agent: its process, the transport, calls to it and requests from it.

Imports only packages listed below `controller` in docs/architecture.md. The ACP SDK is imported inside
functions, because importing it takes half a second.
"""
