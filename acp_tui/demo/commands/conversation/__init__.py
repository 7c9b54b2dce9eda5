"""Slash commands about the conversation itself: questions, options, titles, how a turn ends."""
