"""Changes of the agent's options: one at a time, and why they failed."""

from __future__ import annotations

import asyncio

from acp_tui.errors import UserError
from acp_tui.ui.screens.options import OptionChanges


class SlowAgent:
    """Confirms a change when told to. It refuses the value "bad"."""

    def __init__(self) -> None:
        self.received: list[object] = []
        self.answers = asyncio.Semaphore(0)

    async def set_option(self, _option_id: str, value: str | bool) -> None:
        """Receive a value, and wait before answering."""
        self.received.append(value)
        await self.answers.acquire()
        if value == "bad":
            raise UserError("Not allowed.")


async def test_of_the_values_chosen_while_the_agent_is_busy_only_the_last_is_sent() -> None:
    agent = SlowAgent()
    changes = OptionChanges(agent.set_option, lambda: None)
    first = asyncio.create_task(changes.change("mode", "a"))
    await asyncio.sleep(0)
    await changes.change("mode", "b")
    await changes.change("mode", "c")
    assert changes.wanted == {"mode": "c"}
    agent.answers.release()
    agent.answers.release()
    await first
    assert (agent.received, changes.wanted) == (["a", "c"], {})


async def test_a_failure_is_kept_until_the_option_is_changed_again() -> None:
    agent = SlowAgent()
    agent.answers.release()
    changes = OptionChanges(agent.set_option, lambda: None)
    await changes.change("mode", "bad")
    assert (changes.failures, changes.wanted) == ({"mode": "Not allowed."}, {})
    agent.answers.release()
    await changes.change("mode", "a")
    assert changes.failures == {}


async def test_a_value_requested_before_another_one_failed_is_sent() -> None:
    agent = SlowAgent()
    changes = OptionChanges(agent.set_option, lambda: None)
    first = asyncio.create_task(changes.change("mode", "bad"))
    await asyncio.sleep(0)
    await changes.change("mode", "a")
    agent.answers.release()
    agent.answers.release()
    await first
    assert (agent.received, changes.failures, changes.wanted) == (["bad", "a"], {}, {})
