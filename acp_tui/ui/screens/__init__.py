"""The screens of the app, and the dialogs they open."""
