"""What the client serves: files inside the roots, terminals, the baseline and its changes."""
