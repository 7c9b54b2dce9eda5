"""The families of dangerous commands, one per module; `dangerous_commands` puts them together.

`steps` gives the commands of a line in order, with variables and braces filled in, and the folder each runs
in. Every other module holds checks: functions from a step, or from all steps, to a reason or None.
"""
