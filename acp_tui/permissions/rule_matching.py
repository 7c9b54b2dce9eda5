"""Finds the rules that apply to a request, and the rule that decides.

Matching is not symmetric:

* An **allow** rule is read narrowly. The rule must match every file of the request, and matches only if it is
  clear what the request does. Only a rule for all requests of a kind that is not about files, such as all
  commands, also matches unclear requests.

  - A composite command as a whole is matched only by a rule that allows every command. With other rules,
    `decision` judges each part of the command separately.
  - A rule for leading words matches only plain commands (see `plain_command`), whatever words follow: `npm
    test` also allows `npm test -- --x`. An exact rule allows no further words.
  - If a command sets variables, both kinds of command rules match only if all the variables are harmless. If
    a command has risky arguments (see `risky_arguments`), both kinds match only if the rule itself contains
    these arguments.
  - A file outside the workspace is allowed only by an absolute pattern. A sensitive file is allowed only by
    its own path, or by an exact rule for a command that names the file.
  - A delete, a move or a command also edits a file if the request comes with a diff. No allow rule matches
    such a request, except a rule for an MCP tool: every other rule is for one kind of request only.
  - A request whose raw input names further files, outside the workspace or sensitive, is allowed only by a
    rule for its MCP server or tool.
  - No rule allows a dangerous command, one that is too long to be analysed, or one that runs outside the
    workspace.

* A **reject** rule is read widely. A match with one file of the request, or with one part of a command, is
  enough. A command edits the files that it redirects its output to. If a match cannot be excluded, the
  answer is *perhaps*, and the user is asked.

Among the rules that match, reject beats allow, however narrow the allow rule is. Among rules of the same
decision, the narrowest is reported as the reason. Rules are compared by what they match, then by scope
(session before project before everywhere), then by agent (one agent before any agent).
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from acp_tui.permissions.commands.risky_arguments import WHOLE_COMMAND
from acp_tui.permissions.subject import PATH_KINDS, Subject, Target
from acp_tui.session.mcp_tool import fold_mcp_name

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandPart
    from acp_tui.permissions.rules import AgentIdentity, Rule

Match = Literal["yes", "no", "perhaps"]


@lru_cache(maxsize=2048)
def compile_glob(pattern: str, base: str, *, fold: bool = False) -> re.Pattern[str]:
    """Compile a pattern to match absolute paths.

    `*` matches within a folder, `**` across folders. A relative pattern starts at `base`. With `fold` the
    pattern matches paths normalised by `fold_case`.
    """
    text = pattern if pattern.startswith("/") else posixpath.join(escape(base), pattern)
    if fold:
        text = fold_case(text)
    return re.compile(_expression(text), re.DOTALL)


def _expression(text: str) -> str:
    below = text.endswith(("/**", "/"))
    text = re.sub(r"/(\*\*)?$", "", text) if below else text
    found: list[str] = []
    position = 0
    while position < len(text):
        if text.startswith("**/", position) and text[position - 1 : position] in ("/", ""):
            found.append("(?:.*/)?")
            position += 3
        elif text.startswith("**", position):
            found.append(".*")
            position += 2
        elif text[position] == "[" and (end := text.find("]", position + 2)) > 0:
            found.append(_character_class(text[position + 1 : end]))
            position = end + 1
        else:
            found.append({"*": "[^/]*", "?": "[^/]"}.get(text[position], re.escape(text[position])))
            position += 1
    return "".join(found) + ("(?:/.*)?" if below else "")


def _character_class(content: str) -> str:
    negated = content.startswith(("!", "^")) and len(content) > 1
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", content[1:] if negated else content)
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error:  # `[z-a]`: matches nothing
        return "(?!)"
    return expression


def escape(path: str) -> str:
    """Escape a path so that it can be used as a pattern that matches this path only."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def unescape(pattern: str) -> str:
    """Return the path from which `escape` made this pattern."""
    return re.sub(r"\[([*?\[])\]", r"\1", pattern)


def fold_case(path: str) -> str:
    """Normalise a path, so that neither case nor the two possible encodings of `é` make a difference."""
    return unicodedata.normalize("NFC", path).casefold()


def applies(rule: Rule, *, agent: AgentIdentity | None, project: str | None) -> bool:
    """Return True if the rule is in force for this agent and this project."""
    return (rule.scope != "project" or rule.project == project) and _is_for(rule, agent)


def _is_for(rule: Rule, agent: AgentIdentity | None) -> bool:
    if rule.agent is None:
        return True
    if agent is None or rule.agent != agent.id:
        return False
    # The agent chooses its name. It must not evade a reject rule by reporting another name.
    return rule.decision == "reject" or rule.agent_name in (None, agent.name)


def matches(rule: Rule, subject: Subject, *, project: str | None = None) -> Match:
    """Return whether the rule matches the request; for an allow rule, never "perhaps".

    A relative path in the rule starts at the rule's own project, or at `project` if the rule has no project.
    """
    base = rule.project or project or ""
    if rule.decision == "allow":
        return "yes" if _allows(rule, subject, base) else "no"
    return _rejects(rule, subject, base)


def strongest(rules: Iterable[Rule]) -> Rule | None:
    """Return the rule that decides, among rules that match the same request; None if there are no rules.

    The module's docstring says how rules are compared.
    """
    return max(rules, key=lambda rule: (rule.decision == "reject", *rule.narrowness), default=None)


def is_sum_of_parts(subject: Subject) -> bool:
    """Return True if a composite command does nothing but run its parts.

    Such a command is allowed if all its parts are allowed.
    """
    known = {name for part in subject.parts for name in part.sensitive_names}
    places = [*subject.targets, *([subject.cwd] if subject.cwd else [])]
    files = {target.real for part in subject.parts for target in part.targets}
    return (
        bool(subject.parts)
        and subject.certain
        and subject.not_plain is None
        and not (subject.dangerous or subject.too_long or subject.writes_unknown or subject.also_edits)
        and all(place.inside and not place.sensitive for place in places)
        and known.issuperset(subject.sensitive_names)
        and files.issuperset(target.real for target in subject.written)
    )


def _allows(rule: Rule, subject: Subject, base: str) -> bool:
    if subject.dangerous or subject.too_long or subject.always_ask:
        return False
    if subject.cwd and not subject.cwd.inside:
        return False
    if rule.server is not None:
        return subject.certain and _is_tool(rule, subject) and _all_ordinary(subject)
    if rule.kind != subject.kind or subject.also_edits:
        return False
    if rule.command is not None:
        return (
            subject.certain
            and subject.command_words is not None
            and _begins_with(rule, subject.command_words)
            and not any(_obstacles(rule, subject))
            and _all_ordinary(subject)
            and (
                rule.exact or not subject.sensitive_names
            )  # an exact rule allows the files that its command names
        )
    if rule.path is not None:
        return (
            subject.certain
            and bool(subject.targets)
            and not subject.input_concerns
            and all(_allows_file(rule.path, t, base) for t in subject.targets)
        )
    return (
        (subject.certain or not _needs_files(subject))
        and _all_ordinary(subject)
        and not subject.sensitive_names
        and not subject.input_concerns
    )


def _needs_files(subject: Subject) -> bool:
    """Return True if requests of the kind `subject.kind` are allowed only when all their files are known.

    An unknown file could be outside the workspace.
    """
    return subject.kind in PATH_KINDS


def _all_ordinary(subject: Subject) -> bool:
    """Return True if nothing is outside the workspace and no file in `targets` is sensitive."""
    return not subject.outside and not subject.sensitive


def _allows_file(pattern: str, target: Target, base: str) -> bool:
    if target.sensitive and not _is_exactly(pattern, target.real, base):
        return False
    if not target.inside and not pattern.startswith("/"):
        return False
    return compile_glob(pattern, base).fullmatch(target.real) is not None


def _is_exactly(pattern: str, path: str, base: str) -> bool:
    """Return True if the pattern names exactly this path, without wildcards.

    A relative pattern starts at `base`.
    """
    return posixpath.join(base, unescape(pattern)) == path


def _begins_with(rule: Rule, command: Sequence[str]) -> bool:
    wanted = rule.command or ()
    return tuple(command[: len(wanted)]) == wanted and (not rule.exact or len(command) == len(wanted))


def find_obstacle(rule: Rule, subject: Subject) -> str | None:
    """Return why an allow rule does not match although the command begins with the rule's words.

    Only set variables and risky arguments count as reasons. Return None if there is no such reason, for a
    reject rule, and for a command that begins with other words.
    """
    words = subject.command_words
    if rule.decision != "allow" or rule.kind != subject.kind or not rule.command or words is None:
        return None
    return next(_obstacles(rule, subject), None) if _begins_with(rule, words) else None


def _obstacles(rule: Rule, subject: Subject) -> Iterator[str]:
    """Yield the reasons why variables and arguments keep the rule from matching a command.

    The command begins with the rule's words.
    """
    yield from (f"it sets {name}" for name, _ in subject.variables)
    named = len(rule.command or ())
    for position, why in subject.argument_risks:
        if position == WHOLE_COMMAND or (position >= named and not rule.exact):
            yield why


def _is_tool(rule: Rule, subject: Subject) -> bool:
    return (
        subject.server is not None
        and rule.server in (None, subject.server)
        and rule.tool in (None, subject.tool)
    )


def _may_be_tool(rule: Rule, subject: Subject) -> bool:
    """Return True if a call could be for a tool that a reject rule names.

    Some agents replace characters in the names of servers and tools.
    """
    pairs = ((rule.server, subject.server), (rule.tool, subject.tool))
    return subject.server is not None and all(
        rejected is None or fold_mcp_name(rejected) == fold_mcp_name(used or "") for rejected, used in pairs
    )


def _rejects(rule: Rule, subject: Subject, base: str) -> Match:
    if any(_rejects(rule, part, base) == "yes" for part in subject.parts):
        return "yes"
    if rule.kind == "edit" and subject.kind == "execute":
        return _rejects_writing(rule, subject, base)
    if rule.kind == "mcp":
        if subject.kind == "mcp" and not subject.certain:
            return "perhaps" if rule.server else "yes"
        return "yes" if _may_be_tool(rule, subject) else "no"
    if rule.kind != subject.kind and not (rule.kind == "edit" and subject.also_edits):
        return "no"
    if rule.command is not None:
        return _rejects_command(rule, subject)
    if rule.path is not None:
        if _names_any(rule.path, subject.targets, base):
            return "yes"
        return "no" if subject.certain and subject.targets else "perhaps"
    return "yes"


def _names_any(pattern: str, targets: Sequence[Target], base: str) -> bool:
    compiled = compile_glob(pattern, base, fold=True)
    return any(compiled.fullmatch(fold_case(path)) for t in targets for path in (t.path, t.real))


def _rejects_writing(rule: Rule, subject: Subject, base: str) -> Match:
    """Return whether a reject rule for edits matches the files that a command redirects its output to.

    A file also counts if the tool call shows a diff of it.
    """
    if rule.path is None:
        return "yes" if subject.written or subject.writes_unknown or subject.also_edits else "no"
    if _names_any(rule.path, (*subject.written, *(subject.targets if subject.also_edits else ())), base):
        return "yes"
    return "perhaps" if subject.writes_unknown else "no"


def _rejects_command(rule: Rule, subject: Subject) -> Match:
    if not subject.certain:
        return "perhaps"
    line = subject.parsed
    if line is None:
        return "perhaps"
    found: set[Match] = {_rejects_part(rule, part) for part in line.parts}
    if "yes" in found:
        return "yes"
    return "perhaps" if "perhaps" in found or line.problem else "no"


def _rejects_part(rule: Rule, part: CommandPart) -> Match:
    """Return whether a reject rule matches a command, word by word.

    `/usr/bin/git` counts as `git`. If options stand between the words of the rule, the answer is "perhaps".
    """
    if not part.words:
        return "no"
    wanted = rule.command or ()
    if rule.exact and len(part.words) > len(wanted):
        return "no"
    for position, expected in enumerate(wanted):
        if position >= len(part.words):
            return "perhaps" if part.open_ended else "no"
        word = part.words[position]
        if not word.literal:
            return "perhaps"
        if word.text == expected or (position == 0 and _is_program(part, expected)):
            continue
        if position == 0 or not word.text.startswith("-"):
            return "no"
        found = expected.startswith("-") or any(given.text == expected for given in part.words)
        return "perhaps" if found else "no"
    return "yes"


def _is_program(part: CommandPart, program: str) -> bool:
    return bool(part.name) and part.name == program.rpartition("/")[2].lower()
