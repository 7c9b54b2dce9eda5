"""The conformance suite, `acp-tui doctor AGENT --suite`: named checks with raw frames against a real agent.

`check_table` lists all checks. Each check is a function in a module named after its group, and gets a `Bench`
that starts the agent and runs prompts. `client` speaks the protocol frame by frame, because the suite sends
what a well-behaved client rarely sends.
"""
