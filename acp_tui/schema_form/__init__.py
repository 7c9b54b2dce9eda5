"""Pure: the fields of a form that is made from a JSON schema, and the values that the user enters.

Schemas come from MCP servers and agents and are not trusted: they may be huge, deep or wrong. A schema that
does not describe a form is edited as JSON. May import `session`.
"""
