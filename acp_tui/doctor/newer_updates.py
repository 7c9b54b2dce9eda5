"""Models that the SDK does not have yet: for notices and compactions, as in version 1 of the schema."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _Message(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    field_meta: dict[str, Any] | None = Field(None, alias="_meta")


class Notice(_Message):
    """Information for the user, but not part of the session's history."""

    session_update: Literal["notice"]
    severity: str
    title: str = Field(min_length=1)
    description: str | None = None


class CompactionUpdate(_Message):
    """The state of a compaction of the agent's context."""

    session_update: Literal["compaction_update"]
    compaction_id: str
    status: str
    summary: list[dict[str, Any]] | None = None
    error: str | None = None


class CompactionSummaryChunk(_Message):
    """A content block that is appended to the summary of a compaction."""

    session_update: Literal["compaction_summary_chunk"]
    compaction_id: str
    content: dict[str, Any]


class _Notification(_Message):
    session_id: str


class NoticeNotification(_Notification):
    """A `session/update` with a notice."""

    update: Notice


class CompactionNotification(_Notification):
    """A `session/update` with the state of a compaction."""

    update: CompactionUpdate


class CompactionChunkNotification(_Notification):
    """A `session/update` with a part of the summary of a compaction."""

    update: CompactionSummaryChunk


NOTIFICATIONS: dict[str, type[BaseModel]] = {
    "notice": NoticeNotification,
    "compaction_update": CompactionNotification,
    "compaction_summary_chunk": CompactionChunkNotification,
}
"""The model of a `session/update` notification, by the kind of update that it contains."""
