"""Finding, reading, listing and replacing the files of the workspace."""
