"""Settings that are kept over a restart of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.events import AgentExited, AgentStarted, SettingsRestored
from acp_tui.session.offered_options import options_by_key
from acp_tui.session.state import Notice
from tests.session.test_lifecycle import OPTIONS, TWO_MODES
from tests.support.talk import Talk

if TYPE_CHECKING:
    from typing import Any

CODE = "https://x/code"


def values(talk: Talk) -> dict[str, str | bool]:
    return {key: setting.value for key, setting in talk.session.settings.items()}


def reopened(talk: Talk, result: dict[str, Any]) -> None:
    """Restart the agent, which resumes the session with these settings."""
    talk.client(AgentExited(expected=True))
    talk.client(AgentStarted(["agent"], "/w"))
    talk.ask("session/resume", {"sessionId": "s1", "cwd": "/w"}, result)


def in_code_mode() -> Talk:
    talk = Talk()
    talk.client(AgentStarted(["agent"], "/w"))
    talk.opened({"modes": TWO_MODES})
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    return talk


def test_settings_reported_after_a_restart_do_not_replace_stored_ones() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.update("current_mode_update", currentModeId="ask")
    assert talk.session.mode == "ask"
    assert values(talk) == {"mode": CODE}


def test_a_setting_that_failed_stays_stored_until_another_is_confirmed() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.client(SettingsRestored(["mode"]))
    assert values(talk) == {"mode": CODE}
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    talk.update("current_mode_update", currentModeId="ask")
    assert values(talk) == {"mode": "ask"}


def test_a_prompt_ends_the_restore_in_logs_of_earlier_versions() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.prompt("go on")
    assert values(talk) == {"mode": "ask"}


def test_a_mode_and_a_mode_option_have_the_same_key() -> None:
    talk = Talk().opened({"modes": TWO_MODES})
    assert values(talk) == {"mode": "ask"}
    talk.update("config_option_update", configOptions=OPTIONS)
    assert values(talk) == {"mode": "plan", "option:fast": False}


def test_restored_settings_get_no_notices() -> None:
    talk = in_code_mode()
    reopened(talk, {"modes": TWO_MODES})
    talk.ask("session/set_mode", {"sessionId": "s1", "modeId": CODE}, {})
    talk.client(SettingsRestored())
    assert [notice.text for notice in talk.all(Notice)].count("Mode: Code") == 1


def test_of_two_options_of_the_category_model_the_one_with_that_id_is_the_model() -> None:
    """Cline offers its provider in the same category."""
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1})
    options = [
        {
            "type": "select",
            "id": name,
            "name": name.title(),
            "category": "model",
            "currentValue": value,
            "options": [{"value": value, "name": value}],
        }
        for name, value in (("provider", "openai-compatible"), ("model", "gpt-4o"))
    ]
    talk.ask("session/new", {"cwd": "/w"}, {"sessionId": "s1", "configOptions": options})
    assert talk.session.model_option is not None
    assert talk.session.model_option.current == "gpt-4o"
    assert options_by_key(talk.session)["model"].id == "model"
    assert "option:provider" in options_by_key(talk.session)
