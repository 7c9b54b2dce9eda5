"""Tests of what the short entries of the transcript look like."""
