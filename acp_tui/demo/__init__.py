"""The embedded demo agent: a real ACP agent in its own process, scripted and honest about it."""
