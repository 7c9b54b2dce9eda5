"""The files of the workspace: found, read, listed and replaced safely."""
