"""Texts that are difficult to render: Markdown, Unicode and hostile control sequences."""

from __future__ import annotations

MARKDOWN = """\
# Heading one

## Heading two

### Heading three

A paragraph with *emphasis*, **strong**, ***both***, ~~struck~~, `code`,
a [link](https://example.com "a title"), an autolink
<https://example.com/a?b=c&d=e> and a line break at the end\\
of the line. HTML such as <b>this</b> is text, &amp; so are entities.

---

- a list
  - inside a list
    - inside a list
- [ ] to do
- [x] done

3. a list that begins at three
4. with a second item

   and a second paragraph in it

> A quotation
>
> > inside a quotation

| Left | Centre | Right |
|:-----|:------:|------:|
| a | b | 1 |
| `x \\| y` | **bold** | 1,000 |
| 漢字 | 🎉 | −3.5 |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"  # a comment that is rather long, so that the line has to be scrolled or wrapped
```

```diff
- the old line
+ the new line
```

    code by indentation

~~~
a fence of tildes with ``` inside
~~~

![An image by link](https://example.com/picture.png)

Term with a footnote[^1] and a formula $e^{i\\pi} + 1 = 0$, which plain Markdown leaves alone.

[^1]: The footnote.
"""

UNICODE = """\
| What | Sample |
|---|---|
| Chinese, Japanese, Korean | 你好，世界 こんにちは 안녕하세요 |
| full and half width | ＡＢＣ ｱｲｳ |
| combining marks | e\u0301 a\u030a n\u0303 Z\u0351\u0343\u0313\u0321 |
| emoji | 😀 🎉 🚀 |
| joined emoji | 👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 |
| skin tones and flags | 👍🏽 🇳🇴 🇯🇵 |
| text or emoji | ☎ ☎\ufe0f ✔ ✔\ufe0f |
| right to left | שלום עולם مرحبا بالعالم |
| Thai, Hindi, Tamil | สวัสดี नमस्ते வணக்கம் |
| mathematics | ∀x ∈ ℝ: ⌈x⌉ = −⌊−x⌋ |
| zero width | a\u200bb\u2060c |
| ambiguous width | § ± × ÷ “ ” … |

Tabs:\tone\ttwo\tthree

A long word: Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft
"""

HOSTILE = {
    "clear the screen": "\x1b[2J\x1b[H",
    "change the colours": "\x1b[31;47mred on white",
    "set the window title": "\x1b]0;the title was changed\x07",
    "write to the clipboard": "\x1b]52;c;aGFybWxlc3M=\x07",
    "switch to the alternate screen": "\x1b[?1049h",
    "a link that lies": "\x1b]8;;https://example.com/evil\x1b\\https://example.com/good\x1b]8;;\x1b\\",
    "C1 control sequence": "\x9b2J",
    "overwrite the line": "harmless\rharmful!",
    "backspaces": "rm -rf /\b\b\b\b\b\b\b\bls      ",
    "bell": "\x07\x07\x07",
    "reverse the direction": "photo\u202egnp.exe",
    "isolate the direction": "\u2066if (admin) {\u2069 \u2067// comment",
    "invisible characters": "in\u200bvis\u2060ible\ufeff",
    "null and delete": "a\x00b\x7fc",
    "markup of a terminal library": "[bold red]not bold[/bold red] [link=https://example.com]no link[/link]",
}
