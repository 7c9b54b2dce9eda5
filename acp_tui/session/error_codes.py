"""The JSON-RPC error codes of the protocol."""

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
NOT_ALLOWED = -32003
"""The user, a rule or the policy does not allow the request. This code is not part of the protocol."""
