"""Slash commands about the session: sign-in, questions, notices, options, titles, how a turn ends."""
