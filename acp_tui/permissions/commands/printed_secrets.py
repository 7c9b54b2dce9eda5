"""Finds commands that print secrets: the environment, stored passwords, access tokens.

What a command prints goes to the agent and its model. So no policy allows such a command without asking, and
of the rules that allow commands only an exact one for this command does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from acp_tui.permissions.danger.inline_code import code_of
from acp_tui.store.secret_patterns import is_secret_name

if TYPE_CHECKING:
    from acp_tui.permissions.danger.steps import Step

MAX_TEXT = 4096
"""How many characters of a command's arguments are searched."""
_ENVIRONMENT = "it prints environment variables, which may contain passwords"
_STORED = "it prints a password or an access token"
_HISTORY = "it prints earlier commands, which may contain passwords"
_SETTING = r"\S*(?i:token|auth|password|passwd|secret|key|credential)"
_SECRETS_AS = r"(?:^|\s)(?:-o|--output)[ =]?(?!wide|name)\S|--template|--show-"
_REVEALING = re.compile(r"--(?:show-secrets?(?:=true)?|reveal|show-tokens?|with-decryption|expose-token)")
"""Options with which any program prints secrets."""
_PRINTED_IN_CODE = re.compile(
    r"\b(?:print\w*|puts|p|pp|pprint|echo|say|warn|log|dump\w*|write|var_dump|inspect|stringify|for|each)\b.{0,200}?"
    r"(?:os\.environ\b(?!\s*(?:\[|\.get\b|\.setdefault|\.pop))|process\.env\b(?!\s*(?:\[|\??\.))"
    r"|(?<![\w$.])ENV\b(?!\s*(?:\[|\.fetch))|%ENV|\bENVIRON\b(?!\s*\[\s*\")|\$_ENV\b(?!\s*\[)|\bgetenv\(\)"
    r"|Deno\.env\.toObject)|phpinfo\(",
    re.DOTALL,
)
_POWERSHELL_ENVIRONMENT = re.compile(
    r"\b(?:gci|dir|ls|get-childitem|get-item)\s+env:(?:\*|\s|$)", re.IGNORECASE
)
_VARIABLE = re.compile(r"\$\{?(\w+)")
_SHELL_LISTINGS = frozenset({"export", "declare", "typeset", "readonly", "local"})
_PS_WITH_ENVIRONMENT = re.compile(r"[a-df-zA-Z]*e[a-zA-Z]*")


@dataclass(frozen=True, slots=True)
class _Printer:
    """The arguments with which a program prints a secret, as a pattern for the arguments joined by spaces.

    Options before a subcommand do not matter: they are left out for `words`, which is tried first.
    """

    words: str = "(?!)"  # matches the operands, that is the arguments without options, from the first on
    options: str = "(?!)"  # searched in all arguments
    unless: str = "(?!)"  # searched in all arguments: then nothing secret is printed


_PRINTERS = {
    "gh": _Printer(r"auth token", r"^auth status\b.*(?:\s-\w*t|--show-token)"),
    "glab": _Printer(rf"config get .*{_SETTING}", r"^auth status\b.*(?:\s-\w*t|--show-token)"),
    "hub": _Printer(r"auth token"),
    "aws": _Printer(
        r"configure (?:get (?!.*\b(?:region|output|format)$)|export-credentials)"
        r"|sts (?:get-(?:session|federation)-token|assume-role)|ecr get-(?:login|authorization)"
        r"|ecr-public get-|secretsmanager (?:batch-)?get-secret-value|codeartifact get-authorization-token"
        r"|iam create-access-key|sso get-role-credentials|eks get-token|ec2 get-password-data"
        r"|rds generate-db-auth-token|cognito-idp (?:admin-)?initiate-auth",
        r"\bssm get-parameter.*--with-decryption",
    ),
    "gcloud": _Printer(
        r"(?:\w+ )?auth (?:application-default )?print-(?:access|identity)-token"
        r"|(?:beta )?secrets versions access"
        r"|config config-helper|sql generate-login-token"
    ),
    "az": _Printer(
        r"account get-access-token|keyvault (?:secret|key) (?:show|download)|acr credential show"
        r"|storage account (?:keys list|show-connection-string)|ad (?:sp|app) (?:create|credential)"
        r"|(?:cosmosdb|functionapp|redis|search|cognitiveservices account) (?:keys list|list-keys|keys show)",
        r"--expose-token",
    ),
    "git": _Printer(
        r"credential(?:-\S+)? (?:fill|get)|credential-\S+ .*get",
        rf"\bconfig\b.*(?:--get\S*|\bget)\s.*(?:extraheader|{_SETTING})",
    ),
    **dict.fromkeys(
        ("pass", "gopass"),
        _Printer(
            r"(?!(?:ls|list|find|search|grep|insert|add|edit|generate|rm|remove|delete|mv|cp|move|copy|git|init"
            r"|help|version|sync|setup|otp (?:insert|append)|recipients|mounts|config|fsck|audit)\b)\S+"
        ),
    ),
    "op": _Printer(r"read|item get|document get|inject|signin|connect token", unless="--help"),
    "bw": _Printer(r"get (?:password|item|totp|notes|attachment|username)|list items|export|unlock|send get"),
    "rbw": _Printer(r"get|code|export"),
    "lpass": _Printer(r"show|export"),
    "keepassxc-cli": _Printer(r"show|clip|export|attachment-export"),
    **dict.fromkeys(
        ("vault", "bao"),
        _Printer(r"kv get|read|token (?:lookup|create)|print token|login|unwrap|operator (?:init|rekey)"),
    ),
    "doppler": _Printer(r"secrets(?! (?:set|delete|upload))|configs tokens"),
    "infisical": _Printer(r"secrets(?! (?:set|delete))|export"),
    "chamber": _Printer(r"read|export|env|list"),
    "sops": _Printer(
        r"decrypt|exec-env", r"(?:^|\s)(?:-d|--decrypt)\b", unless=r"\s(?:-i|--in-place|--output)\b"
    ),
    "gpg": _Printer(options=r"--export-secret|(?:^|\s)(?:-\w*d\w*|--decrypt)\b(?!.*\s(?:-o|--output)\b)"),
    "gpg2": _Printer(options=r"--export-secret|(?:^|\s)(?:-\w*d\w*|--decrypt)\b(?!.*\s(?:-o|--output)\b)"),
    "ansible-vault": _Printer(r"view|decrypt"),
    "security": _Printer(r"find-(?:generic|internet)-password|dump-keychain|export", unless=r"^$"),
    "secret-tool": _Printer(r"lookup|search"),
    "keyring": _Printer(r"get"),
    "kwallet-query": _Printer(r"\S", r"-r"),
    **dict.fromkeys(
        ("kubectl", "oc", "k"),
        _Printer(
            r"create token|extract secret",
            rf"\bconfig view\b.*--raw|\bget secrets?\b.*(?:{_SECRETS_AS})"
            r"|^whoami\b.*(?:-t|--show-token)|^exec\b.* (?:env|printenv|set)$",
        ),
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        _Printer(
            r"compose (?:\S+\.ya?ml )*(?:config|convert)",
            r"^(?:container )?(?:exec|run)\b.* (?:env|printenv)$|^compose (?:exec|run)\b.* (?:env|printenv)$",
            unless=r"^compose\b.*--(?:services|images|volumes|profiles|networks|hash|quiet|no-interpolate)|\s-q\b",
        ),
    ),
    **dict.fromkeys(
        ("docker-compose", "podman-compose"),
        _Printer(
            r"(?:\S+\.ya?ml )*(?:config|convert)",
            r"^(?:exec|run)\b.* (?:env|printenv)$",
            unless=r"--(?:services|images|volumes|profiles|networks|hash|quiet|no-interpolate)|\s-q\b",
        ),
    ),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn"),
        _Printer(rf"(?:config get|get|c get) {_SETTING}|token (?:list|create)|run env$|env$"),
    ),
    "heroku": _Printer(r"config(?:$|:get| )|auth:token"),
    **dict.fromkeys(("fly", "flyctl"), _Printer(r"auth token|tokens? create")),
    "netlify": _Printer(r"env:(?:list|get)"),
    "railway": _Printer(r"variables"),
    "firebase": _Printer(r"login:ci|functions:secrets:access"),
    "terraform": _Printer(r"state pull", r"^output\b.*(?:-json|-raw)"),
    "tofu": _Printer(r"state pull", r"^output\b.*(?:-json|-raw)"),
    "systemctl": _Printer(r"show-environment"),
    "launchctl": _Printer(r"export"),
    "tmux": _Printer(r"show-environment|showenv"),
    "direnv": _Printer(r"export|dump"),
    "wg": _Printer(r"showconf|show \S+ (?:private-key|preshared-keys|dump)"),
    "cmake": _Printer(options=r"-E environment"),
}


def printed_secrets(steps: Iterable[Step]) -> Iterator[str]:
    """Yield a clause for each kind of secret that the commands print: "it prints …"."""
    found = (check(step) for step in steps for check in _CHECKS)
    yield from dict.fromkeys(clause for clause in found if clause)


def _stored_secret(step: Step) -> str | None:
    printer = _PRINTERS.get(step.name)
    if any(map(_REVEALING.fullmatch, step.arguments)):
        return _STORED
    if printer is None:
        return None
    words, text = (" ".join(some)[:MAX_TEXT] for some in (step.operands, step.arguments))
    if re.search(printer.unless, text) or {"--help", "-h"} & set(step.arguments):
        return None
    # After an option, as in `aws --profile x configure get`, it is not known which word is the subcommand.
    start = r"(?:^|\s)" if step.arguments[:1] and step.arguments[0].startswith("-") else "^"
    found = re.search(rf"{start}(?:{printer.words})(?:\b|(?<=\s))", words) or re.search(printer.options, text)
    return (_ENVIRONMENT if "env" in (found[0]).split()[-1:] else _STORED) if found else None


def _environment(step: Step) -> str | None:
    words = step.arguments
    if {"--help", "--version"} & set(words):
        return None
    if step.name == "env":
        return None if _wraps_command(words) else _ENVIRONMENT
    if step.name == "printenv":
        named = step.operands
        return _ENVIRONMENT if not named or any(map(is_secret_name, named)) else None
    if step.name == "set":
        return None if words else _ENVIRONMENT
    if step.name in _SHELL_LISTINGS:
        listing = not words or (any(re.match(r"-\w*[px]", text) for text in words) and not step.operands)
        secret = any(re.match(r"-\w*p", text) for text in words) and any(map(is_secret_name, step.operands))
        return _ENVIRONMENT if (listing and step.name != "local") or secret else None
    if step.name in {"echo", "printf", "print"}:
        texts = [*words, *(text for each in step.part.input for text in (each,))]
        names = (name for text in texts for name in _VARIABLE.findall(text))
        return _ENVIRONMENT if any(map(is_secret_name, names)) else None
    if step.name == "ps":
        plain = [text for text in takewhile(lambda word: not word.startswith("-"), words) if text.isalpha()]
        return _ENVIRONMENT if plain and _PS_WITH_ENVIRONMENT.fullmatch(plain[0]) else None
    if step.name == "jq":
        return (
            _ENVIRONMENT
            if any(re.fullmatch(r"\s*(?:env|\$ENV)\s*(?:\|.*)?", text) for text in words)
            else None
        )
    return None


def _wraps_command(words: tuple[str, ...]) -> bool:
    """Return True if `env` with these arguments runs a command."""
    takes_value = False
    for text in words:
        if takes_value:
            takes_value = False
        elif text in {"-u", "--unset", "-C", "--chdir"}:
            takes_value = True
        elif text.startswith(("-S", "--split-string")) or not (text.startswith("-") or "=" in text):
            return True
    return False


def _environment_in_code(step: Step) -> str | None:
    codes = code_of(step)
    found = any(_PRINTED_IN_CODE.search(code) or _POWERSHELL_ENVIRONMENT.search(code) for code in codes)
    return _ENVIRONMENT if found else None


def _history(step: Step) -> str | None:
    if step.name == "history":
        return None if {"-c", "-d", "-w", "-a"} & set(step.arguments) else _HISTORY
    return _HISTORY if step.name == "fc" and "l" in step.letters else None


_CHECKS: tuple[Callable[[Step], str | None], ...] = (
    _stored_secret,
    _environment,
    _environment_in_code,
    _history,
)
