"""The sample project, a small Python project with a bug, and what the demo does in this or another folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from acp_tui.config.paths import paths, private_directory
from acp_tui.errors import UserError

MODULE = "basket.py"
CHECKER = "check.py"

BUG = "        return total - total * self.discount\n"
FIX = "        return total - total * self.discount / 100\n"

_BASKET = f'''\
"""A shopping basket. Prices are in cents."""


class Basket:
    """A list of items with prices and quantities."""

    def __init__(self, discount=0):
        self.discount = discount  # in percent
        self.items = []

    def add(self, name, price, quantity=1):
        """Add an item."""
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        self.items.append((name, price, quantity))

    def remove(self, name):
        """Remove all items of this name."""
        self.items = [item for item in self.items if item[0] != name]

    def count(self):
        """Return the number of items."""
        return sum(quantity for _, _, quantity in self.items)

    def total(self):
        """Return the total price, less the discount."""
        total = sum(price * quantity for _, price, quantity in self.items)
{BUG}'''

_TESTS = '''\
"""Run them with `python -m unittest`, or in colour with `python check.py`."""

import unittest

from basket import Basket


class BasketTest(unittest.TestCase):
    def setUp(self):
        self.basket = Basket()

    def test_a_new_basket_is_empty(self):
        self.assertEqual(self.basket.count(), 0)
        self.assertEqual(self.basket.total(), 0)

    def test_quantities_are_counted(self):
        self.basket.add("apple", 30, quantity=3)
        self.basket.add("bread", 250)
        self.assertEqual(self.basket.count(), 4)

    def test_prices_add_up(self):
        self.basket.add("apple", 30, quantity=3)
        self.basket.add("bread", 250)
        self.assertEqual(self.basket.total(), 340)

    def test_removed_items_cost_nothing(self):
        self.basket.add("apple", 30)
        self.basket.add("bread", 250)
        self.basket.remove("bread")
        self.assertEqual(self.basket.total(), 30)

    def test_the_quantity_must_be_positive(self):
        with self.assertRaises(ValueError):
            self.basket.add("apple", 30, quantity=0)

    def test_the_discount_is_in_percent(self):
        basket = Basket(discount=10)
        basket.add("bread", 250)
        self.assertEqual(basket.total(), 225)

    def test_a_full_discount_makes_it_free(self):
        basket = Basket(discount=100)
        basket.add("bread", 250)
        self.assertEqual(basket.total(), 0)


if __name__ == "__main__":
    unittest.main()
'''

_CHECK = '''\
"""Runs the tests in colour, with a progress bar. `--pause SECONDS` waits between tests."""

import sys
import time
import unittest

GREEN, RED, DIM, BOLD, RESET = "\\x1b[32m", "\\x1b[31m", "\\x1b[2m", "\\x1b[1m", "\\x1b[0m"


class ColourResult(unittest.TestResult):
    """Prints a line for each test, with a progress bar below."""

    def __init__(self, count, pause):
        super().__init__()
        self.count = count
        self.pause = pause

    def line(self, colour, mark, test):
        print("\\r\\x1b[K{}{}{} {}".format(colour, mark, RESET, test.id().split(".")[-1]))
        done = self.testsRun * 20 // self.count
        bar = "\\u2588" * done + DIM + "\\u2591" * (20 - done) + RESET
        print("  {} {}/{}".format(bar, self.testsRun, self.count), end="", flush=True)
        time.sleep(self.pause)

    def addSuccess(self, test):
        self.line(GREEN, "\\u2714", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.line(RED, "\\u2718", test)

    def addError(self, test, error):
        super().addError(test, error)
        self.line(RED, "\\u2718", test)


def main():
    sys.stdout.reconfigure(encoding="utf-8")  # for the marks and the bar
    pause = float(sys.argv[sys.argv.index("--pause") + 1]) if "--pause" in sys.argv else 0.0
    tests = unittest.defaultTestLoader.discover(".")
    result = ColourResult(tests.countTestCases(), pause)
    tests.run(result)
    print("\\r\\x1b[K", end="")
    for test, trace in result.failures + result.errors:
        print("\\n{}{}{}".format(BOLD, test.id().split(".")[-1], RESET))
        print("{}{}{}".format(DIM, trace.rstrip(), RESET))
    bad = len(result.failures) + len(result.errors)
    colour, verdict = (RED, "{} of {} failed".format(bad, result.testsRun)) if bad else (GREEN, "all passed")
    print("\\n{}{}{}{}".format(BOLD, colour, verdict, RESET))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
'''

_README = """\
# basket

A sample project for the demo agent of acp-tui: a shopping basket with a bug in it.

- `basket.py`: the basket
- `test_basket.py`: its tests, run with `python -m unittest`
- `check.py`: the same tests in colour, run with `python check.py`

This copy is yours. Change what you like: the next start creates a new one.
"""

FILES = {
    "README.md": _README,
    MODULE: _BASKET,
    "test_basket.py": _TESTS,
    CHECKER: _CHECK,
    ".gitignore": "__pycache__/\n",
}


# ------------------------------------------------------------------ a copy of the project

PROJECT_NAME = "basket"
MAX_AGE_DAYS = 14
"""Age after which unused copies are removed; long enough for sessions to be resumed."""


def make_project() -> Path:
    """Copy the sample project to a new folder in the cache directory, and return the path of the copy."""
    home = paths().cache / "demo"
    try:
        private_directory(home)
        _remove_old_copies(home)
        project = Path(tempfile.mkdtemp(prefix="sample-", dir=home)) / PROJECT_NAME
        project.mkdir()
        for name, text in FILES.items():
            (project / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"Cannot create the demo's sample project in {home}: {error.strerror or error}."
        ) from error
    _make_repository(project)
    return project.resolve()


def is_sample(folder: Path) -> bool:
    """Return True if the folder looks like a copy of the sample project, with or without the bug."""
    try:
        text = (folder / MODULE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return folder.name == PROJECT_NAME and (BUG in text or FIX in text)


def _remove_old_copies(home: Path) -> None:
    oldest = time.time() - MAX_AGE_DAYS * 24 * 3600
    for copy in home.glob("sample-*"):
        try:
            touched = max(entry.stat().st_mtime for entry in (copy, *copy.rglob("*")))
        except OSError:
            continue  # another process is removing it
        if touched < oldest:
            shutil.rmtree(copy, ignore_errors=True)


def _make_repository(project: Path) -> None:
    """If git is installed, create a repository with one commit. Ignore the user's configuration and hooks."""
    # Otherwise a `GIT_DIR` of the caller (for example in a hook) would receive the commit.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=acp-tui demo", "-c", "user.email=demo@example.invalid")
    for arguments in (
        ("-c", "init.defaultBranch=main", "init", "--quiet", "--template="),
        ("add", "--all"),
        (*identity, "commit", "--quiet", "--message", "A basket with a bug"),
    ):
        try:
            subprocess.run(
                ["git", *arguments], cwd=project, env=environment, check=True, capture_output=True, timeout=30
            )
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(project / ".git", ignore_errors=True)
            return


# ------------------------------------------------------------------ what to do in a folder

OWN_FILE = "acp-tui-demo.txt"
"""The only file the demo writes outside the sample project."""

COLOUR_COMMAND = [sys.executable, "-P", "-m", "acp_tui.demo.colour_demo"]
"""A command that only prints coloured text.

`-P` keeps Python from importing modules of the folder in which the command runs.
"""


@dataclass(frozen=True)
class Job:
    """What to read, edit and run in one folder."""

    is_sample: bool  # the folder is a copy of the sample project
    file_to_read: Path | None  # None: nothing to read
    target: Path  # the file to edit
    command: list[str]

    @property
    def fixes_bug(self) -> bool:
        """True if the edit fixes the bug."""
        return self.target == self.file_to_read

    def edited_text(self, old: str | None) -> str:
        """Return the target's new text. `old` is the current text; None if the target does not exist."""
        if old is not None and BUG in old:
            return old.replace(BUG, FIX)
        line = "The demo agent of acp-tui wrote this line. You can delete this file.\n"
        return (old or "") + line


def choose_job(folder: Path, pause: float) -> Job:
    """Choose the job for a folder. The job's command waits `pause` seconds after each step."""
    module = folder / MODULE
    slowly = ["--pause", f"{pause:.2f}"] if pause else []
    if is_sample(folder):
        # If an earlier tour fixed the bug, write the demo's own file instead.
        broken = BUG in module.read_text(encoding="utf-8")
        command = [sys.executable, CHECKER, *slowly]
        return Job(True, module, module if broken else folder / OWN_FILE, command)
    return Job(False, _find_overview_file(folder), folder / OWN_FILE, [*COLOUR_COMMAND, *slowly])


def _find_overview_file(folder: Path) -> Path | None:
    for name in ("README.md", "README.rst", "README", "pyproject.toml", "package.json", "Makefile"):
        if (folder / name).is_file():
            return folder / name
    return None
