"""The fields of a form that is made from a JSON schema, and the values that the user enters. No I/O.

Schemas come from MCP servers and agents and are not trusted: they can be huge, deep or wrong. If a schema
does not describe a form, the user edits the value as JSON. May import `session`.
"""
