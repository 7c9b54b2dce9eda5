"""Opens an address in the user's browser."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

_OPENERS = ("xdg-open", "open", "wslview")


def browser_command(url: str) -> list[str] | None:
    """Return the command that opens an address; None if there is no graphical browser.

    `$BROWSER` is used as other programs do: a command in which `%s` stands for the address, or to which it
    is added. Text browsers would take over the terminal and are not looked for.
    """
    if words := shlex.split(os.environ.get("BROWSER", "").partition(os.pathsep)[0]):
        return [word.replace("%s", url) for word in words] if "%s" in " ".join(words) else [*words, url]
    has_display = sys.platform == "darwin" or any(
        map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"))
    )
    opener = next(filter(None, map(shutil.which, _OPENERS)), None) if has_display else None
    return [opener, url] if opener else None


def open_in_browser(command: list[str]) -> bool:
    """Start the command of `browser_command`. Return False if it could not be started."""
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
