"""A conversation with a scripted agent, without a screen."""

from __future__ import annotations

import json
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.app_context import AppContext
from acp_tui.config.agent_catalogue import Launch
from acp_tui.controller import Answer, Conversation, Options
from acp_tui.protocol.translator import fold
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.state import AgentMessage, Notice
from acp_tui.store.wire_log import read_log
from tests.support.leftovers import MARK, processes_with

if TYPE_CHECKING:
    import asyncio

    from acp_tui.controller import Question
    from acp_tui.session.record import Record
    from acp_tui.session.state import Elicitation, Session

REPOSITORY = Path(__file__).parents[2]


class ScriptedUser:
    """A user who gives the answers of the test; without one left, waits for `thinking`."""

    def __init__(self, *answers: str | Answer, thinking: asyncio.Event | None = None) -> None:
        self.asked: list[Question] = []
        self.elicited: list[Elicitation] = []
        self._answers = list(answers)
        self._thinking = thinking

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        while not self._answers:
            assert self._thinking is not None
            await self._thinking.wait()
        answer = self._answers.pop(0)
        if isinstance(answer, Answer):
            return answer
        return Answer(next(option for option in question.options if option.kind == answer))

    def answer_next(self, answer: str) -> None:
        """Answer the first question that waits. The others go on waiting."""
        assert self._thinking is not None
        self._answers.append(answer)
        self._thinking.set()
        self._thinking.clear()

    async def elicit(self, elicitation: Elicitation) -> FormAnswer:
        self.elicited.append(elicitation)
        return FormAnswer("accept", {"name": "value"})


class RememberingUser(ScriptedUser):
    """A user whose answers are remembered as rules."""

    async def ask(self, question: Question) -> Answer:
        answer = await super().ask(question)
        assert answer.option is not None
        rules = tuple(ladder[0] for ladder in question.ladders(answer.option.kind))
        return Answer(answer.option, rules)


@dataclass
class ScriptedConversation:
    """A conversation and its records."""

    conversation: Conversation
    mark: str
    records: list[Record] = field(default_factory=list)

    @property
    def session(self) -> Session:
        return self.conversation.session

    async def open(self) -> Conversation:
        """Start the agent and open a session."""
        await self.conversation.start()
        await self.conversation.open_new()
        return self.conversation

    async def prompt(self, *steps: list[Any]) -> None:
        """Run one turn with steps for `tests.fake_agents.script`."""
        await self.conversation.prompt([{"type": "text", "text": json.dumps(steps)}])

    def said(self) -> str:
        """Return the text of all messages of the agent."""
        return "".join(entry.text for entry in self.session.entries if isinstance(entry, AgentMessage))

    def notices(self) -> list[str]:
        """Return the texts of all notices."""
        return [entry.text for entry in self.session.entries if isinstance(entry, Notice)]

    def replayed(self) -> Session:
        """Return the session that results from the log."""
        assert self.conversation.log_path is not None
        return fold(read_log(Path(self.conversation.log_path)))

    def left_behind(self) -> list[int]:
        """Return the agent's processes that are still running."""
        return processes_with(self.mark)


def scripted_conversation(
    cwd: Path,
    module: str,
    *args: str,
    keep_log: bool = True,
    resumed: Any = None,
    fork: bool = False,
    **options: Any,
) -> ScriptedConversation:
    """Return a conversation that has not been started."""
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", f"tests.fake_agents.{module}", *args]
    environment = {"PYTHONPATH": str(REPOSITORY), MARK: mark}
    launch = Launch("scripted", "Scripted Agent", command, environment, ad_hoc=True)
    app_context = AppContext.open(cwd)
    conversation = app_context.conversation(
        launch, Options(cwd=cwd, **options), keep_log=keep_log, resumed=resumed, fork=fork
    )
    chat = ScriptedConversation(conversation, mark)
    conversation.listen(lambda record, _events, _changes: chat.records.append(record))
    return chat
