"""One conversation as data: events, state, and the reducer that applies events to the state.

Pure: standard library only, no I/O, no clock. Time comes with the record.
"""
