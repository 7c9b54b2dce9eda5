"""Translates protocol frames into events. Pure: no I/O and no clock; bad input never raises.

Nothing is imported here, because drawing the first screen needs only `raw_values` of this package.
"""
