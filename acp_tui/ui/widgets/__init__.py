"""The widgets, named after what the user sees."""
