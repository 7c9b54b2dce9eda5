"""Qwen Code's questions to the user, which it sends as permission requests.

Qwen Code does not use elicitations. The questions are in the `_meta` of the request's tool call, and it reads
the answers from a field that the protocol does not have: `answers`, beside `outcome`. So they are sent only
to an agent whose catalogue entry says `question_answers = "qwen"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acp_tui.protocol import values

MAX_QUESTIONS = 20
"""The maximum number of questions in a form. Qwen Code asks at most four at once."""

_OTHER = "Type an answer of your own, which replaces the choice above (optional)."


@dataclass(frozen=True, slots=True)
class QwenQuestions:
    """The questions of one permission request, as a form."""

    message: str  # as sent
    schema: dict[str, Any]  # the schema of the form

    def answers(self, content: Mapping[str, Any]) -> dict[str, str]:
        """Return the answers in the form's content as Qwen Code expects them: by the question's number.

        Several values chosen for one question are joined with commas, as in Qwen Code's own screen.
        """
        found: dict[str, str] = {}
        for number in range(MAX_QUESTIONS):
            own, chosen = content.get(f"own_{number}"), content.get(f"question_{number}")
            texts = chosen if isinstance(chosen, list) else [chosen]
            answer = own or ", ".join(text for text in texts if isinstance(text, str))
            if isinstance(answer, str) and answer:
                found[str(number)] = answer
        return found


def read_questions(params: dict[str, Any]) -> QwenQuestions | None:
    """Return the questions in the params of a permission request; None if it is an ordinary request."""
    meta = values.obj(values.obj(params.get("toolCall")).get("_meta"))
    if meta.get("qwenInteractionKind") != "user_question":
        return None
    questions = [values.obj(item) for item in values.items(meta.get("qwenQuestions"))[:MAX_QUESTIONS]]
    if not any(_text(question, "question") for question in questions):
        return None
    alone = len(questions) == 1
    fields: dict[str, Any] = {}
    for number, question in enumerate(questions):
        asked = "" if alone else _text(question, "question")
        title = _text(question, "header") or f"Question {number + 1}"
        fields[f"question_{number}"] = {"title": title, "description": asked, **_choice(question)}
        other = "Other" if alone else f"{title}: other"
        fields[f"own_{number}"] = {"type": "string", "title": other, "description": _OTHER}
    message = values.text(questions[0], "question") or "" if alone else f"{len(questions)} questions"
    return QwenQuestions(message, {"type": "object", "properties": fields})


def _choice(question: dict[str, Any]) -> dict[str, Any]:
    """Return the schema for the answer to one question: one of its options, several, or any text."""
    options = [
        {"const": label, "title": label, "description": _text(option, "description")}
        for item in values.items(question.get("options"))
        if (label := _text(option := values.obj(item), "label"))
    ]
    if not options:
        return {"type": "string"}
    if question.get("multiSelect") is True:
        return {"type": "array", "items": {"type": "string", "oneOf": options}}
    return {"type": "string", "oneOf": options}


def _text(source: dict[str, Any], name: str) -> str:
    found = source.get(name)
    return found if isinstance(found, str) else ""
