"""The permission dialog."""
