"""The demo agent: a scripted ACP agent that runs in its own process, without a model or a network.

It is also an example for people who write agents. A good reading order: `agent` (the methods of the
protocol), `turn` (what can be sent while a prompt is answered), `tools` (files, commands), and `tour` in
`work_commands`.

This module and `sample_project` must not import the SDK, because the client imports them.
"""
