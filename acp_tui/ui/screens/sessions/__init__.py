"""The screen that lists recorded sessions and searches in them."""
