"""The parts of a server's definition as labelled texts and as JSON, with secrets masked."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from acp_tui.config.mcp import Server, SignInSettings, connection_for
from acp_tui.console import labelled
from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text

DIGEST_CHARACTERS = 12
"""The number of characters of a digest that are shown."""

# What may remain of a header value without its ${…} references.
_NOT_SECRET = re.compile(r"\s*(?:bearer|basic|token)?\s*", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{[\w:]+\}")


class ServerField(NamedTuple):
    """A labelled text, and the text's key in the definition (empty if there is none)."""

    label: str
    text: str
    key: str = ""


def definition_fields(server: Server) -> Iterator[ServerField]:
    if server.transport == "stdio":
        yield ServerField("command", redact_text(shlex.join([server.command, *server.args])), "command")
    else:
        yield ServerField(
            server.transport, redact_text(server.url), "httpUrl" if "httpUrl" in server.lines else "url"
        )
    for name, value in masked(server.env).items():
        yield ServerField("env", f"{name}={value}", f"env.{name}")
    for name, value in masked(server.headers).items():
        yield ServerField("header", f"{name}: {value}", f"headers.{name}")
    yield from option_fields(server)
    if (trust := server.extra.get("trust")) is not None:
        yield ServerField(
            "trust", f"{str(trust).lower()} in the file, but acp-tui ignores this setting", "trust"
        )
    unknown = [key for key in server.extra if key != "trust"]
    if unknown:
        yield ServerField("unused", f"{', '.join(unknown)}: unknown to acp-tui", unknown[0])


def option_fields(server: Server) -> Iterator[ServerField]:
    """Yield those options of a definition that cannot be sent over ACP, such as a timeout."""
    if server.cwd:
        yield ServerField("folder", server.cwd, "cwd")
    if server.sign_in is not None:
        yield ServerField("sign-in", _sign_in_text(server.sign_in), "sign_in")
    if server.timeout is not None:
        yield ServerField("timeout", f"{server.timeout:g} s for each call", "timeout")
    if server.connect_timeout is not None:
        yield ServerField("timeout", f"{server.connect_timeout:g} s for connecting", "connect_timeout")
    if server.include_tools is not None:
        key = "includeTools" if "includeTools" in server.lines else "include_tools"
        names = ", ".join(server.include_tools)
        yield ServerField("tools", f"only {names}" if names else "none", key)
    if server.exclude_tools:
        key = "excludeTools" if "excludeTools" in server.lines else "exclude_tools"
        yield ServerField("tools", f"not {', '.join(server.exclude_tools)}", key)
    if server.connection is not None:
        yield ServerField("connection", server.connection, "connection")


def _sign_in_text(settings: SignInSettings) -> str:
    """Return all sign-in settings of a server that are set, because the user has to approve them.

    The client secret is masked.
    """
    parts = [settings.grant.replace("_", " ")]
    given = asdict(settings) | {"grant": None, "client_secret": MASK if settings.client_secret else None}
    parts += [f"{name} {value}" for name, value in given.items() if value]
    text = ", ".join(parts).replace("send_token True", "acp-tui sends the token to the agent")
    return text.replace("allow_missing_pkce True", "PKCE is not required")


def field_lines(server: Server, more: Sequence[ServerField] = ()) -> list[str]:
    """Return a server as lines of text: its name and origin, then its fields.

    Fields have their line numbers in the file that defines the server. `more` contains fields to show after
    those of the definition.
    """
    fields = [*definition_fields(server), *more]
    margins = [f"{server.lines[field.key]:>6}  " if field.key in server.lines else "" for field in fields]
    texts = [(field.label, field.text) for field in fields]
    return [
        escape_line(f"{server.name}  {server.origin}"),
        *labelled(texts, " " * 8, commands=("command",), margins=margins),
    ]


def definition_json(server: Server) -> dict[str, Any]:
    """Return a definition as a JSON object, with secrets masked."""
    sign_in = server.sign_in
    return {
        "name": server.name,
        "file": str(server.file),
        "line": server.line,
        "lines": server.lines,
        "transport": server.transport,
        "command": server.command,
        "args": _masked_words(server.args),
        "env": masked(server.env),
        "url": redact_text(server.url),
        "headers": masked(server.headers),
        "cwd": server.cwd or None,
        "timeout": server.timeout,
        "connect_timeout": server.connect_timeout,
        "include_tools": server.include_tools,
        "exclude_tools": server.exclude_tools,
        "sign_in": sign_in
        and {"client_id": sign_in.client_id, "scope": sign_in.scope, "grant": sign_in.grant},
        "connection": connection_for(server),
        "unknown_keys": list(server.extra),
        "digest": server.digest(),
    }


def masked(values: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables or headers with possible secrets masked.

    A value that consists only of `${NAME}` references, perhaps after a word such as `Bearer`, is not masked.
    """
    return {
        name: MASK if is_secret_name(name) and not _is_harmless(value) else redact_text(value)
        for name, value in values.items()
    }


def _masked_words(words: Sequence[str]) -> list[str]:
    """Return arguments with secrets masked, including the `abc` of `--token abc`."""
    try:
        return shlex.split(redact_text(shlex.join(words)))
    except ValueError:  # a quotation mark was masked
        return [MASK for _ in words]


def secret_arguments(words: Sequence[str]) -> list[str]:
    """Return descriptions of the arguments that contain secrets, such as "the argument --token"."""
    masked_words = _masked_words(words)
    if len(masked_words) != len(words):
        return ["an argument"]
    found = []
    for number, (word, shown) in enumerate(zip(words, masked_words, strict=True)):
        if word == shown or _is_harmless(word):
            continue
        option = word.partition("=")[0] if word.startswith("-") else words[number - 1] if number else ""
        found.append(f"the argument {option}" if option.startswith("-") else f"argument {number + 1}")
    return found


def _is_harmless(value: str) -> bool:
    return _NOT_SECRET.fullmatch(_REFERENCE.sub("", value)) is not None
