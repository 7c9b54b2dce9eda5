"""Restoring mode, model and options of a reopened session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_tui.app_context import AppContext
from acp_tui.session.state import Notice
from tests.controller.conftest import restart

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controller.conftest import Converse
    from tests.support.scripted_conversation import ScriptedConversation

RESUMES: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}
MODES = {
    "currentModeId": "build",
    "availableModes": [{"id": "build", "name": "Build"}, {"id": "plan", "name": "Plan"}],
}
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}],
}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
OFFERED = {"modes": MODES, "models": MODELS, "configOptions": [FAST]}


def offers(session: dict[str, Any], **more: Any) -> str:
    return json.dumps({"capabilities": RESUMES, "session": session, **more})


def sent_settings_and_prompts(chat: ScriptedConversation) -> list[tuple[str, Any]]:
    """Return method and value of the requests sent since the session was last opened."""
    sent = [record.frame for record in chat.records if record.direction == "sent"]
    found: list[tuple[str, Any]] = []
    for frame in sent:
        method, params = frame.get("method", ""), frame.get("params", {})
        if method in ("session/new", "session/resume"):
            found.clear()
        elif method.startswith("session/"):
            found.append((method, params.get("modeId") or params.get("modelId") or params.get("value")))
    return found


async def change_all_settings(chat: ScriptedConversation) -> None:
    conversation = await chat.open()
    await conversation.set_mode("plan")
    await conversation.set_model("large")
    await conversation.set_config_option("fast", True)


async def test_settings_are_restored_after_a_restart_before_the_next_prompt(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await change_all_settings(chat)
    await restart(chat.conversation)
    await chat.prompt(["say", "ready"])
    assert sent_settings_and_prompts(chat) == [
        ("session/set_model", "large"),
        ("session/set_config_option", True),
        ("session/set_mode", "plan"),
        ("session/prompt", None),
    ]
    assert (chat.session.mode, chat.session.model) == ("plan", "large")
    assert chat.notices()[-1] == "Restored Model: Large, Fast: on, Mode: Plan"


async def test_two_options_of_the_same_category_are_both_restored(converse: Converse) -> None:
    models = [
        model_option("main", "Model", "small", "large"),
        model_option("sub", "Subagents", "mini", "maxi"),
    ]
    chat = converse("script", offers({"configOptions": models}))
    conversation = await chat.open()
    await conversation.set_config_option("main", "large")
    await conversation.set_config_option("sub", "maxi")
    await restart(conversation)
    assert chat.notices()[-1] == "Restored Model: large, Subagents: maxi"
    assert [option.current for option in chat.session.config_options] == ["large", "maxi"]


def model_option(option_id: str, name: str, *values: str) -> dict[str, Any]:
    """Return a config option of the category `model`. Its first value is the current one."""
    choices = [{"value": value, "name": value} for value in values]
    option = {"id": option_id, "name": name, "type": "select", "category": "model"}
    return {**option, "currentValue": values[0], "options": choices}


async def test_settings_are_restored_in_a_resumed_session(converse: Converse, home: Path) -> None:
    first = converse("script", offers(OFFERED))
    await change_all_settings(first)
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    second = converse("script", offers(OFFERED), resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    assert [setting.value_name for setting in second.session.settings.values()] == ["Plan", "on", "Large"]
    assert second.session.mode == "plan"
    assert second.replayed().settings == second.session.settings


async def test_a_fork_keeps_the_settings(converse: Converse, home: Path) -> None:
    offered = {"session": OFFERED, "capabilities": {"sessionCapabilities": {"resume": {}, "fork": {}}}}
    first = converse("script", json.dumps(offered))
    await change_all_settings(first)
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    fork = converse("script", json.dumps(offered), resumed=stored, fork=True)
    await fork.conversation.start()
    await fork.conversation.open_fork("session-1")
    assert [setting.value_name for setting in fork.session.settings.values()] == ["Plan", "on", "Large"]
    assert fork.session.mode == "plan"
    assert "Agent restarted" not in [
        entry.text for entry in fork.session.entries if isinstance(entry, Notice)
    ]


async def test_an_agent_that_forks_only_loaded_sessions_is_asked_to_load_first(
    converse: Converse, home: Path
) -> None:
    offered = {
        "capabilities": {"loadSession": True, "sessionCapabilities": {"fork": {}}},
        "refuses_once": ["session/fork"],
    }
    first = converse("script", json.dumps(offered))
    await first.open()
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    fork = converse("script", json.dumps(offered), resumed=stored, fork=True)
    await fork.conversation.start()
    await fork.conversation.open_fork("session-1")
    assert fork.session.session_id == "session-1-fork"


async def test_a_refused_setting_is_a_warning_with_both_values(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.prompt(["update", {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}])
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses=["session/set_mode"])
    await restart(chat.conversation)
    last = chat.session.entries[-1]
    assert isinstance(last, Notice)
    assert last.level == "warning"
    assert last.text == "Mode is Build, no longer Plan: The setting is locked"


async def test_a_setting_that_is_no_longer_offered_is_a_warning(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await change_all_settings(chat)
    models = {"currentModelId": "small", "availableModels": MODELS["availableModels"][:1]}
    chat.conversation.launch.command[-1] = offers({"modes": MODES, "models": models, "configOptions": []})
    await restart(chat.conversation)
    assert "Model is Small, no longer Large: the agent no longer offers Large" in chat.notices()
    assert "Fast is no longer on: the agent no longer offers this setting" in chat.notices()
    assert "Restored Mode: Plan" in chat.notices()


async def test_settings_are_restored_if_the_agent_does_not_report_them(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.conversation.set_mode("plan")
    chat.conversation.launch.command[-1] = offers({})
    await restart(chat.conversation)
    assert ("session/set_mode", "plan") in sent_settings_and_prompts(chat)
    assert chat.session.mode == "plan"


async def test_settings_are_restored_in_a_new_session_that_replaces_a_lost_one(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await change_all_settings(chat)
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses=["session/resume"])
    await restart(chat.conversation)
    assert chat.session.mode == "plan"
    assert ("session/set_mode", "plan") in sent_settings_and_prompts(chat)


async def test_unchanged_settings_are_not_set_again(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await restart(chat.conversation)
    assert sent_settings_and_prompts(chat) == []
    assert not any("Restored" in text or "no longer" in text for text in chat.notices())


async def test_a_refused_setting_is_tried_again_at_the_next_restart(
    converse: Converse,
) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.conversation.set_mode("plan")
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses=["session/set_mode"])
    await restart(chat.conversation)
    chat.conversation.launch.command[-1] = offers(OFFERED)
    await restart(chat.conversation)
    assert chat.session.mode == "plan"


async def test_a_setting_refused_as_already_set_is_set_to_another_value_first(
    converse: Converse,
) -> None:
    """Kimi Code reports its default mode, but is in plan mode and refuses to enter it again."""
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.conversation.set_mode("plan")
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses_once=["session/set_mode"])
    await restart(chat.conversation)
    assert [value for method, value in sent_settings_and_prompts(chat) if method == "session/set_mode"] == [
        "plan",
        "build",
        "plan",
    ]
    assert chat.session.mode == "plan"
