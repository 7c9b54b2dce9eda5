"""Parses command lines: which commands they run, which files they name, and what a rule can match."""
