"""Forms made from JSON schemas, without a screen."""
