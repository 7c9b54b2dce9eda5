"""The questions that wait for the user: shown one at a time, in the order they came, each answered once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.controller import Answer, ElicitationAnswer, Question
    from acp_tui.session.state import Elicitation


@dataclass(eq=False, slots=True)
class PendingQuestion:
    """One question, and the future that the asker waits for."""

    question: Question
    answer: asyncio.Future[Answer]


class PendingQuestions:
    """Puts the agent's questions on the screen. `changed` is called when another question is shown."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.elicitation_modes: frozenset[str] = frozenset()
        """Forms and pages cannot be shown, so agents are not told that they could."""
        self._waiting: list[PendingQuestion] = []
        self._answered = 0  # since there was none

    @property
    def shown(self) -> PendingQuestion | None:
        """The one the user sees."""
        return self._waiting[0] if self._waiting else None

    @property
    def position(self) -> tuple[int, int]:
        """Which one that is, of how many."""
        return self._answered + 1, self._answered + len(self._waiting)

    async def ask(self, question: Question) -> Answer:
        """Put a question, and wait. When the agent takes it back, it goes."""
        waiting = PendingQuestion(question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._changed()
        try:
            return await waiting.answer
        finally:
            self._waiting.remove(waiting)
            self._answered = self._answered + 1 if self._waiting else 0
            self._changed()

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        """Never called: see `elicitation_modes`."""
        raise RuntimeError(f"elicitation of mode {elicitation.mode} was never offered")

    def give(self, waiting: PendingQuestion, answer: Answer) -> None:
        """The user has decided."""
        if not waiting.answer.done():
            waiting.answer.set_result(answer)
