"""Commands that run in pseudoterminals, and the emulator that reads their output."""
