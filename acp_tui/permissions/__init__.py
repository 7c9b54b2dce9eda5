"""Permissions: the subject of a request, the rules, and the decision.

A decision depends only on the request, the rules, the policy and the file system, and names the rule or the
policy that it comes from. Only `rule_store` and `match_counts` write files.
"""
