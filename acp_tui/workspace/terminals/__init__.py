"""Commands on pseudo terminals, and a model of what they show."""
