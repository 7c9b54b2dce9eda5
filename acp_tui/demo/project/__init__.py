"""The sample project that the demo works in, and how the demo works in any other folder."""
