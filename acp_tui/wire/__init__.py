"""Messages on the wire: the schema they follow; reading, filtering and forwarding recorded ones."""
