"""The changes of one file: unified, or side by side where there is room."""
