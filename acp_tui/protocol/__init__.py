"""Translates protocol frames into events. Pure: no I/O and no clock; bad input never raises.

This module imports nothing: the first screen needs only `raw_values` and does not load the rest.
"""
