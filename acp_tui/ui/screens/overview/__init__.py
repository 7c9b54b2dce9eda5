"""The overview of all open conversations, updated while it is open. It does no work while it is closed."""
