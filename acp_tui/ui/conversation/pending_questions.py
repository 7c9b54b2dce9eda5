"""Questions waiting for the user: shown one at a time, in order of arrival."""

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
        """Empty: forms and web pages are not supported, so they are not advertised to agents."""
        self._waiting: list[PendingQuestion] = []
        self._answered = 0  # since the queue was last empty

    @property
    def shown(self) -> PendingQuestion | None:
        """The question on the screen."""
        return self._waiting[0] if self._waiting else None

    @property
    def position(self) -> tuple[int, int]:
        """Its number, and the total."""
        return self._answered + 1, self._answered + len(self._waiting)

    async def ask(self, question: Question) -> Answer:
        """Queue a question and wait for the answer. Cancelling removes the question."""
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
        """Resolve a question with the user's answer."""
        if not waiting.answer.done():
            waiting.answer.set_result(answer)
