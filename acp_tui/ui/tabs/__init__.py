"""Tabs: several conversations in one app, each with its screen in a Textual mode of its own.

`tabs.py` opens, shows and closes tabs; `tab_strip.py` draws the row at the top. Screens report what they do
as a `TabState`. Except for the overview, they import nothing from here.
"""
