"""Which lines on stderr say why a server has ended."""

from __future__ import annotations

import sys

import pytest

from acp_tui.config.mcp import ResolvedServer
from acp_tui.mcp.failures import error_lines
from acp_tui.mcp.inspection import inspect

NPM = """\
npm warn Unknown user config "nodedir".
npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server
npm error 404
npm error 404  The requested resource 'no-such-server@*' could not be found
npm error 404 Note that you can also install from a
npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log"""
NODE = """\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module './nothing'
Require stack:
    at Module._load (node:internal/modules/cjs/loader:1038:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.1.0"""
NODE_SOURCE = """\
/srv/server.js:1
if (!process.env.KEY) throw new Error("no key")
                      ^

Error: no key
    at Object.<anonymous> (/srv/server.js:1:1)

Node.js v22.1.0"""
PYTHON = """\
Traceback (most recent call last):
  File "<string>", line 2, in f
RuntimeError: no database

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "<string>", line 4, in <module>
ValueError: no settings
Stopping."""
PYTHON_GROUP = """\
  + Exception Group Traceback (most recent call last):
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "<string>", line 4, in x
    | ValueError: inner
    +------------------------------------"""


@pytest.mark.parametrize(
    ("stderr", "lines"),
    [
        (
            NPM,
            [
                "npm error code E404",
                "npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server",
                "npm error 404  The requested resource 'no-such-server@*' could not be found",
            ],
        ),
        (NODE, ["Error: Cannot find module './nothing'"]),
        (NODE_SOURCE, ["Error: no key"]),
        (PYTHON, ["ValueError: no settings"]),
        (PYTHON_GROUP, ["ValueError: inner"]),
        ("starting\nerror: Failed to spawn: `x`\n  Caused by: nothing", ["error: Failed to spawn: `x`"]),
        ("one\ntwo\nthree\nfour", ["two", "three", "four"]),
        ("", []),
    ],
)
def test_the_lines_that_name_the_error_are_found(stderr: str, lines: list[str]) -> None:
    assert error_lines(stderr.splitlines()) == lines


async def test_the_reason_of_a_crash_is_named_with_the_log() -> None:
    program = f"import sys; sys.stderr.write({NODE!r}); sys.exit(1)"
    found = await inspect(ResolvedServer("broken", "stdio", command=sys.executable, args=("-c", program)))
    assert found.failure is not None
    assert found.failure.sentence == (
        "broken exited with code 1 before it answered; fix what it reported on stderr: "
        "Error: Cannot find module './nothing'. All of it: acp-tui mcp log broken."
    )
