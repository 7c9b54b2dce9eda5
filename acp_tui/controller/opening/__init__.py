"""Opening a session: its parameters, sign-in, and restoring the settings of a reopened session."""
