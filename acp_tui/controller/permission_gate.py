"""Answers permission requests, and acp-tui's own questions about files and commands.

The answer comes from a rule, the policy, an earlier answer, or the user. It is recorded as a
`Decided` event before it is sent to the agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.config.validators import POLICIES, POLICY_SUMMARIES, Policy
from acp_tui.controller.user_questions import Answer, Question, QuestionHandler, RuleOffer
from acp_tui.errors import UserError
from acp_tui.permissions.decision import Decision, Grants
from acp_tui.permissions.rule_matching import escape
from acp_tui.permissions.rule_proposals import rule_ladders
from acp_tui.permissions.rule_store import RuleStore, with_id
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_briefly, describe_rule
from acp_tui.session.events import Decided, Event, Noticed
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import PermissionOption

if TYPE_CHECKING:
    from acp_tui.permissions.subject import Subject


GUARD_OPTIONS = [
    PermissionOption("allow", "Allow once", "allow_once"),
    PermissionOption("allow-always", "Allow always", "allow_always"),
    PermissionOption("reject", "Reject", "reject_once"),
    PermissionOption("reject-always", "Reject always", "reject_always"),
]
"""The options of acp-tui's own questions, asked before it accesses a file or runs something for the agent."""
ANSWERS: tuple[Literal["allow", "reject"], ...] = ("allow", "reject")


@dataclass(slots=True)
class Verdict:
    """The decision on a question, whether made by the user, a rule or the policy."""

    allowed: bool | None  # None: dismissed without an answer
    option: PermissionOption | None
    why: str
    rule_ids: list[str] = field(default_factory=list)  # of the rules that decided, or that the answer created
    reason: str = ""  # why the user rejected it

    @property
    def is_by_user(self) -> bool:
        """Whether the user answered this question. If true, `why` is worded for the user, not the agent."""
        return self.why.startswith("you answered")


class CallChangedError(Exception):
    """The agent changed the call that a question is about. The question is neither answered nor recorded."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A question that the user is asked, and what ends it besides the user's answer."""

    question: Question
    ended: asyncio.Future[tuple[str, Verdict] | None]  # who or what answered; None: the call has changed


@dataclass(slots=True)
class PermissionGate:
    """Answers the questions of one conversation by its rules and policy, or else asks the user.

    Rules are saved for `project`. In a worktree, the project's files are in another folder, `folder`, and
    relative paths in the project's rules start in `folder`.
    """

    policy: Policy
    identity: Callable[[], AgentIdentity]  # of the agent; its name is known after `initialize`
    project: str  # the folder that rules are saved for
    note: Callable[[Event], None]
    clock: Callable[[], float]
    folder: str = ""  # where the project's files are; empty: in `project`
    rule_store: RuleStore | None = None  # remembered answers
    run_rules: list[Rule] = field(default_factory=list)  # --allow, --reject
    session_rules: list[Rule] = field(default_factory=list)
    question_handler: QuestionHandler | None = None
    grants: Grants = field(default_factory=Grants)
    _notices_shown: int = 0
    _waiting: list[_Waiting] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Assign ids to the rules from the command line."""
        self.run_rules[:] = [with_id(rule) for rule in self.run_rules]

    async def answer(self, question: Question) -> Verdict:
        """Return the verdict on a question; ask the user if necessary. Record the verdict in the session.

        Raises `CallChangedError` if the agent has changed the call meanwhile.
        """
        began = self.clock()
        by, verdict = await self._answer(question)
        if not question.is_current():
            raise CallChangedError
        verdict = _with_clear_id(question, verdict)
        self.note(
            Decided(
                request_id=question.request_id,
                by=by,
                why=verdict.why,
                allowed=verdict.allowed,
                subject=question.subject.description,
                waited=round(self.clock() - began, 3) if by == "you" else 0.0,
                rule_ids=verdict.rule_ids,
                reason=verdict.reason,
            )
        )
        if verdict.allowed and question.kind == "permission" and by != "bridge":
            self.grants.add(question.subject, question.call)
        return verdict

    def change_policy(self, policy: Policy) -> None:
        """Use this policy from the next request on, and record the change in the session."""
        if policy != self.policy:
            self.policy = policy
            level: Literal["info", "warning"] = "warning" if policy == "yolo" else "info"
            self.note(Noticed(level, f"Policy changed to {policy}: {POLICY_SUMMARIES[policy]}."))

    def turn_ended(self) -> None:
        """Discard the permissions granted in the turn but not used: they are not valid in the next turn."""
        self.grants.clear()

    async def _answer(self, question: Question) -> tuple[str, Verdict]:
        decision = self._decide(question.subject)
        # A permission request that did not describe the action clearly may have been allowed although a rule
        # rejects the action.
        rejected = decision.answer == "reject" and decision.by == "rule"
        if question.kind != "permission" and not rejected and self.grants.use(question.subject):
            return "covered", Verdict(True, question.options[0], "covered by a permission just granted")
        if (verdict := self._verdict(question, decision)) is not None:
            return decision.by, verdict
        if self.question_handler is None:
            return self._refuse(question)
        if question.asked_at_bridge and (once := question.option_once(allow=True)) is not None:
            return "bridge", Verdict(True, once, "you are asked when the call reaches acp-tui's bridge")

        offer_rules(question, decision, self.identity(), self.project, self._folder)
        return await self._ask(self.question_handler, question)

    def _verdict(self, question: Question, decision: Decision) -> Verdict | None:
        """Return the verdict of the rules or the policy; None if the user decides.

        `question.why` then says why.
        """
        question.why, question.parts = decision.why, decision.parts
        if decision.answer == "ask":
            return None
        allow = decision.answer == "allow"
        option = question.option_once(allow=allow)
        if option is not None:
            why = f"{_why(decision)}{_named_option(question, option)}"
            return Verdict(allow, option, why, self._count(decision))
        obstacle = f'the agent does not offer exactly one "{decision.answer} once" option'
        if not allow and self.question_handler is None:
            return Verdict(None, None, f"{decision.why}; {obstacle}")
        question.why = f"{decision.why}, but {obstacle}"
        return None

    def _refuse(self, question: Question) -> tuple[str, Verdict]:
        """Return "policy" and a verdict that rejects or dismisses the question: there is no user to ask."""
        option = question.option_once(allow=False)
        return "policy", Verdict(False if option else None, option, question.why)

    async def _ask(self, question_handler: QuestionHandler, question: Question) -> tuple[str, Verdict]:
        """Ask the user, until the question is answered, a changed rule answers it, or its call changes."""
        if not question.is_current():
            raise CallChangedError
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        asking = asyncio.create_task(question_handler.ask(question))
        self._waiting.append(waiting)
        try:
            with self._told_of_changed_rules():
                both: list[asyncio.Future[Any]] = [asking, waiting.ended]
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.remove(waiting)
            asking.cancel()
        if asking.done():
            answer = asking.result()
            if question.is_current():
                return "you", await self._verdict_of_user(question, answer)
        elif (decided := waiting.ended.result()) is not None:
            return decided
        raise CallChangedError

    async def _verdict_of_user(self, question: Question, answer: Answer) -> Verdict:
        if answer.option is None:
            return Verdict(None, None, "dismissed without an answer")
        rule_ids = [await self._remember(rule) for rule in answer.rules]
        saved = " and ".join(describe_rule(rule) for rule in answer.rules)
        noun = "new rule" if len(answer.rules) == 1 else "new rules"
        why = f"you answered; {noun}: {saved}" if saved else "you answered"
        own = bool(answer.rules) or answer.option in question.own_options
        sent = _option_to_send(question, answer.option) if own else answer.option
        return Verdict(answer.option.kind.startswith("allow"), sent, why, rule_ids, answer.reason)

    def rules_changed(self) -> None:
        """Decide the questions that wait for the user again."""
        for waiting in [one for one in self._waiting if not one.ended.done()]:
            decision = self._decide(waiting.question.subject)
            if (verdict := self._verdict(waiting.question, decision)) is not None:
                waiting.ended.set_result((decision.by, verdict))

    def call_changed(self, question: Question) -> None:
        """Withdraw a question from the user, because the agent has changed the call."""
        for waiting in self._waiting:
            if waiting.question is question and not waiting.ended.done():
                waiting.ended.set_result(None)

    @contextmanager
    def _told_of_changed_rules(self) -> Iterator[None]:
        """Have `rules_changed` called when a rule is saved, changed or revoked in any conversation."""
        if self.rule_store is None:
            yield
            return
        loop = asyncio.get_running_loop()
        with self.rule_store.listening(lambda: loop.call_soon_threadsafe(self.rules_changed)):
            yield

    def _decide(self, subject: Subject) -> Decision:
        from acp_tui.permissions.decision import decide

        return decide(
            subject,
            policy=self.policy,
            rules=[*self._located([*self.session_rules, *self._remembered()])],
            run_rules=self.run_rules,
            agent=self.identity(),
            project=self._folder,
            interactive=self.question_handler is not None,
        )

    def _remembered(self) -> list[Rule]:
        if self.rule_store is None:
            return []
        rules = self.rule_store.rules()
        for sentence in self.rule_store.notices[self._notices_shown :]:
            self.note(Noticed("warning", sentence))
        self._notices_shown = len(self.rule_store.notices)
        return rules

    @property
    def _folder(self) -> str:
        return self.folder or self.project

    def _located(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """Yield the rules, changing those that are saved for `project` so that they apply in `folder`.

        A rule that rejects a relative path then rejects the path in both `project` and `folder`.
        """
        for rule in rules:
            if rule.project != self.project or self._folder == self.project:
                yield rule
                continue
            yield rule.evolve(project=self._folder)
            if rule.decision == "reject" and rule.path is not None and not rule.path.startswith("/"):
                yield rule.evolve(project=self._folder, path=f"{escape(self.project)}/{rule.path}")

    def _count(self, decision: Decision) -> list[str]:
        """Return the ids of the rules that led to the decision; count a match of each if there is a store."""
        if self.rule_store is not None:
            self.rule_store.matches.add(decision.rules, self.clock())
        return [rule.id for rule in decision.rules if rule.id]

    async def _remember(self, rule: Rule) -> str:
        """Save a rule, or add it to the rules of the session, and return its id."""
        if rule.scope != "session" and self.rule_store is not None:
            try:  # in a thread: another process may hold the lock
                return (await asyncio.to_thread(self.rule_store.add, rule)).id
            except UserError as error:  # the answer applies nevertheless
                self.note(Noticed("warning", f"{error} The rule applies to this session only."))
        rule = with_id(rule)
        self.session_rules.append(rule)
        asyncio.get_running_loop().call_soon(self.rules_changed)
        return rule.id


def _why(decision: Decision) -> str:
    """Return why a request was answered without asking: 'allowed by rule: `ls` exactly · …'."""
    by_policy = decision.by == "policy" or decision.why.endswith(
        tuple(f' and policy "{one}"' for one in POLICIES)
    )
    if by_policy or not decision.rules:
        return decision.why
    names = " and ".join(describe_briefly(rule) for rule in decision.rules)
    return f"{decision.answer}ed by {'rule' if len(decision.rules) == 1 else 'rules'}: {names}"


def _named_option(question: Question, chosen: PermissionOption) -> str:
    """Return which of several options that allow once is sent, as the end of a sentence; otherwise ""."""
    if sum(option.kind == chosen.kind for option in question.options) == 1:
        return ""
    return f', with the agent\'s option "{escape_invisible_line(chosen.name)}"'


def _with_clear_id(question: Question, verdict: Verdict) -> Verdict:
    """Return the verdict, without its option if the agent uses the option's id for another kind of answer."""
    sent = verdict.option
    if sent is None or all(option.kind == sent.kind for option in question.options if option.id == sent.id):
        return verdict
    why = f"{verdict.why}; cancelled, because the agent uses one id for different options"
    return replace(verdict, allowed=None if verdict.allowed else verdict.allowed, option=None, why=why)


def _option_to_send(question: Question, chosen: PermissionOption) -> PermissionOption:
    """Return the option to send to the agent.

    Called if the user's choice becomes a rule of acp-tui, or is an option that acp-tui added.

    The agent's own "always" would be broader than that rule. So its "allow once" (or "reject once") is sent
    instead. If it is unclear which option that is, the chosen option is sent.
    """
    return question.option_once(allow=chosen.kind.startswith("allow")) or chosen


def offer_rules(
    question: Question, decision: Decision, agent: AgentIdentity, project: str, folder: str
) -> None:
    """Add to a question the parts of its command, the rules that "always" can save, and "always" options.

    If the user chooses an added "always" option, the agent gets its own "once" option as the answer. So
    "Always allow" is added only if it is clear which option allows once, and the agent offers no
    `allow_always` option. The same applies to "Always reject".

    The rules are for `project`. Its files are in `folder`, which differs from `project` only in a worktree.
    """
    ladders: dict[str, list[tuple[Rule, ...]]] = {}
    offered = {option.kind for option in question.options}
    question.parts = decision.parts
    for word in ANSWERS:
        kind = f"{word}_always"
        found = rule_ladders(
            question.subject, decision, answer=word, scope="project", agent=agent, project=folder
        )
        if not found:
            continue
        ladders[kind] = [tuple(rule.evolve(project=project) for rule in ladder.rules) for ladder in found]
        if word == "reject":  # rejecting one part rejects the whole command
            ladders[kind] = [_merge(ladders[kind])]
        if kind not in offered and question.option_once(allow=word == "allow"):
            question.own_options.append(PermissionOption("", f"Always {word}", kind))
    question.offer = RuleOffer(agent, project, ladders)


def _merge(ladders: list[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Return the rules of all ladders (see `RuleOffer`) as one ladder, without duplicates."""
    rungs = chain(*zip_longest(*ladders))
    return tuple(dict.fromkeys(rule for rule in rungs if rule is not None))
