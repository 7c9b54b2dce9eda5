"""Opens pages in the user's browser, which gets no access to the terminal.

`webbrowser` is not used, because it lets browsers write to the terminal, and also starts text browsers.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading

TERMINAL_BROWSERS = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
_OPENERS = ("xdg-open", "open", "wslview")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")


def has_browser() -> bool:
    """Return whether there is a browser that does not run in the terminal."""
    return bool(_command(""))


def open_page(url: str) -> bool:
    """Open a page. Return False if there is no browser, or if it could not be started."""
    command = _command(url)
    if not command:
        return False
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie
    return True


def _command(url: str) -> list[str]:
    """Return the command that opens a page; empty if there is none.

    As in other programs, `%s` in `$BROWSER` stands for the address. Without `%s`, the address is appended.
    """
    try:
        words = shlex.split(os.environ.get("BROWSER", "").partition(os.pathsep)[0])
    except ValueError:  # a quotation mark is missing
        words = []
    if words:
        if os.path.basename(words[0]) in TERMINAL_BROWSERS:  # noqa: PTH119  # any text
            return []
        has_place = any("%s" in word for word in words)
        return [word.replace("%s", url) for word in words] if has_place else [*words, url]
    has_display = sys.platform == "darwin" or any(os.environ.get(name) for name in _DISPLAYS)
    opener = next(filter(None, map(shutil.which, _OPENERS)), None) if has_display else None
    return [opener, url] if opener else []
