"""The files of the sample project, and the line with the bug."""

from __future__ import annotations

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
