"""The screen of a live or recorded session, and the parts of this screen."""
