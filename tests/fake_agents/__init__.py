"""Agents for tests, run as `python -m tests.fake_agents.NAME`. They use only the standard library."""
