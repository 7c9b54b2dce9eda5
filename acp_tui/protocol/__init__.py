"""Translate protocol frames into events. Pure: no I/O and no clock; bad input never raises.

Nothing is imported here: the first frame needs `raw_values` only.
"""
