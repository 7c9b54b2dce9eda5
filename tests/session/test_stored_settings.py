"""`Session.settings`: what survives a restart, from the log alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.events import AgentExited, AgentStarted, SettingsRestored
from acp_tui.session.state import Notice
from tests.session.test_lifecycle import OPTIONS, TWO_MODES
from tests.support.talk import Talk

if TYPE_CHECKING:
    from typing import Any

CODE = "https://x/code"


def values(talk: Talk) -> dict[str, str | bool]:
    return {key: setting.value for key, setting in talk.session.settings.items()}


def reopened(talk: Talk, result: dict[str, Any]) -> None:
    """The agent is started again and resumes the session with these settings."""
    talk.client(AgentExited(expected=True))
    talk.client(AgentStarted(["agent"], "/w"))
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, result)


def in_code_mode() -> Talk:
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened({"modes": TWO_MODES})
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    return talk


def test_what_the_agent_reports_when_it_reopens_a_session_does_not_replace_what_was_set() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.update("current_mode_update", currentModeId="ask")
    assert talk.session.mode == "ask"
    assert values(talk) == {"mode": CODE}


def test_what_could_not_be_set_stays_wanted_until_another_value_is_confirmed() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.client(SettingsRestored(["mode"]))
    assert values(talk) == {"mode": CODE}
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    talk.update("current_mode_update", currentModeId="ask")
    assert values(talk) == {"mode": "ask"}


def test_in_a_log_of_an_earlier_version_a_prompt_accepts_what_is_set() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.prompt("go on")
    assert values(talk) == {"mode": "ask"}


def test_a_mode_keeps_its_key_when_it_becomes_an_option() -> None:
    talk = Talk().opened({"modes": TWO_MODES})
    assert values(talk) == {"mode": "ask"}
    talk.update("config_option_update", configOptions=OPTIONS)
    assert values(talk) == {"mode": "plan", "option:fast": False}


def test_settings_that_are_set_again_have_no_line_each() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    talk.client(SettingsRestored())
    assert [notice.text for notice in talk.all(Notice)].count("Mode: Code") == 1
