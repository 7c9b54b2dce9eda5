"""The settings of a session: the mode and the config options.

The protocol has two ways to offer modes: `modes`, and a config option of the category `mode`. Newer
clients prefer the config option. The demo offers both, and keeps `modes` and the option in sync.
"""

from __future__ import annotations

from dataclasses import dataclass

from acp import RequestError
from acp.schema import (
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectGroup,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean

MODES = {
    "ask": ("Ask", "Ask before editing files or running commands"),
    "auto": ("Auto", "Edit files and run commands without asking"),
    "plan": ("Plan", "Read only; refuse edits and commands"),
}
PACES = {
    "relaxed": ("Relaxed", "Slow enough to watch", 0.03),
    "quick": ("Quick", "Three times as fast as relaxed", 0.01),
    "instant": ("Instant", "No pauses", 0.0),
}


@dataclass(frozen=True)
class Model:
    """An imaginary language model, with numbers for `usage_update`."""

    name: str
    description: str
    context_window: int  # tokens
    price: float  # per 1000 tokens, in `CURRENCY`


MODELS = {
    "abacus-8k": Model("Abacus 8k", "Fictitious model: small context window, cheap", 8_000, 0.01),
    "abacus-32k": Model("Abacus 32k", "Fictitious model: medium context window", 32_000, 0.05),
    "orrery-200k": Model("Orrery 200k", "Fictitious model: large context window, expensive", 200_000, 0.25),
}
CURRENCY = "USD"
"""The currency of the made-up costs."""


@dataclass
class Settings:
    """The current settings of one session."""

    mode: str = "ask"
    pace: str = "relaxed"
    model: str = "abacus-32k"
    thoughts: bool = True

    @property
    def delay(self) -> float:
        """Seconds between two chunks of text."""
        return PACES[self.pace][2]

    def mode_state(self) -> SessionModeState:
        """Return the modes in the form that `session/new` reports."""
        return SessionModeState(
            current_mode_id=self.mode,
            available_modes=[
                SessionMode(id=key, name=name, description=description)
                for key, (name, description) in MODES.items()
            ],
        )

    def config_options(self, *, booleans: bool) -> list[ConfigOption]:
        """Return the config options. Boolean options are included only if `booleans` is true."""
        selects: list[ConfigOption] = [
            _select(
                "mode",
                "Mode",
                "What the agent may do without asking",
                "mode",
                self.mode,
                [_choice(key, *MODES[key]) for key in MODES],
            ),
            SessionConfigOptionSelect(
                type="select",
                id="model",
                name="Model",
                description="A made-up model: the demo uses no model, so only the usage numbers change",
                category="model",
                current_value=self.model,
                options=[
                    SessionConfigSelectGroup(group=family, name=family.title(), options=_models(family))
                    for family in ("abacus", "orrery")
                ],
            ),
            _select(
                "pace",
                "Pace",
                "How fast the agent types",
                None,
                self.pace,
                [_choice(key, *PACES[key][:2]) for key in PACES],
            ),
        ]
        if not booleans:
            return selects
        return [
            *selects,
            SessionConfigOptionBoolean(
                type="boolean",
                id="thoughts",
                name="Thoughts",
                category="thought_level",
                description="Send simulated thoughts",
                current_value=self.thoughts,
            ),
        ]

    def set(self, option: str, value: str | bool) -> None:
        """Change an option. Raises an "invalid params" error for unknown options or values."""
        known: dict[str, dict[str, object]] = {"mode": {**MODES}, "model": {**MODELS}, "pace": {**PACES}}
        if option == "thoughts" and isinstance(value, bool):
            self.thoughts = value
        elif option in known and value in known[option]:
            setattr(self, option, value)
        else:
            raise RequestError.invalid_params({"details": f"Cannot set {option!r} to {value!r}"})


def _choice(value: str, name: str, description: str) -> SessionConfigSelectOption:
    return SessionConfigSelectOption(value=value, name=name, description=description)


def _models(family: str) -> list[SessionConfigSelectOption]:
    return [
        _choice(key, model.name, model.description) for key, model in MODELS.items() if key.startswith(family)
    ]


def _select(
    key: str,
    name: str,
    description: str,
    category: str | None,
    current: str,
    choices: list[SessionConfigSelectOption],
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect.model_validate(
        {
            "type": "select",
            "id": key,
            "name": name,
            "description": description,
            "category": category,
            "currentValue": current,
            "options": choices,
        }
    )
