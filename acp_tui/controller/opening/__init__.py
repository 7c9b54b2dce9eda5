"""Opening a session: what the agent is offered, sign-in, and the settings of a session opened again."""
