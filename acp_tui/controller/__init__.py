"""One conversation: joins the agent, the state, the workspace and the rules. It knows no screen."""

from acp_tui.controller.agent_options import set_mode, set_option
from acp_tui.controller.conversation import Conversation, Options
from acp_tui.controller.facts import ServerGiven, Versions
from acp_tui.controller.sign_in import SignInNeeded, terminal_command
from acp_tui.controller.user_questions import Answer, Asker, ElicitationAnswer, Question
from acp_tui.workspace.baseline.changes import FileChange

__all__ = [
    "Answer",
    "Asker",
    "Conversation",
    "ElicitationAnswer",
    "FileChange",
    "Options",
    "Question",
    "ServerGiven",
    "SignInNeeded",
    "Versions",
    "set_mode",
    "set_option",
    "terminal_command",
]
