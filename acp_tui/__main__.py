"""Entry point of `python -m acp_tui`, which is the same as `acp-tui`."""

import sys

from acp_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
