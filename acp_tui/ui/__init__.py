"""The Textual app: screens, widgets, keys and themes. Only this package imports Textual and Rich."""
