"""One conversation as data: events, state, and the reducer that applies events to the state.

Pure: standard library only, no I/O, no clock. Times come from the records of the log.
"""
