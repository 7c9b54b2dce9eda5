"""Translates protocol frames into events. Pure: no I/O and no clock; bad input never raises.

This module imports nothing, so that the first screen, which needs only `raw_values`, does not load the rest.
"""
