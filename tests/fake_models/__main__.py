"""Runs the server: `python -m tests.fake_models --script FILE --log FILE`. Prints its port."""

import asyncio

from tests.fake_models.server import main

asyncio.run(main())
