"""The dialog that fills in a form made from a JSON schema: for tools, prompts and questions of servers.

`acp_tui.schema_form` reads the schema and the values. Texts of the schema are not trusted.
"""
