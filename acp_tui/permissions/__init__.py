"""Permissions: the subject of a request, the rules, and the decision.

Everything here but `rule_store` is pure: the same question with the same rules gets the same answer, and
the answer says in words where it comes from.
"""
