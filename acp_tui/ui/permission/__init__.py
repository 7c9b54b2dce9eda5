"""The permission dialog, the editor for permission rules, and the screen that lists the rules."""
