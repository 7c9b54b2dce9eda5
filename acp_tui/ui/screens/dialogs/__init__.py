"""Dialogs and pages that open over another screen: lists, confirmations, texts, help, the command palette."""
