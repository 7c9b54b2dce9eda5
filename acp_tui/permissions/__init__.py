"""What is asked, which rules are remembered, and what they and the policy say to it.

Everything here but `rule_store` is pure: the same question with the same rules gets the same answer, and
the answer says in words where it comes from.
"""
