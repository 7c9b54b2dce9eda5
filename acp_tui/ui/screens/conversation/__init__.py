"""The screen of a conversation with an agent, and the parts of that screen."""
