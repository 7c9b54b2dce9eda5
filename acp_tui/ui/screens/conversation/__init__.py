"""The screen of a conversation with an agent, and the parts it is composed of."""
