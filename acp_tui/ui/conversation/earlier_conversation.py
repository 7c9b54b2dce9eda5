"""Going back to an earlier prompt: a new session gets the conversation before that prompt as text.

The protocol cannot remove turns from a session, and a forked session begins with all of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acp_tui.session.attachment import CONVERSATION_URI
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import escape_controls
from acp_tui.session.state import AgentMessage, Diff, Entry, Plan, Session, ToolCall, UserMessage

if TYPE_CHECKING:
    from acp_tui.ui.dialogs.base_screen import BaseScreen
    from acp_tui.workspace.baseline.restore import ReplacedFile


MAX_CHARACTERS = 200_000
"""The maximum number of characters of the attached conversation.

The beginning of a longer conversation is cut off, to leave room in the agent's context.
"""
CONTINUED = (
    "This is a new session: the agent knows only what the prompt and its attachments say. "
    "The earlier session is kept and can be resumed."
)
_OMITTED = "(The beginning of the conversation is omitted.)\n\n"
MAX_PROMPTS_CHARACTERS, MAX_PROMPT_CHARACTERS = 5_000, 1_000
"""The maximum numbers of characters: of all prompts together, and of each single prompt."""
MAX_ANSWERS, MAX_ANSWER_CHARACTERS = 3, 2_000
MAX_FILES = 40
MAX_PLAN_ITEMS, MAX_PLAN_ITEM_CHARACTERS = 30, 200
INTRODUCTION = (
    "You do not remember the conversation that is summarized below. The summary was made by my client, "
    "not by you or me. Use it as background for my next request; do not act on it alone."
)
_TAG = "earlier_conversation"
_DONE = {"completed": "x"}


class PromptDraft(NamedTuple):
    """An unsent prompt for a new session."""

    text: str
    blocks: list[dict[str, Any]]  # the content of its attachments
    replaced: Sequence[ReplacedFile] = ()  # by the rewind that led to the new session


class NewSession(Protocol):
    """Creates the screen of a new session with the same agent in the same folder."""

    def __call__(self, draft: PromptDraft | None) -> BaseScreen:
        """Return the screen of the new session, with the draft, if any, in the prompt."""


def prompt_with_earlier_conversation(session: Session, number: int) -> PromptDraft:
    """Return a draft: prompt `number` (from 1), with everything before that prompt attached as Markdown."""
    from acp_tui.ui.entries.messages import attachment_blocks, prompt_text

    prompt = session.prompts[number - 1]
    text, blocks = escape_controls(prompt_text(prompt)), attachment_blocks(prompt)
    if number == 1:
        return PromptDraft(text, blocks)
    resource = {"uri": CONVERSATION_URI, "text": _markdown(session, session.entries[: prompt.id])}
    earlier = {"type": "resource", "resource": resource}
    return PromptDraft(f"{text}\n\n[earlier conversation]", [earlier, *blocks])


def _markdown(session: Session, entries: list[Entry]) -> str:
    from acp_tui.export.as_markdown import as_markdown
    from acp_tui.export.document import SessionMetadata

    kept = copy.copy(session)
    kept.entries = entries
    text = as_markdown(kept, SessionMetadata())
    return text if len(text) <= MAX_CHARACTERS else _OMITTED + text[-MAX_CHARACTERS:]


def summary_prompt(session: Session) -> str:
    """Return the summary, with an introduction for the agent; "" if there is nothing to summarize.

    The summary has the user's prompts, the last answers, the changed files and the plan, each within a limit.
    """
    if not session.prompts:
        return ""
    sections = [
        ("My requests, oldest first", list(_prompts(session.prompts))),
        ("Your last answers", list(_answers(session.entries))),
        ("Files that you changed", list(_files(session.entries))),
        ("Your plan", list(_plan(session.entries))),
    ]
    text = "\n\n".join("\n".join([f"{title}:", *lines]) for title, lines in sections if lines)
    text = re.sub(rf"</(?=\s*{_TAG})", "< /", escape_controls(text), flags=re.IGNORECASE)
    return f"{INTRODUCTION}\n\n<{_TAG}>\n{text}\n</{_TAG}>\n\n"


def _prompts(prompts: list[UserMessage]) -> Iterator[str]:
    """Yield how many prompts are omitted, if any are, and then the latest prompts, within the limits."""
    texts = [_shorten(_typed_text(prompt), MAX_PROMPT_CHARACTERS) for prompt in prompts]
    omitted, room = len(texts), MAX_PROMPTS_CHARACTERS
    while omitted and (room := room - len(texts[omitted - 1])) >= 0:
        omitted -= 1
    if omitted:
        yield f"({omitted:,} earlier requests are omitted)"
    yield from (f"{number}. {text}" for number, text in enumerate(texts[omitted:], omitted + 1))


def _typed_text(prompt: UserMessage) -> str:
    return "".join(str(part) for part in prompt.parts if isinstance(part, GrowingText)).strip()


def _answers(entries: list[Entry]) -> Iterator[str]:
    """Yield the last message of each of the latest turns."""
    found: dict[int, str] = {}
    for entry in reversed(entries):
        if isinstance(entry, AgentMessage) and entry.turn not in found and (text := entry.text.strip()):
            found[entry.turn] = text
            if len(found) == MAX_ANSWERS:
                break
    for turn in sorted(found):
        yield f"- {_shorten(found[turn], MAX_ANSWER_CHARACTERS)}"


def _files(entries: list[Entry]) -> Iterable[str]:
    calls = (entry for entry in entries if isinstance(entry, ToolCall))
    paths = dict.fromkeys(part.path for call in calls for part in call.content if isinstance(part, Diff))
    lines = [f"- {path}" for path in paths][:MAX_FILES]
    return [*lines, f"- … and {len(paths) - MAX_FILES:,} more"] if len(paths) > MAX_FILES else lines


def _plan(entries: list[Entry]) -> Iterator[str]:
    """Yield the steps of the latest plan.

    `Session.plan` is not used: it is emptied when a new session is opened.
    """
    plan = next((entry for entry in reversed(entries) if isinstance(entry, Plan)), None)
    for item in plan.items[:MAX_PLAN_ITEMS] if plan is not None and not plan.removed else ():
        yield f"- [{_DONE.get(item.status, ' ')}] {_shorten(item.content, MAX_PLAN_ITEM_CHARACTERS)}"


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
