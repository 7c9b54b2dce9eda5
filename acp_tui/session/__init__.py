"""One conversation as data: what can happen, what is, and how one changes the other.

Pure: standard library only, no I/O, no clock. Time comes with the record.
"""
