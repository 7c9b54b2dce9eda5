"""The app without a screen: what conversations share."""
