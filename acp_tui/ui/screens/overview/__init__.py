"""The overview of all open conversations, updated while it is open. Nothing of it runs while it is closed."""
