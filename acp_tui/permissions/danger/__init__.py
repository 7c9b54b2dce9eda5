"""Recognises dangerous commands. `dangerous_commands` is the entry point.

`steps` lists the commands of a line with variables and braces expanded, and the folder of each command. Most
other modules contain checks: functions that take one step, or all steps, and return a reason or None. A
reason is a clause about the command: "it deletes an account".
"""
