"""How long the export of 5,000 entries takes, in every form: the goal is 3 seconds."""

from __future__ import annotations

import time

from acp_tui.export import FORMATS, export
from acp_tui.session.events import TerminalCreated, TerminalExited, TerminalOutput
from tests.support.talk import Talk

ENTRIES = 5000
ANSWER = """Looking at **login.py**, the *check* is `user = None`:

```python
def login(name: str, password: str) -> bool:
    user = find(name)
    return user is not None and user.check(password)
```

1. fix it, see [the guide](https://example.com/a)
2. run the tests

| file | lines |
|------|-------|
| a.py | 12    |
"""
OLD = "\n".join(f"line {number} = value({number})" for number in range(60))


def conversation() -> Talk:
    """A long day: a fifth of it each thoughts, answers, edits, commands and reads."""
    talk = Talk().opened()
    turn = 0
    while len(talk.session.entries) < ENTRIES:
        turn += 1
        number = talk.prompt(f"Fix number {turn}")
        talk.thinks("I should look at the file first.")
        talk.says(ANSWER)
        path = f"/w/src/file{turn}.py"
        talk.tool(f"e{turn}", title=f"Edit {path}", kind="edit", status="completed")
        diff = {"type": "diff", "path": path, "oldText": OLD, "newText": OLD.replace("line 30", "LINE 30")}
        talk.tool_update(f"e{turn}", content=[diff])
        terminal = {"type": "terminal", "terminalId": f"t{turn}"}
        talk.client(TerminalCreated(f"t{turn}", command="pytest", cwd="/w"))
        for line in range(20):
            talk.client(TerminalOutput(f"t{turn}", f"\x1b[32mtests/test_{line}.py\x1b[0m ..... {line}%\r\n"))
        talk.client(TerminalExited(f"t{turn}", 0, None))
        talk.tool(f"x{turn}", title="pytest", kind="execute", status="completed", content=[terminal])
        talk.end(number)
    return talk


def main() -> None:
    """Measure."""
    talk = conversation()
    print(f"{len(talk.session.entries):,} entries, {len(talk.records):,} records")
    for form in FORMATS:
        start = time.process_time()
        text = export(talk.records, form)
        print(f"{form:5} {time.process_time() - start:5.2f} s  {len(text) / 1e6:6.1f} MB")


if __name__ == "__main__":
    main()
