"""Dialogs and pages that open over another screen: lists, yes or no, details, help, the palette."""
