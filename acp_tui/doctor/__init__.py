"""Checks an agent: what it does, where its messages deviate from the schema, and the report."""
