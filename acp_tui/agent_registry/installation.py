"""Installs, upgrades and removes agents of the registry, in folders of acp-tui's own.

A version is installed into a new folder beside the others. Writing the record makes it the one that is used,
so that an interruption at any moment leaves the earlier version, or none. What no record names is deleted by
the next change, unless a running acp-tui uses it.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from acp_tui import __version__
from acp_tui.agent_registry.archive import is_archive, unpack
from acp_tui.agent_registry.download import download
from acp_tui.agent_registry.registry import (
    Distribution,
    Kind,
    Registry,
    RegistryAgent,
    is_inside,
    is_newer,
    is_version,
)
from acp_tui.config import agent_catalogue
from acp_tui.config.installed_agents import (
    RECORD,
    InstalledAgent,
    agent_folder,
    agents_folder,
    installed_agents,
)
from acp_tui.config.paths import private_directory
from acp_tui.config.validators import closest_match
from acp_tui.console import format_size
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.processes.piped_process import LineRing, PipedProcess, StartError, signal_name
from acp_tui.protocol.json_rpc import LineSplitter, decode
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.store.locks import LockedError, change_lock

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings

Report = Callable[[str], None]
"""Called with a sentence about what is being done."""
WHAT_HAPPENS = (
    "acp-tui downloads this into a folder of its own, and starts it once to see whether it answers."
)
MAX_DOWNLOAD_BYTES = 2_000_000_000
TOOL_TIMEOUT_SECONDS = 1800.0
"""Seconds that npm, uv or pip may take."""
MAX_ANSWER_BYTES = 10_000_000
PROGRAM_FOLDER = "program"
_KEPT_OUTPUT_LINES = 3
_ERROR = re.compile(r"\W*(npm )?error\b", re.IGNORECASE)
_KEPT_ERROR_LINES = 5
_ERROR_LINE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an installation downloads, runs and replaces, to be shown before the user agrees."""

    agent: RegistryAgent
    distribution: Distribution
    registry: str
    tool: str  # the path of npm or uv; empty if none is needed
    installed: InstalledAgent | None  # the version that is replaced
    instead_of: str = ""  # the title of the built-in agent whose name it has
    note: str = ""  # what is known about the agent

    @property
    def title(self) -> str:
        """What is done, in one line."""
        version = self.distribution.version
        if self.installed is None:
            return f"Install {self.agent.name} {version}"
        if is_newer(version, self.installed.version):
            return f"Upgrade {self.agent.name} {self.installed.version} → {version}"
        if version == self.installed.version:
            return f"Reinstall {self.agent.name} {version}"
        return f"Replace {self.agent.name} {self.installed.version} by {version}"

    def facts(self) -> list[tuple[str, str]]:
        """Return pairs of a label and a value. The values are not safe to display."""
        agent, chosen = self.agent, self.distribution
        facts = [("Agent", f"{agent.id}: {agent.about}")]
        if chosen.kind == "binary":
            facts.append(("Download", chosen.target))
            facts.append(("SHA-256", chosen.sha256 or "not stated by the registry"))
        elif chosen.kind == "npx":
            facts.append(("Package", f"{chosen.target} with its dependencies, by npm"))
            facts.append(("SHA-256", "not stated by the registry; npm checks its own checksums"))
            facts.append(("Scripts", "npm runs the packages' install scripts, unless its settings forbid it"))
        else:
            by = "uv" if self.tool else "pip"
            facts.append(("Package", f"{chosen.target} with its dependencies, by {by}"))
            facts.append(("SHA-256", f"not stated by the registry; {by} checks those of the package index"))
        facts.append(("Into", str(agent_folder(agent.id))))
        facts.append(("Runs", shlex.join([chosen.command or chosen.source, *chosen.arguments])))
        facts += [("Environment", f"{name}={value}") for name, value in chosen.env.items()]
        facts += [("License", agent.license)] if agent.license else []
        facts += [("Authors", agent.authors)] if agent.authors else []
        facts += [("Home page", agent.homepage)] if agent.homepage else []
        return facts

    def warnings(self) -> list[str]:
        """Return reasons for caution, in sentences. They are not safe to display."""
        found = []
        if self.distribution.kind == "binary" and not self.distribution.sha256:
            found.append("The registry states no checksum, so acp-tui cannot check what it downloads.")
        old, new = self.installed and _origin(self.installed.source), _origin(self.distribution.target)
        if old and old != new:
            found.append(f"The installed version is from {old}, and this one is from {new}.")
        if self.instead_of:
            replaced = f"{self.instead_of}, which has the same name"
            found.append(f"It takes the place of {replaced}: your rules for it apply.")
        if self.note:
            found.append(f"{self.note[0].upper()}{self.note[1:]}.")
        return found


def _origin(source: str) -> str:
    """Return the host of an archive's address, or the name of a package without its version."""
    return urlsplit(source).hostname or re.split(r"==|(?<=.)@", source)[0]


@dataclass(frozen=True, slots=True)
class Installation:
    """What was installed."""

    agent: InstalledAgent
    answered: str  # what the agent called itself when it was started; empty if it did not answer
    problem: str = ""  # why it did not answer, in a sentence


# --------------------------------------------------------------------------- what to do


def find_in_registry(registry: Registry, name: str) -> RegistryAgent:
    """Return the agent with this id. Raises `UsageError`, which suggests another id."""
    if agent := registry.agents.get(name):
        return agent
    known = agent_catalogue.built_in_agent(name)
    if known and known.registry_id in registry.agents:
        raise UsageError(f'The registry lists {known.title} as "{known.registry_id}": use that name.')
    meant = closest_match(name, registry.agents)
    hint = f"; did you mean {meant}?" if meant else "."
    raise UsageError(
        f'The registry has no agent "{escape_line(name)}"{hint} `acp-tui agents search` lists them.'
    )


def plan_installation(
    registry: Registry,
    name: str,
    settings: Settings,
    *,
    version: str | None = None,
    kind: Kind | None = None,
) -> InstallPlan:
    """Return how an agent would be installed. Raises `UserError` if it cannot be.

    `version` chooses another version than the registry's, and `kind` one of several distributions.
    """
    agent = find_in_registry(registry, name)
    if agent.id == "demo":
        raise UserError("The demo agent is part of acp-tui and cannot be replaced.")
    own = settings.agents.get(agent.id)
    if own is not None and own.command:
        raise UserError(
            f"{own.file} defines {agent.id} with a command of your own, which would be used instead. "
            "Remove `command` there first."
        )
    distribution, tool = _choose(agent, version, kind)
    known = agent_catalogue.built_in_agent(agent.id)
    return InstallPlan(
        agent,
        distribution,
        registry.address,
        tool,
        installed_agents().get(agent.id),
        known.title if known and known.name == agent.id else "",
        (known.note or "") if known else "",
    )


def _choose(agent: RegistryAgent, version: str | None, kind: Kind | None) -> tuple[Distribution, str]:
    """Return the distribution to install, and the path of the program that installs it."""
    if not agent.distributions:
        raise UserError(f"{agent.id} cannot be installed here: {escape_line(agent.unusable)}.")
    offered = [one for one in agent.distributions if kind in (None, one.kind)]
    if not offered:
        kinds = ", ".join(one.kind for one in agent.distributions)
        raise UserError(f"{agent.id} is not offered as {kind} here, only as {kinds}.")
    if version is not None and version != agent.version:
        if not is_version(version):
            raise UsageError(f"{escape_line(version)} is not an exact version.")
        offered = [replace(one, version=version) for one in offered if one.kind != "binary"]
        if not offered:
            raise UserError(
                f"The registry has only version {agent.version} of {agent.id}: it is not a package."
            )
    for one in offered:
        if one.kind == "binary":
            return one, ""
        if one.kind == "npx" and (npm := shutil.which("npm")) and shutil.which("node"):
            return one, npm
        if one.kind == "uvx":
            return one, shutil.which("uv") or ""
    raise UserError(f"{agent.id} needs npm and node, which were not found in PATH. Install Node.js first.")


def plan_upgrades(
    registry: Registry, settings: Settings, name: str | None = None
) -> tuple[list[InstallPlan], list[str]]:
    """Return the upgrades of one or all installed agents, and why others are not upgraded, in sentences.

    Raises `UserError` if the agent `name` is not installed.
    """
    installed = installed_agents()
    if name is not None and name not in installed:
        raise _not_installed(name)
    plans: list[InstallPlan] = []
    reasons: list[str] = []
    for agent_id in [name] if name else sorted(installed):
        record, listed = installed[agent_id], registry.agents.get(agent_id)
        if listed is None:
            reasons.append(f"{agent_id} is no longer in the registry.")
        elif not is_newer(listed.version, record.version):
            reasons.append(f"{agent_id} {record.version} is up to date.")
        else:
            kinds = [one.kind for one in listed.distributions]
            same: Kind | None = next((kind for kind in kinds if kind == record.kind), None)
            try:
                plans.append(plan_installation(registry, agent_id, settings, kind=same))
            except UserError as error:
                reasons.append(str(error))
    return plans, reasons


def find_installed(name: str) -> InstalledAgent:
    """Return an installed agent. Raises `UserError` for any other."""
    try:
        return installed_agents()[name]
    except KeyError:
        raise _not_installed(name) from None


def _not_installed(name: str) -> UserError:
    return UserError(f"{escape_line(name)} was not installed by acp-tui. `acp-tui agents` lists what is.")


# --------------------------------------------------------------------------- doing it


async def install(plan: InstallPlan, report: Report, *, start_timeout: float) -> Installation:
    """Install an agent, start it once, and make it the one that is used. Raises `UserError`.

    If an upgrade does not answer `initialize` within `start_timeout` seconds, the earlier version stays. A
    cancelled or failed installation leaves nothing behind.
    """
    folder = agent_folder(plan.agent.id) / f"{plan.distribution.version}-{secrets.token_hex(4)}"
    with os_errors_reported("The agent cannot be installed"):
        async with _changing():
            private_directory(folder)
            program, checksum = await _INSTALLERS[plan.distribution.kind](plan, folder, report)
            installed = _record(plan, folder, program, checksum)
            report(f"Starting {escape_line(plan.agent.name)} to see whether it answers")
            answered, problem = await _initialize(installed, start_timeout)
            if problem and plan.installed is not None:
                raise UserError(f"{problem} Version {plan.installed.version} stays installed.")
            installed.save()
    return Installation(installed, answered, problem)


async def remove(agent: InstalledAgent) -> bool:
    """Remove an installed agent. Raises `UserError`.

    Return False if a running acp-tui uses its files. They are then deleted by the next change.
    """
    with os_errors_reported(f"{agent.id} cannot be removed"):
        async with _changing():
            (agent_folder(agent.id) / RECORD).unlink(missing_ok=True)
    return not agent.path.exists()


@asynccontextmanager
async def _changing() -> AsyncIterator[None]:
    """Let only one acp-tui change the installed agents, and delete afterwards what is no longer used."""
    try:
        with change_lock(agents_folder() / "agents", timeout=0):
            try:
                yield
            finally:
                await asyncio.shield(asyncio.to_thread(_delete_leftovers))
    except LockedError:
        raise UserError("Another acp-tui is installing or removing an agent.") from None


def _delete_leftovers() -> None:
    """Delete the folders that no record names, and that no running acp-tui uses."""
    used = {agent.path for agent in installed_agents().values()}
    for folder in agents_folder().iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        for version in list(folder.iterdir()):
            if (
                version not in used
                and version.is_dir()
                and not version.is_symlink()
                and not _is_held(version)
            ):
                shutil.rmtree(version, ignore_errors=True)
        with suppress(OSError):
            folder.rmdir()  # fails unless it is empty


def _is_held(folder: Path) -> bool:
    """Return True if a process has called `InstalledAgent.hold` for this folder and still runs."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def _record(plan: InstallPlan, folder: Path, program: Path, checksum: str) -> InstalledAgent:
    agent, chosen = plan.agent, plan.distribution
    return InstalledAgent(
        id=agent.id,
        name=escape_invisible_line(agent.name),
        version=chosen.version,
        kind=chosen.kind,
        source=chosen.target,
        folder=folder.name,
        program=str(program.relative_to(folder)),
        arguments=chosen.arguments,
        env=chosen.env,
        about=escape_invisible_line(agent.about),
        homepage=escape_invisible_line(agent.homepage),
        sha256=checksum,
        registry=plan.registry,
    )


# --------------------------------------------------------------------------- the kinds of distribution


async def _install_binary(plan: InstallPlan, folder: Path, report: Report) -> tuple[Path, str]:
    """Download and unpack an archive, or a program itself. Return the program and the checksum."""
    chosen = plan.distribution
    file, digest = folder / "download", hashlib.sha256()
    host = urlsplit(chosen.source).hostname

    shown = ""

    def show(received: int, size: int | None) -> None:
        nonlocal shown
        text = f"Downloading from {host}: {format_size(received)}{f' of {format_size(size)}' if size else ''}"
        if text != shown:
            shown = text
            report(text)

    with open(file, "xb") as opened:

        def write(block: bytes) -> None:
            digest.update(block)
            opened.write(block)

        await download(chosen.source, write, max_bytes=MAX_DOWNLOAD_BYTES, on_progress=show)
    checksum = digest.hexdigest()
    if chosen.sha256 and checksum != chosen.sha256:
        raise UserError(
            f"The download is not what the registry states: its SHA-256 is {checksum}, not {chosen.sha256}."
        )
    target = folder / PROGRAM_FOLDER
    if is_archive(chosen.source):
        report("Unpacking")
        cancelled = threading.Event()
        unpacking = asyncio.ensure_future(
            asyncio.to_thread(unpack, file, target, is_cancelled=cancelled.is_set)
        )
        try:
            await asyncio.shield(unpacking)
        except asyncio.CancelledError:
            cancelled.set()
            await asyncio.wait([unpacking])
            raise
        file.unlink()
        program = _find_program(target, chosen.command)
    else:
        program = target / Path(chosen.command).name
        target.mkdir(mode=0o700)
        file.rename(program)
    program.chmod(0o700)
    return program, checksum


def _find_program(folder: Path, command: str) -> Path:
    """Return the program of an unpacked archive. It may be in another folder than the registry says."""
    path = folder / os.path.normpath(command)
    if not path.exists():
        found = [one for one in folder.rglob(path.name) if one.is_file()]
        if len(found) != 1:
            raise UserError(f"The archive does not contain {escape_line(command)}.")
        path = found[0]
    return _regular_file(path, folder)


def _regular_file(path: Path, folder: Path) -> Path:
    """Return the path. Raises `UserError` unless it is, or leads to, a regular file in the folder."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)) or not stat.S_ISREG(real.stat().st_mode):
        raise UserError(f"{escape_line(path.name)} is not a program in the installed folder.")
    return path


async def _install_npm(plan: InstallPlan, folder: Path, report: Report) -> tuple[Path, str]:
    chosen = plan.distribution
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    report(f"npm installs {chosen.target}")
    # `--prefix` alone is not enough: `npm config set global true` would install for all users.
    options = ["--global=false", "--no-audit", "--no-fund", "--no-update-notifier", "--save-exact"]
    await _run(
        [plan.tool, "install", "--prefix", str(folder), *options, "--", chosen.target],
        folder,
        # From npm 12 on, install scripts need this permission. The user has been told about them.
        {"npm_config_dangerously_allow_all_scripts": "true"},
    )
    modules = folder / "node_modules"
    package = _read_package(modules / chosen.source / "package.json")
    if package.get("version") != chosen.version:
        raise UserError(f"npm has installed another version than {escape_line(chosen.target)}.")
    return _regular_file(modules / ".bin" / (chosen.command or _npm_program(package)), folder), ""


def _read_package(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _npm_program(package: Mapping[str, Any]) -> str:
    """Return the name of the program that npx would run."""
    programs: Any = package.get("bin")
    own = str(package.get("name", "")).rpartition("/")[2]
    if isinstance(programs, str):
        programs = {own: programs}
    paths: dict[str, str] = (
        {name: str(path) for name, path in programs.items()} if isinstance(programs, dict) else {}
    )
    names = [name for name in paths if is_inside(name) and "/" not in name]
    if own in names:
        return own
    if names and len(set(paths.values())) == 1:
        return names[0]
    raise UserError(
        f"The package does not say which of its programs is the agent: {escape_line(str(names))}."
    )


async def _install_python(plan: InstallPlan, folder: Path, report: Report) -> tuple[Path, str]:
    chosen = plan.distribution
    package = chosen.source.partition("[")[0]
    report(f"{'uv' if plan.tool else 'pip'} installs {chosen.target}")
    if plan.tool:
        environment = folder / "tools" / re.sub(r"[-_.]+", "-", package).lower()
        # uv chooses a suitable Python, and downloads one if there is none.
        variables = {"UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin", "UV_PYTHON_INSTALL_DIR": "python"}
        variables = {name: str(folder / value) for name, value in variables.items()}
        await _run([plan.tool, "tool", "install", chosen.target], folder, variables)
    else:
        environment = folder / "venv"
        await _run([sys.executable, "-I", "-m", "venv", str(environment)], folder, {}, "venv")
        pip = [str(environment / "bin" / "python"), "-I", "-m", "pip", "--disable-pip-version-check"]
        await _run([*pip, "--no-input", "install", "--quiet", chosen.target], folder, {}, "pip")
    program = environment / "bin" / (chosen.command or package)
    if not program.is_file():
        raise UserError(f"{escape_line(chosen.target)} has no program {escape_line(program.name)}.")
    return program, ""  # not `_regular_file`: `bin/python` leads to the interpreter outside


_INSTALLERS = {"binary": _install_binary, "npx": _install_npm, "uvx": _install_python}


async def _run(command: list[str], folder: Path, variables: Mapping[str, str], name: str = "") -> None:
    """Run an installer to its end. Raises `UserError` with what it said if it fails."""
    name = name or Path(command[0]).name
    try:
        process = await PipedProcess.start(
            command[0], command, cwd=str(folder), env={**os.environ, **variables}
        )
    except StartError as error:
        raise UserError(f"{name} cannot be started: {escape_line(str(error))}.") from None
    output = LineRing()
    try:
        process.close_stdin()
        async with asyncio.timeout(TOOL_TIMEOUT_SECONDS):
            while block := await process.read():
                output.add(block)
            await process.wait_for_end()
    except TimeoutError:
        raise UserError(f"{name} did not end within {TOOL_TIMEOUT_SECONDS:.0f} seconds.") from None
    finally:
        await process.end(grace_seconds=0)
    if process.returncode != 0:
        said = _errors([*output.tail(), *process.stderr_tail()])
        raise UserError(f"{name} failed with {_exit_text(process.returncode)}: {said or 'no message'}")


def _errors(lines: list[str]) -> str:
    """Return the lines from the first error on, or else the last ones, shortened."""
    first = next((at for at, line in enumerate(lines) if _ERROR.match(line)), len(lines) - _KEPT_ERROR_LINES)
    chosen = lines[max(0, first) :][:_KEPT_ERROR_LINES]
    return " ".join(shorten(line, _ERROR_LINE_CHARACTERS, placeholder=" …") for line in chosen)


def _exit_text(code: int | None) -> str:
    if code is None:
        return "an unknown exit code"
    return f"exit code {code}" if code >= 0 else signal_name(-code)


# --------------------------------------------------------------------------- does it work?


async def _initialize(agent: InstalledAgent, timeout: float) -> tuple[str, str]:
    """Start the agent and send `initialize`. Return what it calls itself, or why it does not answer."""
    program, *_ = agent.command
    try:
        process = await PipedProcess.start(
            program, agent.command, cwd=str(agent.path), env={**os.environ, **agent.env}
        )
    except StartError as error:
        return "", f"{agent.id} cannot be started: {escape_line(str(error))}."
    params = {
        "protocolVersion": 1,
        "clientCapabilities": {},
        "clientInfo": {"name": "acp-tui", "version": __version__},
    }
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    answer: dict[str, Any] | None = None
    try:
        async with asyncio.timeout(timeout):
            process.write(json.dumps(request).encode() + b"\n")
            answer = await _read_answer(process)
        reason = "has ended without an answer to `initialize`"
    except TimeoutError:
        reason = f"has not answered `initialize` within {timeout:.0f} seconds"
    except OSError:
        reason = "has closed its input"
    finally:
        await process.end()
    result = answer.get("result") if answer is not None else None
    if isinstance(result, dict) and "protocolVersion" in result:
        info = result.get("agentInfo")
        words = [info.get("name"), info.get("version")] if isinstance(info, dict) else []
        return escape_line(" ".join(str(word) for word in words if word)) or agent.name, ""
    if answer is not None:
        reason = f"answers `initialize` with {escape_line(json.dumps(answer))[:300]}"
    said = " ".join(process.stderr_tail(_KEPT_OUTPUT_LINES))
    return "", f"{agent.id} {agent.version} {reason}{f': {said}' if said else ''}."


async def _read_answer(process: PipedProcess) -> dict[str, Any] | None:
    """Return the answer to the request with the id 0; None if stdout ends before."""
    splitter = LineSplitter(MAX_ANSWER_BYTES)
    while block := await process.read():
        for line in splitter.feed(block):
            message = decode(line)
            if isinstance(message, dict) and message.get("id") in (0, "0") and "method" not in message:
                return message
    return None
