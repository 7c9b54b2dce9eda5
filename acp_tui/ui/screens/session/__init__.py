"""The screen of a session, live or recorded, and the parts it is composed of."""
