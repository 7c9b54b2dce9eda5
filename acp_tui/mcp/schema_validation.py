"""Validation of JSON values against a JSON schema, such as a tool's arguments against its input schema."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Any

from acp_tui.cpu_limit import CpuLimitError, cpu_limit
from acp_tui.schema_form.values import SchemaFault
from acp_tui.session.safe_text import escape_line, exceeds_depth, visible_excerpt

MAX_SECONDS = 0.3
"""The limit of CPU time for one check. A hostile schema can make a check take years."""
MAX_QUOTED = 60
"""The maximum length of a quoted value in a sentence."""
MAX_FAULTS = 50
"""The maximum number of faults to look for in one value."""
MAX_NAMES = 3
"""The maximum number of field names in a sentence."""

_TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


class SchemaValidator:
    """A validator for one schema.

    References are followed only within the schema and to JSON Schema's own meta-schemas. Nothing is
    downloaded.
    """

    def __init__(self, schema: object) -> None:
        self._schema = schema
        self._too_slow = False  # after a check took too long, no more checks are made

    def fault(self, value: object) -> SchemaFault | None:
        """Return the most important fault of a value; None if there is none. See `faults`."""
        return next(iter(self.faults(value)), None)

    def faults(self, value: object) -> list[SchemaFault]:
        """Return up to `MAX_FAULTS` faults of a value, the most important one first.

        The result is also empty if the schema is invalid, if the schema or the value is nested too deeply, or
        if this check or an earlier one took too long. Call this in the main thread.
        """
        if self._too_slow or exceeds_depth(value) or exceeds_depth(self._schema):
            return []
        try:
            with cpu_limit(MAX_SECONDS):
                return self._faults(value)
        except CpuLimitError:
            self._too_slow = True
        except Exception:  # jsonschema fails in many ways if the schema is invalid
            return []
        return []

    def _faults(self, value: object) -> list[SchemaFault]:
        from jsonschema.exceptions import best_match, relevance  # type: ignore[import-untyped]

        if self._validator is None:
            return []
        errors = sorted(islice(self._validator.iter_errors(value), MAX_FAULTS), key=relevance, reverse=True)
        found = (best_match([error]) for error in errors)  # for `anyOf`: the error of the best alternative
        return [SchemaFault(tuple(error.absolute_path), _problem(error)) for error in found]

    @cached_property
    def _validator(self) -> Any:
        """The validator for the schema's dialect, by default 2020-12; None if the schema is invalid."""
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        if not isinstance(self._schema, dict | bool):
            return None
        kind = validator_for(self._schema, default=Draft202012Validator)
        try:
            kind.check_schema(self._schema)
        except SchemaError:
            return None
        return kind(self._schema, registry=REGISTRY)  # the default registry would download references


_PROBLEMS = {
    "enum": "must be one of {0}",
    "const": "must be {0}",
    "pattern": "must match the pattern {0}",
    "format": "must have the format {0}",
    "minLength": "needs at least {0} characters",
    "minItems": "needs at least {0} items",
    "minProperties": "needs at least {0} fields",
    "maxLength": "can have at most {0} characters",
    "maxItems": "can have at most {0} items",
    "maxProperties": "can have at most {0} fields",
    "minimum": "must be at least {0}",
    "maximum": "must be at most {0}",
    "exclusiveMinimum": "must be more than {0}",
    "exclusiveMaximum": "must be less than {0}",
    "multipleOf": "must be a multiple of {0}",
    "uniqueItems": "contains an item twice",
}
"""What is wrong with a value, by the schema keyword that it violates. `{0}` is the keyword's value."""


def _problem(error: Any) -> str:
    """Describe a fault without quoting the checked value, which can be large."""
    wanted = error.validator_value
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return f"must be {' or '.join(_TYPE_NAMES.get(kind, str(kind)) for kind in kinds)}"
    if error.validator == "required":
        return f"lacks {_names(name for name in wanted if name not in error.instance)}"
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        # jsonschema names the refused fields only in its message, before the patterns of the allowed ones.
        listed = error.message.partition(" match any of the regexes")[0]
        refused = (name for name in error.instance if repr(name) in listed)
        return f"must not have {_names(refused)}"
    sentence = _PROBLEMS.get(error.validator, f"does not match `{error.validator}` in its schema")
    if isinstance(wanted, str) and error.validator != "const":  # a pattern or the name of a format
        return sentence.format(escape_line(wanted[:MAX_QUOTED]))
    return sentence.format(visible_excerpt(wanted, MAX_QUOTED))


def _names(names: Iterable[str]) -> str:
    return ", ".join(islice(names, MAX_NAMES))
