"""The wire screen: the messages between acp-tui and an agent, with filters and each message as JSON."""
