"""The loop of one prompt: ask the model, run the calls of its answer, send it the results, ask again."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp import RequestError, schema

from acp_tui.local_agent import commands
from acp_tui.local_agent.compaction import characters, compact, compact_if_needed, middle_cut
from acp_tui.local_agent.profile import (
    Answer,
    CallBegun,
    CallRequest,
    TextPiece,
    ThoughtPiece,
    ToolResult,
    Waiting,
)
from acp_tui.local_agent.session import answer_open_calls
from acp_tui.local_agent.user_prompt import text_of, title_of, user_content

if TYPE_CHECKING:
    from acp.helpers import ContentBlock
    from pydantic_ai.messages import ModelRequestPart, ToolReturnPart

    from acp_tui.local_agent.session import Session
    from acp_tui.local_agent.wire import RequestId

MAX_REPEATS = 2
"""The same call may run this often in a row. The next one is refused, and the one after ends the turn."""
MAX_OVERFLOWS = 4
"""How often a request that is too long for the model is made shorter and sent again."""
INTERRUPTED = "Interrupted: the user has stopped the turn. It may have run in part."


class Turn:
    """One prompt of the user and everything that follows from it. It starts at once, in a task of its own.

    Args:
        request_id: The id of the request `session/prompt`, which the client can cancel by it.
    """

    def __init__(
        self, session: Session, blocks: Sequence[ContentBlock], max_rounds: int, request_id: RequestId
    ) -> None:
        self._session = session
        self._stored = session.stored
        self._updates = session.updates
        self._blocks = blocks
        self._max_rounds = max_rounds
        self.request_id = request_id
        self._call_ids: dict[str, str] = {}  # the ids for the client by the ids of the model
        self._last_call: tuple[str, str] | None = None
        self._repeats = 0
        self.usage = schema.Usage(input_tokens=0, output_tokens=0, total_tokens=0)
        self._is_cancelled = False
        self._task = asyncio.create_task(self._run())

    def cancel(self) -> None:
        """Stop the request, command or tool that is running, and end the turn."""
        if not self._is_cancelled:  # what is being cleaned up must not be interrupted again
            self._is_cancelled = True
            self._task.cancel()

    async def ended(self) -> None:
        """Wait until the turn has ended."""
        await asyncio.wait([self._task])

    def stop_reason(self) -> schema.StopReason:
        """Return why the turn has ended. Raises `RequestError` if the model cannot be asked."""
        error = None if self._task.cancelled() else self._task.exception()
        if self._is_cancelled or self._task.cancelled():
            return "cancelled"
        if error is not None:
            raise error
        return self._task.result()

    async def _run(self) -> schema.StopReason:
        from acp_tui.local_agent.model import ModelError

        self._updates.is_in_turn = True
        try:
            self._begin()
            await self._session.wait_for_mcp_servers()
            handled, prompt = await commands.run(self._session, text_of(self._blocks))
            return "end_turn" if handled else await self._answer(prompt)
        except ModelError as error:
            raise RequestError(-32603, str(error)) from None
        finally:
            if (results := answer_open_calls(self._stored.messages, INTERRUPTED)) is not None:
                self._stored.add_message(results)
            self._updates.fail_open_calls("Stopped")
            self._updates.end_message()
            self._updates.is_in_turn = False
            self._stored.flush()
            self._stored.touch()

    def _begin(self) -> None:
        """Record the prompt for the replay, and name the session after its first prompt."""
        self._updates.send_held_notices()
        for block in self._blocks:
            content = block.model_dump(mode="json", by_alias=True, exclude_none=True)
            self._stored.record({"sessionUpdate": "user_message_chunk", "content": content})
        if self._stored.meta.title is None:
            self._stored.meta.title = title_of(self._blocks)
            self._updates.title(self._stored.meta.title, self._stored.meta.updated_at)
        self._stored.touch()

    async def _answer(self, prompt: str | None) -> schema.StopReason:
        """Ask the model until it calls no more tools. `prompt` replaces the text of the user."""
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        before = len(self._stored.messages)
        content = user_content(self._blocks) if prompt is None else [prompt]
        self._stored.add_message(ModelRequest([UserPromptPart(content)]))
        rounds = 0
        while True:
            if rounds == self._max_rounds:
                if not await self._may_continue():
                    return "max_turn_requests"
                rounds = 0
            rounds += 1
            await compact_if_needed(self._session)
            answer = await self._ask()
            if answer.stopped_by == "filter" and not answer.calls:
                # The client takes back the prompt and what followed, so the model must not know it either.
                self._stored.replace_messages(self._stored.messages[:before])
                return "refusal"
            if not answer.calls:
                if not _has_text(answer):
                    self._updates.notice("The model has returned an empty answer.", severity="warning")
                return "max_tokens" if answer.stopped_by == "length" else "end_turn"
            if not await self._run_calls(answer.calls):
                return "end_turn"

    # ------------------------------------------------------------------ asking the model

    async def _ask(self) -> Answer:
        """Ask the model once, and make the conversation shorter if the model finds it too long."""
        from acp_tui.local_agent.model import ContextFull

        for _ in range(MAX_OVERFLOWS):
            try:
                return await self._request()
            except ContextFull:
                self._session.models.learn_context(self._stored.meta.model, self._session.tokens)
                await compact(self._session)
        return await self._request()

    async def _request(self) -> Answer:
        session = self._session
        texts: list[str] = []
        request = session.model.stream(
            self._stored.messages, session.tools(), instructions=session.instructions()
        )
        try:
            async with aclosing(request) as events:
                async for event in events:
                    if isinstance(event, TextPiece):
                        texts.append(event.text)
                        self._updates.message(event.text)
                    elif isinstance(event, ThoughtPiece):
                        self._updates.thought(event.text)
                    elif isinstance(event, CallBegun):
                        self._begin_call(event.id, event.name)
                    elif isinstance(event, Waiting):
                        again = f". Next try in {event.seconds:.0f} s" if event.seconds else ""
                        self._updates.notice(f"{event.reason}{again}.", severity="warning")
                    elif isinstance(event, Answer):
                        return self._accept(event)
                    await self._updates.drain()
        except BaseException:
            self._keep_partial("".join(texts))
            raise
        raise AssertionError("the last event of a request is the answer")

    def _accept(self, answer: Answer) -> Answer:
        self._updates.end_message()
        self._stored.add_message(answer.response)
        self._session.count(answer)
        self.usage.input_tokens += answer.input_tokens or 0
        self.usage.output_tokens += answer.output_tokens or 0
        self.usage.total_tokens = self.usage.input_tokens + self.usage.output_tokens
        return answer

    def _keep_partial(self, text: str) -> None:
        """Keep what the model has written of an answer that was cut off, so that it can go on from there."""
        from pydantic_ai.messages import ModelResponse, TextPart

        if text:
            self._stored.add_message(ModelResponse([TextPart(f"{text}\n[cut off here]")]))

    def _begin_call(self, model_id: str, name: str) -> str:
        """Show a call, once. Return its id for the client: ids of models repeat, the client's must not."""
        if model_id not in self._call_ids:
            call_id = self._call_ids[model_id] = f"call-{uuid.uuid4().hex[:12]}"
            self._session.toolbox.begin(call_id, name)
        return self._call_ids[model_id]

    # ------------------------------------------------------------------ running calls

    async def _run_calls(self, calls: Sequence[CallRequest]) -> bool:
        """Run the calls one after the other. Return False to end the turn."""
        from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

        goes_on = True
        results: list[ModelRequestPart] = []
        images: list[Any] = []
        try:
            for call in calls:
                repeats = self._count_repeats(call)
                if repeats > MAX_REPEATS:
                    result = self._refuse_repeat(call, repeats)
                    goes_on = goes_on and repeats == MAX_REPEATS + 1
                else:
                    result = await self._run_call(call)
                results.append(self._result_part(call, result))
                images += [BinaryContent(image.data, media_type=image.media_type) for image in result.images]
        finally:
            done = len(results)
            results += [
                self._result_part(call, ToolResult(INTERRUPTED, is_error=True)) for call in calls[done:]
            ]
            if images:
                results.append(UserPromptPart(["The images that the tools returned:", *images]))
            self._stored.add_message(ModelRequest(results))
            self._call_ids.clear()
        if not goes_on:
            self._updates.message(
                "I stopped because the model repeated the same call with the same arguments, although it was"
                " told not to."
            )
        return goes_on

    async def _run_call(self, call: CallRequest) -> ToolResult:
        if call.problem:
            return self._fail(call, call.problem)
        return await self._session.toolbox.run(replace(call, id=self._begin_call(call.id, call.name)))

    def _count_repeats(self, call: CallRequest) -> int:
        """Return how often the call has come in a row, this time included."""
        this = (call.name, json.dumps(call.arguments, sort_keys=True) + call.problem)
        self._repeats = self._repeats + 1 if this == self._last_call else 1
        self._last_call = this
        return self._repeats

    def _refuse_repeat(self, call: CallRequest, repeats: int) -> ToolResult:
        text = (
            f"Not run: {call.name} was called {repeats} times in a row with the same arguments. The result"
            " would be the same. Do something else, or tell the user what is missing."
        )
        return self._fail(call, text)

    def _fail(self, call: CallRequest, text: str) -> ToolResult:
        """Show a call that is not run as failed."""
        call_id = self._begin_call(call.id, call.name)
        content = schema.ContentToolCallContent(
            type="content", content=schema.TextContentBlock(type="text", text=text)
        )
        self._updates.call_update(call_id, status="failed", content=[content])
        return ToolResult(text, is_error=True)

    def _result_part(self, call: CallRequest, result: ToolResult) -> ToolReturnPart:
        from pydantic_ai.messages import ToolReturnPart

        text = middle_cut(result.text, characters(self._session.context) // 4)
        return ToolReturnPart(call.name, text, call.id, outcome="failed" if result.is_error else "success")

    # ------------------------------------------------------------------ limits

    async def _may_continue(self) -> bool:
        """Ask whether to go on after many rounds. A client without forms ends the turn with a sentence."""
        question = f"The model was asked {self._max_rounds} times in this turn. Continue?"
        elicitation = self._session.capabilities.elicitation
        if elicitation is None or elicitation.form is None:
            self._updates.message(
                f"I stopped after {self._max_rounds} requests to the model. Send “continue” to go on."
            )
            return False
        form = schema.ElicitationFormSessionMode.model_validate(
            {"sessionId": self._session.id, "requestedSchema": {"type": "object", "properties": {}}}
        )
        try:
            answer = await self._session.client.create_elicitation(question, form)
        except (RequestError, ValueError):
            return False
        return isinstance(answer, schema.AcceptElicitationResponse)


def _has_text(answer: Answer) -> bool:
    return any(part.part_kind == "text" and part.content.strip() for part in answer.response.parts)
