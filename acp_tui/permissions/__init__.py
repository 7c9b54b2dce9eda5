"""Permissions: the subject of a request, the rules, and the decision.

Except for `rule_store`, everything here is a pure function of the request, the rules and the file system.
Each decision names the rule or policy it comes from.
"""
