"""Small widgets that several screens use: lists, bars, lines and scrollers."""
