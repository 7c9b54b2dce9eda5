"""The user's terminal: driver, input, clipboard. The only package that uses private parts of Textual."""
