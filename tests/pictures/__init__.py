"""The pictures in `screenshots/`: the real screen, with what the demo agent did once."""
