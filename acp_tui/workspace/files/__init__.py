"""Finds, reads, lists and replaces the files of the workspace."""
