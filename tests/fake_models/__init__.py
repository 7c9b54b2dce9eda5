"""Servers that act as models, run as `python -m tests.fake_models`. They use only the standard library."""
