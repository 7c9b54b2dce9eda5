"""Reads command lines: their parts, what each part runs, and which are dangerous."""
