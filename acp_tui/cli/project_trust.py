"""Decides whether a conversation may use the agent and the MCP servers that a folder's files name."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_fields import DIGEST_CHARACTERS, option_fields
from acp_tui.config import mcp, mcp_sources
from acp_tui.config.mcp import Server, ServerState, UnsentServer
from acp_tui.config.paths import paths
from acp_tui.guarded_question import GuardedQuestion, StartAnswer
from acp_tui.session.safe_text import escape_invisible, visible_row
from acp_tui.store.folder_trust import FolderTrust, ServerConsent

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch

TRUST_TEXT = (
    "Files in this folder choose programs to run on your computer. "
    "The files are ignored until you trust the folder."
)
ONE_BY_ONE = " Each MCP server is shown to you before it is used."
NOT_TRUSTED = "you have not trusted this folder"
NOT_APPROVED = "you have not approved it"
REFUSED = "you refused it"
_GAP = re.compile(r"\s{20}")  # what follows it could be overlooked


def workspace_question(cwd: Path) -> GuardedQuestion[StartAnswer] | None:
    """Return a question if `wide_workspace` describes the folder; otherwise None."""
    what = wide_workspace(cwd)
    if what is None:
        return None
    refusal = f"Not started: the workspace would be {what}. Change to a project folder, or use --cwd DIR"
    return GuardedQuestion(
        title="Use this folder as the workspace?",
        text=f"The workspace would be {what}: the agent could read every file in it without asking.",
        answers=(
            StartAnswer("Do not start", refusal=refusal),
            StartAnswer("Use it as the workspace", grants=True),
        ),
    )


def wide_workspace(cwd: Path) -> str | None:
    """Describe the root, the home directory or a folder above it; return None for any other folder."""
    real = cwd.resolve()
    if real == Path(real.anchor):
        return "/, the whole file system"
    with suppress(RuntimeError):  # there is no home directory
        home = Path.home().resolve()
        if real == home:
            return f"your home directory {real}"
        if real in home.parents:
            return f"{real}, which contains your home directory"
    return None


def mcp_servers_named(names: Sequence[str]) -> str:
    """Return a phrase such as "the MCP servers one, two"."""
    return f"the MCP server{'' if len(names) == 1 else 's'} {', '.join(names)}"


def read_by_agent(agent: str, file: str) -> str:
    """Return why a server defined in `file` is not given to an agent: the agent already reads that file."""
    return f"{agent} reads {file} by itself"


class ProjectTrust:
    """Decides once, before the agent starts, what is used from a folder's files.

    The files are read only once, so that the agent gets exactly what the user was shown.
    """

    def __init__(
        self,
        cwd: Path,
        launch: Launch | None,
        own_servers: Sequence[Server],
        *,
        states: Mapping[str, ServerState] | None = None,
        chose_agent: bool = False,
        trusted_as: Path | None = None,
    ) -> None:
        """Read the folder's files. Blocks: create the object in a thread.

        Args:
            cwd: The folder.
            launch: The agent that will be started; None to consider the servers of every agent.
            own_servers: The servers from the user's settings and --mcp-config.
            states: Which servers the user has turned on or off, by name.
            chose_agent: Whether `launch` was chosen by the settings of the folder.
            trusted_as: The folder whose saved answers apply, if not `cwd`: for a worktree, the
                corresponding folder of the user's checkout.
        """
        self._answers_for = cwd if trusted_as is None else trusted_as
        self._cwd = cwd
        self._launch = launch
        self._own = own_servers
        self._store = FolderTrust(paths().state)
        self._saved = self._store.folder(self._answers_for)
        self._chosen_agent = launch if chose_agent and launch and self._saved.agent != launch.name else None
        self._trusted = self._saved.trusted
        self._skips_rest = False
        self.servers: list[Server] = []
        """The folder's MCP servers that the agent is allowed to use."""
        self.withheld: list[UnsentServer] = []
        """The folder's MCP servers that the agent does not get, each with the reason."""
        found = mcp_sources.read_project_servers(cwd)
        self.problems = found.problems if self._trusted is not False else []
        """Sentences about files that cannot be read, or that define too many servers."""
        self._found = mcp.with_states(found.servers, states or {})
        self._candidates = self._usable(self._found)

    def _usable(self, servers: Sequence[Server]) -> list[Server]:
        """Return the servers that can be sent to the agent, stdio servers with the path of their program.

        Adds the others to `withheld`, except duplicates of servers that the agent gets anyway.
        """
        usable: dict[str, Server] = {}
        own = {server.definition() for server in self._own}
        for server in servers:
            first = usable.get(server.name)
            if server.definition() in own or (first and first.definition() == server.definition()):
                continue  # the agent gets the same server anyway
            if reason := self._read_by_agent(server):
                self.withheld.append(UnsentServer(server, reason, intended=True))
                continue
            try:
                mcp.check_sendable(server, self._agent_for(server))
            except mcp.CannotSendError as error:
                self.withheld.append(UnsentServer(server, str(error), intended=not server.is_on))
                continue
            if first is not None:
                reason = f"{first.origin} defines another server of that name"
                self.withheld.append(UnsentServer(server, reason, intended=True))
                continue
            program = mcp.resolved_program(server) if server.transport == "stdio" else ""
            usable[server.name] = replace(server, program=program)
        return list(usable.values())

    def _read_by_agent(self, server: Server) -> str | None:
        """Return the clause of `read_by_agent` if the agent itself reads the server's file, else None."""
        if (agent := self._launch) is None:
            return None
        names = (name for name in agent.project_mcp if server.file == self._cwd / name)
        return next((read_by_agent(agent.title, name) for name in names), None)

    def _agent_for(self, server: Server) -> str:
        return self._launch.name if self._launch is not None else next(iter(server.agents or []), "")

    # ------------------------------------------------------------------------- without questions

    def trust_all(self) -> None:
        """Use all servers, except those that the user has refused before."""
        for server in self._candidates:
            consent = self._consent(server)
            if consent is not None and not consent.allowed:
                self._withhold(server, REFUSED)
            else:
                self.servers.append(server)

    def trust_nothing(self) -> list[str]:
        """Use no server of the folder.

        Return the names of the servers that are turned on and that the agent does not read by itself.
        """
        enabled = [server for server in self._found if server.is_on and not self._read_by_agent(server)]
        self.withheld = [
            UnsentServer(server, "this folder is not trusted", intended=True) for server in enabled
        ]
        return list(dict.fromkeys(server.name for server in enabled))

    def use_saved_answers(self) -> list[Server]:
        """Use the servers that the user has approved. Return the servers for which no answer is saved.

        If the user has not trusted the folder, use and return no servers.
        """
        unanswered: list[Server] = []
        for server in self._candidates:
            consent = self._consent(server)
            if not self._trusted:
                self._withhold(server, NOT_TRUSTED)
            elif consent is None:
                unanswered.append(server)
            elif consent.allowed:
                self.servers.append(server)
            else:
                self._withhold(server, REFUSED)
        return unanswered

    # ------------------------------------------------------------------------- questions

    def questions(self) -> Iterator[GuardedQuestion[StartAnswer]]:
        """Yield the questions for the user.

        The caller calls `accept` of the chosen answer before the next question.
        """
        agent = self._chosen_agent
        if self._trusted is None and (agent or self._candidates):
            yield self._trust_question(agent)
        elif agent:
            yield self._agent_question(agent)
        unanswered = self.use_saved_answers()
        for number, server in enumerate(unanswered, 1):
            if self._skips_rest:
                self._withhold(server, NOT_APPROVED)
            else:
                yield self._server_question(server, (number, len(unanswered)))

    def _consent(self, server: Server) -> ServerConsent | None:
        """Return the user's saved answer about this definition of the server; None if there is none."""
        consent = self._saved.servers.get(server.name)
        return consent if consent is not None and consent.digest == server.digest() else None

    def _trust_question(self, agent: Launch | None) -> GuardedQuestion[StartAnswer]:
        facts = [("folder", str(self._answers_for)), *(_agent_facts(agent) if agent else [])]
        for name in mcp_sources.PROJECT_FILES:
            servers = [one.name for one in self._candidates if one.file == self._cwd / name]
            if servers:
                facts.append(("MCP servers", f"{', '.join(servers)}  ({name})"))
        refusal = _refusal(agent) if agent else ""
        return GuardedQuestion(
            title="Trust this folder?",
            text=TRUST_TEXT + (ONE_BY_ONE if self._candidates else ""),
            facts=tuple(facts),
            answers=(
                StartAnswer("Do not start" if agent else "Not in this session", refusal=refusal),
                StartAnswer("Trust this folder", self._trust, grants=True),
                StartAnswer("Never trust this folder", self._distrust, refusal=refusal),
            ),
        )

    def _agent_question(self, agent: Launch) -> GuardedQuestion[StartAnswer]:
        title = agent.title
        return GuardedQuestion(
            title=f"Start {title}?",
            text="The settings of this folder choose the agent.",
            facts=tuple(_agent_facts(agent)),
            answers=(
                StartAnswer("Do not start", refusal=_refusal(agent)),
                StartAnswer(
                    f"Always start {title} in this folder", partial(self._allow_agent, agent), grants=True
                ),
            ),
        )

    def _server_question(self, server: Server, position: tuple[int, int]) -> GuardedQuestion[StartAnswer]:
        answers = [
            StartAnswer("Not in this session", partial(self._withhold, server, NOT_APPROVED)),
            StartAnswer(
                "Use it in this folder, until its definition changes",
                partial(self._agree, server),
                grants=True,
            ),
            StartAnswer("Never use it in this folder", partial(self._refuse, server)),
        ]
        if (left := position[1] - position[0]) > 0:
            others = str(left) if left > 1 else "one"
            words = f"Use neither this server nor the other {others}"
            answers.append(StartAnswer(words, partial(self._skip_rest, server)))
        does = (
            "The agent would start this program, with your full permissions."
            if server.transport == "stdio"
            else "The agent would send requests to this address."
        )
        return GuardedQuestion(
            title=f'Use the MCP server "{server.name}"?',
            text=does,
            facts=tuple((label, _shown(value)) for label, value in _definition(server)),
            warnings=tuple(self._warnings(server)),
            answers=tuple(answers),
            position=position,
        )

    def _warnings(self, server: Server) -> Iterator[str]:
        if server.name in self._saved.servers:
            yield "Its definition has changed since you answered."
        for own in self._own:
            if own.name == server.name:
                yield f"It replaces your own server of the same name ({own.origin})."
        if names := mcp.environment_names(server):
            yield f"It gets the value of {', '.join(names)} from your environment."
        if names := self._own_files(server):
            yield f"It runs files in this folder, which can change without your approval: {', '.join(names)}."
        values = [value for _, value in _definition(server)]
        if any(_shown(value) != value for value in values):
            yield "Its definition contains control or invisible characters, shown as symbols."
        if any(_GAP.search(value) for value in values):
            yield "Its definition contains a long run of blanks. Check the text after it."

    def _own_files(self, server: Server) -> list[str]:
        """Return the project's own files that a server's command names, as relative paths."""
        names: list[str] = []
        for word in [server.program, *server.args] if server.program else []:
            path = self._cwd / word.rpartition("=")[2].replace("${workspaceFolder}", str(self._cwd))
            with suppress(OSError):  # the word may be too long for a path
                if path.is_file() and path.resolve().is_relative_to(self._cwd):
                    names.append(str(path.resolve().relative_to(self._cwd)))
        return names

    # ------------------------------------------------------------------------- answers

    def _trust(self) -> None:
        self._trusted = True
        self._save(lambda: self._store.trust(self._answers_for, trusted=True))
        if self._chosen_agent is not None:
            self._allow_agent(self._chosen_agent)

    def _distrust(self) -> None:
        self._trusted = False
        self._save(lambda: self._store.trust(self._answers_for, trusted=False))

    def _allow_agent(self, agent: Launch) -> None:
        self._save(lambda: self._store.allow_agent(self._answers_for, agent.name))

    def _agree(self, server: Server) -> None:
        self.servers.append(server)
        self._decide(server, allowed=True)

    def _refuse(self, server: Server) -> None:
        self._withhold(server, REFUSED)
        self._decide(server, allowed=False)

    def _decide(self, server: Server, *, allowed: bool) -> None:
        consent = ServerConsent(server.digest(), allowed, time.time())
        self._save(lambda: self._store.decide_server(self._answers_for, server.name, consent))

    def _skip_rest(self, server: Server) -> None:
        self._skips_rest = True
        self._withhold(server, NOT_APPROVED)

    def _withhold(self, server: Server, reason: str) -> None:
        self.withheld.append(UnsentServer(server, reason, intended=True))

    def _save(self, change: Callable[[], None]) -> None:
        with suppress(OSError):  # the user is asked again next time
            change()


def _agent_facts(agent: Launch) -> list[tuple[str, str]]:
    return [("agent", f"{agent.title}  (.acp-tui.toml)"), ("command", shlex.join(agent.command))]


def _refusal(agent: Launch) -> str:
    return f"Not started: {agent.title}. `acp-tui --choose` lists all agents"


def _definition(server: Server) -> Iterator[tuple[str, str]]:
    """Yield pairs of label and value that describe a definition. The values are raw: see `_shown`."""
    yield "defined in", server.origin
    is_program = server.transport == "stdio"
    if is_program:
        yield "command", shlex.join([server.command, *server.args])
        if server.program != server.command:
            yield "program", server.program
    else:
        yield "address", server.url
    label = "environment" if is_program else "headers"
    for name, value in (server.env if is_program else server.headers).items():
        yield label, f"{name}={value}" if is_program else f"{name}: {value}"
        label = ""
    for option in option_fields(server):
        yield option.label, option.text
    if server.extra:
        yield "not used", ", ".join(server.extra)
    yield "digest", f"{server.digest()[:DIGEST_CHARACTERS]}"


def _shown(value: str) -> str:
    """Return a value with symbols instead of line breaks, control characters and invisible characters."""
    return escape_invisible(visible_row(value))
