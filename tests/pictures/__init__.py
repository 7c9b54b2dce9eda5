"""The pictures in `screenshots/`: the real screen with a recorded session of the demo agent."""
