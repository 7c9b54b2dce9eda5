"""Checks the documentation against the program."""
