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
    return bool(command) and start_detached(command)


def start_detached(command: list[str]) -> bool:
    """Start a program that gets no access to the terminal. Return False if it could not be started."""
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
    """Return the command that opens a page; empty if there is no browser.

    As in other programs, `$BROWSER` can list several commands. In a command, `%s` stands for the address.
    Without `%s`, the address is appended.
    """
    choices = [words for one in os.environ.get("BROWSER", "").split(os.pathsep) if (words := _split(one))]
    for words in choices:
        is_usable = os.path.basename(words[0]) not in TERMINAL_BROWSERS  # noqa: PTH119  # any text
        if is_usable and shutil.which(words[0]):
            has_place = any("%s" in word for word in words)
            return [word.replace("%s", url) for word in words] if has_place else [*words, url]
    if choices:
        return []
    has_display = sys.platform == "darwin" or any(os.environ.get(name) for name in _DISPLAYS)
    opener = next(filter(None, map(shutil.which, _OPENERS)), None) if has_display else None
    return [opener, url] if opener else []


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation mark is missing
        return []
