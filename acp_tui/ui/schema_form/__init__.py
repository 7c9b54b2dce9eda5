"""The dialog in which the user fills in a form made from a JSON schema: for tools, prompts and questions.

`acp_tui.schema_form` reads the schema and the values. Texts of the schema are not trusted.
"""
