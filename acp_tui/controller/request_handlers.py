"""Handlers for the agent's requests: permissions, files, terminals, elicitations.

`RequestHandlers` has one method per protocol method, apart from `mcp/message`. Parameters are read leniently,
but a request that lacks a required parameter is refused.

`subject_reader` is imported with the first request that needs it, because it takes 2 MB of memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.controller.diff_locator import contents_after, whole_file_diffs
from acp_tui.controller.permission_gate import GUARD_OPTIONS, CallChangedError, PermissionGate
from acp_tui.controller.request_params import Params
from acp_tui.controller.user_questions import Question, choose_option
from acp_tui.errors import Refusal
from acp_tui.permissions.subject import PathContext, Subject, Target
from acp_tui.protocol.content import line_ends
from acp_tui.protocol.qwen_questions import QwenQuestions, read_questions
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.events import Decided, FileBeforeWrite
from acp_tui.session.record import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_ALLOWED,
    RESOURCE_NOT_FOUND,
    Change,
    innermost,
)
from acp_tui.session.state import Content, Diff, Elicitation, Permission, RequestId, Subagent, ToolCall
from acp_tui.workspace.files.open_folder import OpenFolder, open_folder
from acp_tui.workspace.terminals.terminals import Terminals, is_command_line

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.controller.baseline_tracker import BaselineTracker
    from acp_tui.controller.mcp.bridge_host import BridgeHost
    from acp_tui.controller.mcp.own_server import AcpChannel
    from acp_tui.controller.recorder import Recorder
    from acp_tui.workspace.files.file_access import FileAccess


MAX_KEPT_TEXT = 1_000_000
"""Before a write, the file's text is recorded for the diff if it has at most this many characters."""


class RequestHandlers:
    """Answers the requests of one agent."""

    def __init__(
        self,
        launch: Launch,
        recorder: Recorder,
        gate: PermissionGate,
        files: FileAccess,
        paths: PathContext,
        terminals: Terminals,
        baseline: BaselineTracker,
        channel: AcpChannel,
        bridges: BridgeHost,
    ) -> None:
        self._launch = launch
        self._session = recorder.session
        self._note = recorder.note
        self._gate = gate
        self._files = files
        self._cwd = str(files.roots.cwd)
        self._path_context = paths
        self._terminals = terminals
        self._baseline = baseline
        self._bridges = bridges
        self._permission_questions: list[Question] = []  # that are not answered yet
        self._analysis_lock = asyncio.Lock()
        self._methods: dict[str, Callable[[Params], Awaitable[dict[str, Any]]]] = {
            "session/request_permission": self._permission,
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create_terminal,
            "terminal/output": self._terminal_output,
            "terminal/wait_for_exit": self._wait_for_exit,
            "terminal/kill": self._kill_terminal,
            "terminal/release": self._release_terminal,
            "elicitation/create": self._elicit,
            "mcp/message": channel.answer,
        }
        if launch.has_remote_files:  # not offered: its files and programs are those of another machine
            for method in [name for name in self._methods if name.startswith(("fs/", "terminal/"))]:
                del self._methods[method]

    async def __call__(self, method: str, params: Any, request_id: RequestId) -> dict[str, Any]:
        """Return the result of a request, or raise `Refusal`."""
        serve = self._methods.get(method)
        if serve is None:
            raise Refusal(METHOD_NOT_FOUND, f"acp-tui does not know the method {method!r}")
        known = Params(method, params, request_id)
        session_id = known.values.get("sessionId")
        is_other = session_id is not None and self._session.session_id not in (None, session_id)
        is_unknown = is_other and not (isinstance(session_id, str) and session_id in self._session.subagents)
        asks = method in ("session/request_permission", "elicitation/create")
        if is_unknown and not asks:  # unknown sessions may ask: some agents do not announce subagents
            raise Refusal(INVALID_PARAMS, f"{method}: there is no session {session_id!r} here")
        return await serve(known)

    def see_changes(self, changes: Sequence[Change]) -> None:
        """Withdraw each question whose call the agent has changed. It is then asked again."""
        changed = [innermost(change).entry for change in changes]
        for question in self._permission_questions:
            if any(entry is question.call for entry in changed) and not question.is_current():
                self._gate.call_changed(question)

    # ---- permissions and elicitations

    async def _permission(self, params: Params) -> dict[str, Any]:
        pending = self._session.permissions.get(params.request_id)
        if pending is None:
            raise Refusal(INVALID_PARAMS, "session/request_permission: the request could not be understood")
        if self._launch.has_qwen_questions and (questions := read_questions(params.values)) is not None:
            return await self._answer_questions(pending, questions)
        call = self._session.tool_calls[pending.call_id]
        was_changed = False
        while True:
            try:
                return await self._ask_about(call, pending, was_changed=was_changed)
            except CallChangedError:
                was_changed = True

    async def _ask_about(self, call: ToolCall, pending: Permission, *, was_changed: bool) -> dict[str, Any]:
        """Return the answer to a permission request. Raises `CallChangedError`.

        `was_changed` is true if the agent has changed the call since it was asked about.
        """
        from acp_tui.permissions.subject_reader import subject_of_call

        asked = replace(call)  # the call as it is now
        what = _described(call)
        subject = await self._analyse(partial(subject_of_call, asked, self._path_context))
        if not self._launch.has_remote_files:
            subject = subject.evolve(contents=await contents_after(asked, self._files))
        question = Question(
            pending.request_id,
            "permission",
            subject,
            pending.options,
            why="",
            call=call,
            was_changed=was_changed,
        )
        question.is_current = lambda: call.done or _described(call) == what
        question.asked_at_bridge = self._is_asked_at_bridge(call, subject)
        question.once_option = self._launch.once_option
        question.other_session = pending.session_id
        if (subagent := self._session.subagents.get(pending.subagent)) is not None:
            question.subagent = subagent.name
        if self._gate.question_handler is not None and not self._launch.has_remote_files:
            question.whole_file_diffs = await whole_file_diffs(asked, self._files)
        self._permission_questions.append(question)
        try:
            verdict = await self._gate.answer(question)
        finally:
            self._permission_questions.remove(question)
        if verdict.option is None:
            return {"outcome": {"outcome": "cancelled"}}
        if verdict.allowed:
            await self._baseline.keep(subject.paths)
        return {"outcome": {"outcome": "selected", "optionId": verdict.option.id}}

    def _is_asked_at_bridge(self, call: ToolCall, subject: Subject) -> bool:
        """Return True if a request only names a tool whose calls pass a bridge, which then asks about them.

        Gemini and Kimi Code do not say the arguments before the call.
        """
        tool = call.mcp_tool
        if tool is None or tool.is_ambiguous or not self._bridges.carries(tool.server):
            return False
        says_more = call.raw_input or call.locations or subject.targets or subject.concerns
        return subject.kind == "mcp" and not says_more and not any(isinstance(i, Diff) for i in call.content)

    async def _answer_questions(self, pending: Permission, questions: QwenQuestions) -> dict[str, Any]:
        """Ask the user what Qwen Code asks, whatever the policy is. `answers` is not part of the protocol."""
        form = FormAnswer("decline")
        why = "`acp-tui exec` cannot ask you"
        if self._gate.question_handler is not None:
            question = Elicitation(
                id=0,
                at=pending.at,
                request_id=pending.request_id,
                mode="form",
                message=questions.message,
                schema=questions.schema,
                session_id=pending.session_id,
                subagent=pending.subagent,
            )
            form, why = await self._gate.question_handler.elicit(question), "you answered"
        content = form.content if form.action == "accept" else None
        option = choose_option(pending.options, allow=content is not None)
        by = "policy" if self._gate.question_handler is None else "you"
        allowed = content is not None if option is not None else None
        self._note(Decided(pending.request_id, by=by, why=why, allowed=allowed, subject="ask you a question"))
        if option is None:
            return {"outcome": {"outcome": "cancelled"}}
        answer: dict[str, Any] = {"outcome": {"outcome": "selected", "optionId": option.id}}
        return answer if content is None else {**answer, "answers": questions.answers(content)}

    async def _analyse(self, read_subject: Callable[[], Subject]) -> Subject:
        """Call `read_subject` in a thread: analysing a crafted command can take a few hundred milliseconds.

        Calls run one at a time, so that questions keep the order of their requests.
        """
        async with self._analysis_lock:
            return await asyncio.to_thread(read_subject)

    async def _elicit(self, params: Params) -> dict[str, Any]:
        pending = self._session.elicitations.get(params.request_id)
        if pending is None or pending.mode not in ("form", "url"):
            raise Refusal(INVALID_PARAMS, f"elicitation of mode {params.values.get('mode')!r} is not offered")
        if pending.mode == "form" and pending.schema is None:
            raise Refusal(INVALID_PARAMS, "elicitation/create: requestedSchema must be an object")
        if pending.mode == "url" and not pending.url:
            raise Refusal(INVALID_PARAMS, "elicitation/create: url must be a string")
        question_handler = self._gate.question_handler
        if question_handler is None:  # elicitation was not offered, but some agents ask all the same
            return {"action": "decline"}
        answer = await question_handler.elicit(pending)
        if answer.action != "accept" or answer.content is None:
            return {"action": answer.action}
        return {"action": "accept", "content": answer.content}

    # ---- files

    async def _read(self, params: Params) -> dict[str, Any]:
        path = params.text("path")
        line, limit = params.number("line"), params.number("limit")
        try:
            reading = await asyncio.to_thread(self._files.open_for_reading, path)
        except Refusal as refusal:
            if refusal.code == RESOURCE_NOT_FOUND and self._launch.missing_file_is_empty:
                return {"content": ""}
            raise
        with reading:
            if not reading.inside or reading.sensitive:
                from acp_tui.permissions.subject_reader import subject_of_read

                subject = subject_of_read(
                    path, real=str(reading.real), inside=reading.inside, sensitive=reading.sensitive
                )
                await self._guard(params, Question(params.request_id, "read", subject, GUARD_OPTIONS, why=""))
            return {"content": await asyncio.to_thread(reading.text, line, limit)}

    async def _write(self, params: Params) -> dict[str, Any]:
        from acp_tui.permissions.subject_reader import subject_of_write

        path, content = params.text("path"), params.text("content", empty=True)
        writing = await asyncio.to_thread(self._files.prepare_writing, path)
        with writing:
            subject = subject_of_write(
                path,
                real=str(writing.real),
                inside=writing.inside,
                sensitive=writing.sensitive,
                content=content,
            )
            question = Question(params.request_id, "write", subject, GUARD_OPTIONS, why="", new_text=content)
            old = question.old_text = await asyncio.to_thread(writing.old_text)
            await self._guard(params, question)
            await self._baseline.keep([str(writing.real)])
            self._note(_before_write(params.request_id, old, content, exists=writing.exists))
            await _to_its_end(asyncio.to_thread(writing.write, content))
        return {}

    # ---- terminals

    async def _create_terminal(self, params: Params) -> dict[str, Any]:
        from acp_tui.permissions.subject_reader import subject_of_command

        command, args = params.text("command"), params.texts("args")
        cwd = params.text("cwd") if params.values.get("cwd") is not None else self._cwd_of(params)
        env = params.variables("env")
        with ExitStack() as stack:
            folder = stack.enter_context(await asyncio.to_thread(open_folder, cwd))
            with folder.working_directory() as directory:
                is_line = is_command_line(command, args, directory)
            read = partial(
                subject_of_command, command, args, env=env, context=self._path_context, is_line=is_line
            )
            subject = await self._analyse(partial(read, cwd=self._target(folder)))
            named = subject.cwd
            if named is not None and named.real != str(folder.real):  # because of a leading `cd`
                try:
                    inner = stack.enter_context(await asyncio.to_thread(open_folder, named.path))
                except Refusal:  # let the shell report that the folder is missing
                    subject = await self._analyse(partial(read, cwd=self._target(folder), follow_cd=False))
                else:
                    if str(inner.real) != named.real:
                        raise Refusal(RESOURCE_NOT_FOUND, f"{named.path} was replaced meanwhile")
                    folder, subject = inner, subject.evolve(cwd=self._target(inner))
            await self._guard(params, Question(params.request_id, "command", subject, GUARD_OPTIONS, why=""))
            assert subject.run is not None
            words = (subject.run,) if isinstance(subject.run, str) else subject.run
            terminal = await self._terminals.create(
                words[0],
                words[1:],
                env=env,
                cwd=folder,
                output_byte_limit=params.number("outputByteLimit"),
                is_line=isinstance(subject.run, str) and is_line,
            )
        return {"terminalId": terminal}

    def _subagent_of(self, params: Params) -> Subagent | None:
        """Return the subagent that sent a request; None if the agent itself did."""
        return self._session.subagents.get(str(params.values.get("sessionId")))

    def _cwd_of(self, params: Params) -> str:
        """Return the working directory of the session that sent a request."""
        subagent = self._subagent_of(params)
        return (subagent.session.cwd if subagent is not None else None) or self._cwd

    def _target(self, folder: OpenFolder) -> Target:
        """Return an open folder as a `Target`. The real path decides whether the folder is in the workspace.

        The path that the agent gave can lead elsewhere by now.
        """
        inside = self._files.roots.contains(folder.real)
        why = self._files.sensitive(folder.path) or self._files.sensitive(folder.real)
        return Target(folder.path, str(folder.real), inside, why, folder.identity)

    async def _terminal_output(self, params: Params) -> dict[str, Any]:
        text, truncated, status = self._terminals.output(params.text("terminalId"))
        answer: dict[str, Any] = {"output": text, "truncated": truncated}
        if status is not None:
            answer["exitStatus"] = {"exitCode": status.exit_code, "signal": status.signal}
        return answer

    async def _wait_for_exit(self, params: Params) -> dict[str, Any]:
        status = await self._terminals.wait_for_exit(params.text("terminalId"))
        return {"exitCode": status.exit_code, "signal": status.signal}

    async def _kill_terminal(self, params: Params) -> dict[str, Any]:
        await self._terminals.kill(params.text("terminalId"))
        return {}

    async def _release_terminal(self, params: Params) -> dict[str, Any]:
        await self._terminals.release(params.text("terminalId"))
        return {}

    async def _guard(self, params: Params, question: Question) -> None:
        """Raise `Refusal` unless the rules, the policy or the user allow what a request asks for."""
        if (subagent := self._subagent_of(params)) is not None:
            question.subagent = subagent.name
        verdict = await self._gate.answer(question)
        if not verdict.allowed:
            why = "the user rejected it" if verdict.is_by_user else verdict.why
            raise Refusal(NOT_ALLOWED, f"not allowed to {question.subject.description}: {why}")


def _described(call: ToolCall) -> tuple[object, ...]:
    """Return everything in a call that says what it will do. A later change of it must be asked about."""
    diffs = [
        (part.path, part.old, part.new, part.patch, part.old_path, part.operation)
        for part in call.content
        if isinstance(part, Diff)
    ]
    texts = [part.text for part in call.content if isinstance(part, Content)]
    paths = [location.path for location in call.locations]
    return call.kind, call.name, call.raw_input, call.mcp_tool, diffs, texts, paths


def _before_write(request_id: RequestId, old: str | None, content: str, *, exists: bool) -> FileBeforeWrite:
    if not exists:
        return FileBeforeWrite(request_id)
    if old is None or len(old) > MAX_KEPT_TEXT:
        return FileBeforeWrite(request_id, known=False)
    return FileBeforeWrite(request_id, old, line_ends=list(line_ends(old, content) or ()))


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if the request is cancelled meanwhile: a half-done write cannot be undone."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    task.result()
