"""The files as they were when the session began, what has changed since, and the way back."""
