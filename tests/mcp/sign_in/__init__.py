"""Signing in at http servers: the token store, the browser round trip, the provider."""
