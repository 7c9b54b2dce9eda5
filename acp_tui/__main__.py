"""Runs `acp-tui` as `python -m acp_tui`."""

import sys

from acp_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
