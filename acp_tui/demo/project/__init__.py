"""The sample project that the demo works in, and what the demo does in any other folder."""
