"""The wire screen with filters and each message as JSON, and the page for messages that the user writes."""
