"""One conversation: connects the agent, the session, the workspace and the rules. Needs no screen."""

from acp_tui.connection.errors import SignInNeeded
from acp_tui.controller.agent_options import leave_unasking_mode, set_defaults, set_mode, set_option
from acp_tui.controller.baseline_tracker import FileVersions
from acp_tui.controller.conversation import Conversation, Options
from acp_tui.controller.session_opener import McpServerStatus
from acp_tui.controller.sign_in_command import (
    failed_program_sentence,
    sign_in_command,
    unusable_method_sentence,
)
from acp_tui.controller.user_questions import Answer, FormRequest, Question, QuestionHandler
from acp_tui.workspace.baseline.file_change import FileChange

__all__ = [
    "Answer",
    "Conversation",
    "FileChange",
    "FileVersions",
    "FormRequest",
    "McpServerStatus",
    "Options",
    "Question",
    "QuestionHandler",
    "SignInNeeded",
    "failed_program_sentence",
    "leave_unasking_mode",
    "set_defaults",
    "set_mode",
    "set_option",
    "sign_in_command",
    "unusable_method_sentence",
]
