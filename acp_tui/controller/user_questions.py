"""Questions to the user and their answers. The screen implements `QuestionHandler`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from acp_tui.permissions.decision import PartVerdict
    from acp_tui.permissions.rules import AgentIdentity, Rule
    from acp_tui.permissions.subject import Subject
    from acp_tui.schema_form.values import FormAnswer
    from acp_tui.session.state import Diff, Elicitation, PermissionOption, RequestId, ToolCall


@dataclass(frozen=True, slots=True)
class RuleOffer:
    """The rules that "always" can save, and the agent and folder to which they apply.

    `ladders` maps a kind of option, such as `allow_always`, to one ladder for each rule that such an option
    saves. A ladder lists the versions of one rule, from exact to wide. The user chooses a version.
    """

    agent: AgentIdentity
    project: str
    ladders: dict[str, list[tuple[Rule, ...]]]


@dataclass(slots=True)
class Question:
    """A permission request from the agent, or a question that acp-tui asks before it acts for the agent.

    `kind` is "tool" for calls to acp-tui's own MCP server, and "mcp" for calls to any other MCP server.
    """

    request_id: RequestId
    kind: Literal["permission", "read", "write", "command", "tool", "mcp"]
    subject: Subject
    options: list[PermissionOption]
    why: str  # why no rule and no policy answered it
    call: ToolCall | None = None  # permission: the merged tool call; tool and mcp: the call
    other_session: str = ""  # the id of the session that asks, if it is neither ours nor a subagent's
    subagent: str = ""  # the name of the subagent that asks, if one does
    # Pairs: a diff in `call` that shows a part of a file, and the same change as a diff of the whole file.
    whole_file_diffs: list[tuple[Diff, Diff]] = field(default_factory=list)
    old_text: str | None = None  # write: the file's current text
    new_text: str | None = None  # write: its text if the write is allowed
    parts: tuple[PartVerdict, ...] = ()  # of a composite command
    facts: tuple[tuple[str, str], ...] = ()  # tool, mcp: labels and values to show, such as an address
    # "Always" options of acp-tui, for kinds that the agent does not offer; never sent to the agent.
    own_options: list[PermissionOption] = field(default_factory=list)
    offer: RuleOffer | None = None  # the rules for "always"; None until the user is asked
    asked_at_bridge: bool = False  # of an MCP call whose facts only the bridge knows, which asks about them
    is_current: Callable[[], bool] = lambda: True  # returns False once the agent has changed `call`
    was_changed: bool = False  # asked again, because the agent changed the call after the first question
    once_option: str = ""  # the id of the option that allows once, if the agent is known to offer several

    def option_once(self, *, allow: bool) -> PermissionOption | None:
        """Return the option that allows or rejects once, see `choose_option`."""
        return choose_option(self.options, allow, self.once_option)

    def ladders(self, kind: str) -> list[tuple[Rule, ...]]:
        """Return one ladder for each rule that an option of this kind saves; see `RuleOffer`."""
        return self.offer.ladders.get(kind, []) if self.offer is not None else []


@dataclass(slots=True)
class Answer:
    """The user's answer to a question. `option` is None if the question was dismissed."""

    option: PermissionOption | None
    rules: tuple[Rule, ...] = ()  # to be saved
    reason: str = ""  # of a rejection, for the agent


@dataclass(frozen=True, slots=True)
class FormRequest:
    """A form from the agent, or from an MCP server behind a bridge, for the user to fill in."""

    message: str  # the question
    schema: object  # the JSON schema of the answer, as it was received
    server: str = ""  # the MCP server that asks; empty: the agent


class QuestionHandler(Protocol):
    """Asks the user for permission, or for the information that an agent requests."""

    async def ask(self, question: Question) -> Answer:
        """Ask the user a question and return the answer."""

    async def elicit(self, elicitation: Elicitation) -> FormAnswer:
        """Show a form from the agent, or the address of a page to visit, and return the user's answer."""


def choose_option(
    options: Sequence[PermissionOption], allow: bool, once_option: str = ""
) -> PermissionOption | None:
    """Return the only `allow_once` option, or the only `reject_once` option if `allow` is false.

    Of several `allow_once` options, the result is the one with the id `once_option`. The result is None if
    there is no such option. An agent's own "always" is never chosen: it would store a rule in the agent
    without the user's knowledge.
    """
    wanted = "allow_once" if allow else "reject_once"
    found = [option for option in options if option.kind == wanted]
    if allow and len(found) > 1:
        found = [option for option in found if once_option and option.id == once_option]
    return found[0] if len(found) == 1 else None
