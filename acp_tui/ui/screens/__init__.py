"""The screens of the app, and the dialogs that these screens open."""
