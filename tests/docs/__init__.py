"""The documentation is checked against the program."""
