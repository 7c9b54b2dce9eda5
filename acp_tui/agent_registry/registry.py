"""The list of agents that the registry publishes: fetching it, the copy in the cache, and reading it.

The format is described at https://github.com/agentclientprotocol/registry (FORMAT.md). Entries that break it
are left out, or lose the distribution that breaks it. Nothing here uses the network except `update`.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from acp_tui.config.own_files import read_own, read_own_object
from acp_tui.config.paths import paths, write_private
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

Kind = Literal["binary", "npx", "uvx"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_LIST_BYTES = 20_000_000
"""The maximum size of the list. In 2026 it had 0.2 MB."""
MAX_AGENTS = 10_000
MAX_TEXT = 500
"""The maximum number of characters of a name or description."""
MAX_WORDS = 100
"""The maximum number of arguments, and of variables."""
INSTALLERS = (".dmg", ".pkg", ".deb", ".rpm", ".msi", ".appimage")
"""What the format excludes: files that install a program elsewhere."""
LOADER_VARIABLES = re.compile(
    r"(LD|DYLD|GIT|NPM_CONFIG|UV|PIP|ACP_TUI)_.*|PERL5?(OPT|LIB|DB)|RUBY(OPT|LIB)|"
    r"PYTHON(PATH|HOME|STARTUP|BREAKPOINT|INSPECT|USERBASE|EXECUTABLE|WARNINGS|PLATLIBDIR|PYCACHEPREFIX)|"
    r"NODE_(OPTIONS|PATH|REPL_EXTERNAL_MODULE|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)|BASH_.*|ENV|IFS|PS4|"
    r"PROMPT_COMMAND|ZDOTDIR|PATH|HOME|SHELL|TMPDIR|(JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|CLASSPATH|"
    r"EDITOR|VISUAL|PAGER|BROWSER|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|GCONV_PATH|LOCPATH|MALLOC_.*",
    re.IGNORECASE,
)
"""Variables that make programs load or start other code, or send their traffic elsewhere."""
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_NPM = re.compile(r"((?:@[a-z0-9_][a-z0-9._-]*/)?[a-zA-Z0-9_][a-zA-Z0-9._-]*)(?:@(.+))?")
_PYPI = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._, -]+\])?)(?:(?:==|@)(.+))?")


@dataclass(frozen=True, slots=True)
class Distribution:
    """One of the ways to install an agent on this machine."""

    kind: Kind
    source: str  # the package without its version, or the address of the archive
    version: str
    command: str = ""  # the program in the archive or package; empty: the package's default
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    sha256: str = ""  # of the archive, in lower case; empty if the registry does not state it

    @property
    def target(self) -> str:
        """The package with its version, or the address of the archive."""
        if self.kind == "binary":
            return self.source
        return f"{self.source}{'@' if self.kind == 'npx' else '=='}{self.version}"


@dataclass(frozen=True, slots=True)
class RegistryAgent:
    """An agent in the list. Its texts are not safe to display."""

    id: str
    name: str
    version: str
    about: str
    distributions: tuple[Distribution, ...]  # usable on this machine, the preferred one first
    unusable: str = ""  # a clause that says why there is no distribution
    authors: str = ""
    license: str = ""
    homepage: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """The list as it was when it was fetched."""

    address: str
    fetched_at: float
    agents: dict[str, RegistryAgent]  # by id
    problems: tuple[str, ...]  # what was left out, a sentence each; safe to display

    def search(self, words: Sequence[str]) -> list[RegistryAgent]:
        """Return the agents in whose id, name, description or authors all words occur, by id."""
        wanted = [word.lower() for word in " ".join(words).split()]
        return [
            agent
            for _, agent in sorted(self.agents.items())
            if all(
                word in f"{agent.id} {agent.name} {agent.about} {agent.authors}".lower() for word in wanted
            )
        ]


class BrokenEntryError(ValueError):
    """A part of the list that cannot be used. The message is a clause, not safe to display."""


def platform_name() -> str:
    """Return the name of this platform in the registry, such as `linux-x86_64`."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{ {'amd64': 'x86_64', 'arm64': 'aarch64'}.get(machine, machine) }"


# --------------------------------------------------------------------------- the copy in the cache


def cache_file() -> Path:
    return paths().cache / "agent-registry.json"


def load(address: str) -> Registry | None:
    """Return the list fetched last from this address; None if there is none."""
    content = read_own_object(cache_file())
    fetched = content.get("fetched")
    if content.get("address") != address or not isinstance(fetched, int | float):
        return None
    try:
        return parse(content.get("list"), address, float(fetched))
    except BrokenEntryError:
        return None


async def update(address: str) -> Registry:
    """Fetch the list from an address or a file, and keep a copy. Raises `UserError`."""
    from acp_tui.agent_registry.download import download, is_web_address

    data = bytearray()
    if is_web_address(address):
        await download(address, data.extend, max_bytes=MAX_LIST_BYTES)
    else:
        try:
            data += read_own(Path(address).expanduser(), MAX_LIST_BYTES)
        except OSError as error:
            raise UserError(f"{escape_line(address)} cannot be read: {error.strerror or error}.") from None
    try:
        content = json.loads(data.decode("utf-8-sig"))
        registry = parse(content, address, time.time())
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, BrokenEntryError) else "it is not JSON"
        raise UserError(
            f"{escape_line(address)} is not a list of agents: {escape_line(str(reason))}."
        ) from None
    record = {"address": address, "fetched": registry.fetched_at, "list": content}
    write_private(cache_file(), json.dumps(record))
    return registry


# --------------------------------------------------------------------------- reading


def parse(content: Any, address: str, fetched_at: float) -> Registry:
    """Read the list. Raises `BrokenEntryError` if it is no list of agents at all."""
    entries = content.get("agents") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise BrokenEntryError("there is no list `agents` in it")
    agents: dict[str, RegistryAgent] = {}
    problems: list[str] = []
    for position, entry in enumerate(entries[:MAX_AGENTS], start=1):
        label = escape_line(str(entry.get("id", "?"))[:64]) if isinstance(entry, dict) else "?"
        try:
            agent = _agent(entry, problems)
        except BrokenEntryError as error:
            problems.append(f"Entry {position} ({label}) is left out: {escape_line(str(error))}.")
            continue
        if agents.setdefault(agent.id, agent) is not agent:
            problems.append(f"Entry {position} ({label}) is left out: an earlier one has the same id.")
    return Registry(address, fetched_at, agents, tuple(problems))


def _agent(entry: Any, problems: list[str]) -> RegistryAgent:
    if not isinstance(entry, dict):
        raise BrokenEntryError("it is not an object")
    agent_id = _matching(entry, "id", _ID, "small letters, digits and -")
    version = _matching(entry, "version", _VERSION, "a version")
    name, about = _text(entry, "name"), _text(entry, "description")
    offered = entry.get("distribution")
    if not isinstance(offered, dict) or not offered:
        raise BrokenEntryError("`distribution` is missing")
    found: list[Distribution] = []
    reasons: list[str] = []
    for kind in KINDS:
        if kind in offered:
            try:
                found.append(_distribution(kind, offered[kind], version))
            except _OtherPlatformError as error:
                reasons.append(str(error))
            except BrokenEntryError as error:
                reasons.append(f"`{kind}` cannot be used: {error}")
                problems.append(f"{agent_id}: `{kind}` is left out: {escape_line(str(error))}.")
    if not found and not reasons:
        reasons.append(f"it offers none of {', '.join(KINDS)}")
    authors = entry.get("authors")
    names = [one for one in authors if isinstance(one, str)] if isinstance(authors, list) else []
    return RegistryAgent(
        agent_id,
        name,
        version,
        about,
        tuple(found),
        "" if found else "; ".join(reasons),
        ", ".join(names)[:MAX_TEXT],
        _text(entry, "license", needed=False),
        _text(entry, "website", needed=False) or _text(entry, "repository", needed=False),
    )


class _OtherPlatformError(BrokenEntryError):
    """There is a binary, but not for this platform."""


def _distribution(kind: Kind, value: Any, version: str) -> Distribution:
    if not isinstance(value, dict):
        raise BrokenEntryError("it is not an object")
    if kind == "binary":
        if platform_name() not in value:
            raise _OtherPlatformError(f"there is no binary for {platform_name()}")
        return _binary(value[platform_name()], version)
    package = _text(value, "package")
    match = (_NPM if kind == "npx" else _PYPI).fullmatch(package.strip())
    if match is None:
        raise BrokenEntryError(f"{package!r} is not the name of a package with a version")
    pinned = match[2] or version
    if not is_version(pinned):
        raise BrokenEntryError(f"{package!r} does not name an exact version")
    command = _text(value, "cmd", needed=False)
    if command and not _PROGRAM.fullmatch(command):
        raise BrokenEntryError(f"the command {command!r} is not a plain name")
    return Distribution(kind, match[1], pinned, command, _words(value), _variables(value))


def _binary(value: Any, version: str) -> Distribution:
    from acp_tui.agent_registry.download import address_fault

    if not isinstance(value, dict):
        raise BrokenEntryError(f"`{platform_name()}` is not an object")
    archive = _text(value, "archive", maximum=2000)
    if fault := address_fault(archive):
        raise BrokenEntryError(f"the address {archive!r} {fault}")
    if archive.lower().endswith(INSTALLERS):
        raise BrokenEntryError(f"{archive!r} is an installer, not an archive")
    command = _text(value, "cmd")
    if not is_inside(command):
        raise BrokenEntryError(f"the command {command!r} is not a path inside the archive")
    checksum = value.get("sha256", "")
    if not isinstance(checksum, str) or (checksum and not _SHA256.fullmatch(checksum)):
        raise BrokenEntryError("`sha256` is not a checksum")
    return Distribution(
        "binary", archive, version, command, _words(value), _variables(value), checksum.lower()
    )


def is_inside(path: str) -> bool:
    """Return True for a relative path of plain names, which may begin with `./`."""
    parts = PurePosixPath(path).parts
    return bool(parts) and parts[0] != "/" and ".." not in parts and is_plain(path)


def is_plain(text: str) -> bool:
    """Return True for text without control, invisible or unpaired characters."""
    return text.isprintable() and "\\" not in text


def _text(entry: dict[str, Any], key: str, *, needed: bool = True, maximum: int = MAX_TEXT) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        if needed:
            raise BrokenEntryError(f"`{key}` is missing")
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BrokenEntryError(f"`{key}` is not text") from None
    return " ".join(value[:maximum].split())


def _matching(entry: dict[str, Any], key: str, pattern: re.Pattern[str], expected: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BrokenEntryError(f"`{key}` is not {expected}")
    return value


def _words(value: dict[str, Any]) -> tuple[str, ...]:
    words = value.get("args", [])
    if not isinstance(words, list) or len(words) > MAX_WORDS:
        raise BrokenEntryError("`args` is not a list of arguments")
    for word in words:
        if not isinstance(word, str) or not word.isprintable():
            raise BrokenEntryError("`args` contains something else than plain text")
    return tuple(words)


def _variables(value: dict[str, Any]) -> dict[str, str]:
    variables = value.get("env", {})
    if not isinstance(variables, dict) or len(variables) > MAX_WORDS:
        raise BrokenEntryError("`env` is not a table of variables")
    for name, content in variables.items():
        if not _VARIABLE.fullmatch(name) or not isinstance(content, str) or not content.isprintable():
            raise BrokenEntryError("`env` contains something else than names and plain text")
        if LOADER_VARIABLES.fullmatch(name):
            raise BrokenEntryError(f"it sets {name}, which can make programs run other code")
    return dict(variables)


# --------------------------------------------------------------------------- versions


def is_version(text: str) -> bool:
    """Return True for an exact version, as opposed to a range or a name such as `latest`."""
    return _VERSION.fullmatch(text) is not None and "x" not in text.lower().split("-")[0].split(".")


def is_newer(version: str, other: str) -> bool:
    """Return True if `version` comes after `other`, by the common rules of npm and PyPI."""
    return _version_key(version) > _version_key(other)


def _version_key(version: str) -> tuple[list[int], int, list[tuple[int, int, str]]]:
    match = re.match(r"(\d+(?:\.\d+)*)(.*)", version.partition("+")[0])
    if match is None:
        return [], 0, []
    release = [int(part) for part in match[1].split(".")]
    while release and release[-1] == 0:
        release.pop()
    rest = match[2].lower()
    rank = 0 if not rest else 1 if rest.lstrip(".-").startswith("post") else -1
    parts = re.findall(r"\d+|[a-z]+", rest)
    return release, rank, [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
