"""Commands that run in pseudo terminals, and the emulator that reads their output."""
