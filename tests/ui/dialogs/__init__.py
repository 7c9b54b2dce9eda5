"""Tests of screens: dialogs, lists, details."""
