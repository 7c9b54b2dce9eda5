"""The dialog for the agent's options. Imports widgets and dialogs."""
