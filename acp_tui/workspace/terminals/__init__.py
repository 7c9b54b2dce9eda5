"""Commands that run in pseudoterminals, and the emulator that interprets their output."""
