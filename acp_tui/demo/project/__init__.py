"""The folder that the demo works in: the sample project, and what to do in any other folder."""
