"""Pictures of messages and thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import AgentMessage, Annotations, Content, Thought, UserMessage
from tests.support.looks import every_look, every_width, shows_all

if TYPE_CHECKING:
    from acp_tui.session.state import Entry

    Shown = list[tuple[Entry, bool]]

PROSE = """# The login is fixed

I found the cause in **login.py**: the *test* for a missing user was an assignment. See \
[the guide](https://docs.python.org/3/reference/) and [the code](src/login.py#L12), or https://example.org/a.

## What was wrong

It ~~never~~ sometimes let in users without a name. `user = None` should have been `user is None`:

> The operators `is` and `is not` test for an object's identity.
>
> > 对象的身份 — identity, as one says.

---

1. First step, which is described in so many words that it takes more than one line on a small screen
   - a detail
   - [x] done 你好
   - [ ] not done
2. Second step

### That is all ✅
"""
CODE = '''Change it like this:

```python
@cached
def login(name: str, password: str) -> bool:
    """Let somebody in."""
    user = users.get(name)  # None: nobody is called so
    if user is None:
        log.warning("nobody is called %r here, and that is quite a long message", name, stacklevel=2)
        return False
    return check(user, password) and 1 < len(name)
```

Then run it:

- the tests:

  ```sh
  pytest -q tests/test_login.py
  ```

```
plain text
```
'''
TABLES = """| Test | Result | Seconds |
|:-----|:------:|--------:|
| `test_login` | **passed** | 0.12 |
| `test_logout` | failed | 12.5 |
| 名前のテスト | passed | 3.0 |

| File | What changed and why it had to | Who looks at it |
|---|---|---|
| src/login.py | The comparison, which was an assignment and so always false, is a comparison now | Ada |
| src/users.py | Nothing but the name of a variable that had been misleading so long | [Grace](https://a.b) |

| one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve |
|-|-|-|-|-|-|-|-|-|-|-|-|
| 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 |
"""
THOUGHT = "**Looking for the cause**\n\nThe login fails. I should read `login.py` first.\n\n- run"


def _text(kind: Any, text: str, *content: Content, **facts: Any) -> Entry:
    made: Entry = kind(id=1, at=100.0, parts=[GrowingText(text), *content], **facts)
    return made


IMAGE = Content("image", data="A" * 40_000, mime="image/png", uri="file:///project/screen%20shot.png")
LINK = Content("resource_link", uri="file:///project/src/login.py", name="login.py", size=2_345)
FILE = Content(
    "resource", text="import hashlib\n\n" * 9, uri="file:///project/src/users.py", mime="text/x-python"
)
HIDDEN = Content("resource", text="x" * 5_000, annotations=Annotations(audience=("assistant",)))
UNKNOWN = Content("hologram", raw={"type": "hologram", "depth": 3})

MARKDOWN: Shown = [(_text(AgentMessage, text), False) for text in (PROSE, CODE, TABLES)]
OTHERS: Shown = [
    (_text(UserMessage, "fix the login bug\n  *as* discussed", IMAGE, LINK, FILE, HIDDEN), False),
    (_text(Thought, THOUGHT, ended_at=104.2), True),
    (_text(Thought, THOUGHT, ended_at=290.0), False),
    (_text(Thought, "Hm."), False),
    (_text(AgentMessage, "Here it is:", IMAGE, UNKNOWN), False),
]


@every_look
@every_width
@pytest.mark.parametrize("entries", [MARKDOWN, OTHERS], ids=["markdown", "others"])
def test_what_messages_look_like(entries: Shown, theme: str, width: int, snap_compare: Any) -> None:
    assert shows_all(snap_compare, theme, width, entries)
