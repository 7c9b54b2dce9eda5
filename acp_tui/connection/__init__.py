"""The connection to one agent: its process, the transport, calls to it and requests from it.

May import the packages below `controller`. The ACP SDK is imported inside functions, since that takes half a
second.
"""
