"""A reopened session has the mode, model and options that it had before."""

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


def calls(chat: ScriptedConversation) -> list[tuple[str, Any]]:
    """What was sent since the last opening: the settings and the prompts."""
    sent = [record.frame for record in chat.records if record.direction == "sent"]
    found: list[tuple[str, Any]] = []
    for frame in sent:
        method, params = frame.get("method", ""), frame.get("params", {})
        if method in ("session/new", "session/resume"):
            found.clear()
        elif method.startswith("session/"):
            found.append((method, params.get("modeId") or params.get("modelId") or params.get("value")))
    return found


async def with_all_changed(chat: ScriptedConversation) -> None:
    conversation = await chat.open()
    await conversation.set_mode("plan")
    await conversation.set_model("large")
    await conversation.set_config_option("fast", True)


async def test_after_a_restart_everything_is_set_again_before_the_next_prompt(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await with_all_changed(chat)
    await restart(chat.conversation)
    await chat.prompt(["say", "ready"])
    assert calls(chat) == [
        ("session/set_model", "large"),
        ("session/set_config_option", True),
        ("session/set_mode", "plan"),
        ("session/prompt", None),
    ]
    assert (chat.session.mode, chat.session.model) == ("plan", "large")
    assert chat.notices()[-1] == "Restored Model: Large, Fast: on, Mode: Plan"


async def test_a_session_resumed_on_another_day_has_its_settings_again(
    converse: Converse, home: Path
) -> None:
    first = converse("script", offers(OFFERED))
    await with_all_changed(first)
    await first.conversation.close()
    [stored] = [AppContext.open(home).stored("session-1")]
    second = converse("script", offers(OFFERED), resumed=stored)
    await second.conversation.start()
    await second.conversation.open_known("session-1")
    assert [setting.value_name for setting in second.session.settings.values()] == ["Plan", "on", "Large"]
    assert second.session.mode == "plan"
    assert second.replayed().settings == second.session.settings


async def test_what_the_agent_refuses_is_a_warning_that_names_both_values(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.prompt(["update", {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}])
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses=["session/set_mode"])
    await restart(chat.conversation)
    last = chat.session.entries[-1]
    assert isinstance(last, Notice)
    assert last.level == "warning"
    assert last.text == "Mode is Build, no longer Plan: Not in this mood"


async def test_what_is_no_longer_offered_is_a_warning(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await with_all_changed(chat)
    models = {"currentModelId": "small", "availableModels": MODELS["availableModels"][:1]}
    chat.conversation.launch.command[-1] = offers({"modes": MODES, "models": models, "configOptions": []})
    await restart(chat.conversation)
    assert "Model is Small, no longer Large: the agent no longer offers Large" in chat.notices()
    assert "Fast is no longer on: the agent no longer offers this setting" in chat.notices()
    assert "Restored Mode: Plan" in chat.notices()


async def test_an_agent_that_does_not_say_what_is_set_is_told(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.conversation.set_mode("plan")
    chat.conversation.launch.command[-1] = offers({})
    await restart(chat.conversation)
    assert ("session/set_mode", "plan") in calls(chat)
    assert chat.session.mode == "plan"


async def test_a_new_session_in_place_of_a_forgotten_one_gets_the_settings_too(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await with_all_changed(chat)
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses=["session/resume"])
    await restart(chat.conversation)
    assert chat.session.mode == "plan"
    assert ("session/set_mode", "plan") in calls(chat)


async def test_nothing_is_set_when_the_agent_has_kept_it(converse: Converse) -> None:
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await restart(chat.conversation)
    assert calls(chat) == []
    assert not any("Restored" in text or "no longer" in text for text in chat.notices())


async def test_a_setting_that_the_agent_refused_is_tried_again_at_the_next_restart(
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


async def test_an_agent_that_has_the_value_without_reporting_it_is_brought_in_step(
    converse: Converse,
) -> None:
    """Kimi Code reports its default mode, and refuses plan mode because it is in it."""
    chat = converse("script", offers(OFFERED))
    await chat.open()
    await chat.conversation.set_mode("plan")
    chat.conversation.launch.command[-1] = offers(OFFERED, refuses_once=["session/set_mode"])
    await restart(chat.conversation)
    assert [value for method, value in calls(chat) if method == "session/set_mode"] == [
        "plan",
        "build",
        "plan",
    ]
    assert chat.session.mode == "plan"
