"""Markdown that grows: cut into sections as it comes (`sections`), drawn when looked at (`document`)."""
