from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.errors import UserError
from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_matching import matches, strongest
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.rules import Rule, describe_choice, describe_rule, from_dict, to_dict
from acp_tui.permissions.subject_reader import subject_of_call, subject_of_kind
from acp_tui.session.mcp_tool import McpTool, find_mcp_tool
from tests.support.permissions import (
    PLACE,
    PROJECT,
    call_of,
    command,
    file,
    narrowest_rule,
    subject_of,
    terminal,
)

if TYPE_CHECKING:
    from acp_tui.permissions.subject import Subject


def match_of(decision: str, spec: str, subject: Subject) -> str:
    rule = parse_spec(spec, "allow" if decision == "allow" else "reject")
    return matches(rule, subject, project=PROJECT)


# --------------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("spec", "line", "allowed"),
    [
        ("execute:git status", "git status", True),
        ("execute:git status", "git status --short", True),
        ("execute:git *", "git push --force", True),
        ("execute:npm test", "npm test -- --x", True),
        ("execute:'git' status", "git status", True),
        ("execute", "git status; ls | wc", True),
        ("execute:*", "git status; ls | wc", True),
        ("execute:git status", "cd src && git status", True),
        ("execute:git status", "bash -lc 'git status'", True),
        ("execute:git status", "git", False),
        ("execute:git status", "git statusx", False),
        ("execute:git status", "gits status", False),
        ("execute:git status", "git -C / status", False),
        ("execute:git status", "/tmp/git status", False),
        ("execute:git status", "git status; rm -rf ~", False),
        ("execute:git status", "git status$(x)", False),
        ("execute:git status", "git status > x", False),
        ("execute:git status", "git status\nls", False),
        ("execute:git status", "A=1 git status", False),
        ("execute:git status", "sudo git status", False),
        ("execute:git status", "bash -c 'git status; ls'", False),
        ("execute:git status", "cd /etc && git status", False),
        ("execute", "rm -rf /", False),
        ("execute:rm", "rm -rf /", False),
        ("execute:cd", "cd /etc && rm x", False),
        ("edit", "git status", False),
    ],
)
def test_allow_rules_match_plain_commands_by_their_first_words(spec: str, line: str, allowed: bool) -> None:
    assert match_of("allow", spec, command(line)) == ("yes" if allowed else "no")


@pytest.mark.parametrize(
    ("spec", "line", "answer"),
    [
        ("execute:git push", "git push", "yes"),
        ("execute:git push", "git push --force", "yes"),
        ("execute:git push", "/usr/bin/git push", "yes"),
        ("execute:git push", "ls; git push", "yes"),
        ("execute:git push", "GIT push", "yes"),
        ("execute:git push", "[ -f x ] && ls", "no"),
        ("execute:git push", "echo $(git push)", "yes"),
        ("execute:git push", "sudo -u x env A=1 git push", "yes"),
        ("execute:git push", "g\\it 'push'", "yes"),
        ("execute:git push", "X=1 git push > y &", "yes"),
        ("execute:git push", "if x; then git push; fi", "yes"),
        ("execute:git push", "sh -c 'sh -c \"git push\"'", "yes"),
        ("execute:git push", "cd /etc && git push", "yes"),
        ("execute:git push", "git -C x push", "perhaps"),
        ("execute:git push", "git $X", "perhaps"),
        ("execute:git push", "$X push", "perhaps"),
        ("execute:git push", "eval $X", "perhaps"),
        ("execute:git push", "echo push | xargs git", "perhaps"),
        ("execute:git push", "f() { x; }; f", "perhaps"),
        ("execute:git push", "git 'push", "perhaps"),
        ("execute:rm -rf", "rm -fr x", "perhaps"),
        ("execute:git push", "git status", "no"),
        ("execute:git push", "echo git push", "no"),
        ("execute:git push", "echo 'x; git push'", "no"),
        ("execute:git push", "ls # ; git push", "no"),
        ("execute:git push", "git commit -m push", "no"),
        ("execute", "ls", "yes"),
    ],
)
def test_reject_rules_match_any_part_of_a_command(spec: str, line: str, answer: str) -> None:
    assert match_of("reject", spec, command(line)) == answer


def test_a_reject_rule_may_match_an_unknown_command() -> None:
    assert match_of("reject", "execute:git push", subject_of({"kind": "execute", "title": "x"})) == "perhaps"


def test_only_an_allow_rule_for_all_commands_matches_an_unknown_command() -> None:
    unknown = subject_of({"kind": "execute", "title": "x"})
    assert match_of("allow", "execute", unknown) == "yes"
    assert match_of("allow", "execute:x", unknown) == "no"


def test_no_allow_rule_matches_a_command_outside_the_workspace() -> None:
    for subject in (
        terminal("ls", cwd="/etc"),
        command("ls", cwd="/etc"),
    ):
        assert match_of("allow", "execute", subject) == "no"
        assert match_of("allow", "execute:ls", subject) == "no"


@pytest.mark.parametrize("name", ["CC", "XDG_CONFIG_HOME", "GIT_TRACE", "npm_config_script_shell", "FOO"])
def test_allow_rules_for_a_command_do_not_match_it_with_variables(name: str) -> None:
    for subject in (terminal("make", env={name: "x"}), command("make", env={name: "x"})):
        exact = Rule(decision="allow", kind="execute", command=("make",), exact=True)
        assert matches(exact, subject) == "no"
        assert match_of("allow", "execute:make", subject) == "no"
        assert match_of("allow", "execute", subject) == "yes"
        assert match_of("reject", "execute:make", subject) == "yes"
    assert match_of("allow", "execute:make", terminal("make", env={"CI": "1", "TERM": "dumb"})) == "yes"


@pytest.mark.parametrize(
    ("rule", "line", "why"),
    [
        ("git diff", "git diff --output=/root/.bashrc", "--output may write a file"),
        ("git diff", "git diff --output x", "--output may write a file"),
        ("git", "git diff --ext-diff", "--ext-diff may run a program"),
        ("git grep", "git grep --open-files-in-pager=evil x", "--open-files-in-pager may run a program"),
        ("git grep", "git grep -Oevil x", "-Oevil may run a program"),
        ("git", "git -C /etc status", "/etc is outside the workspace"),
        ("git", "git --git-dir=/tmp/x status", "/tmp/x is outside the workspace"),
        ("sort", "sort -o out in", "-o may write a file"),
        ("sort", "sort -uo out in", "-uo may write a file"),
        ("sort", "sort -oout in", "-oout may write a file"),
        ("sort", "sort --outp=out in", "--outp may write a file"),
        ("sort", "sort --compress-prog=evil in", "--compress-prog may run a program"),
        ("cat", "cat /etc/passwd", "/etc/passwd is outside the workspace"),
        ("cat", "cat a ../../x", "../../x is outside the workspace"),
        ("cat", "cat src/../../../x", "src/../../../x is outside the workspace"),
        ("cat", "cat away/passwd", "away/passwd is outside the workspace"),
        ("cat", "cat -- /etc/passwd", "/etc/passwd is outside the workspace"),
        ("cc", "cc -I/usr/include/x a.c", "/usr/include/x is outside the workspace"),
        ("cc", "cc -I../../x a.c", "../../x is outside the workspace"),
        ("cat", "cat file:///etc/passwd", "file:///etc/passwd is outside the workspace"),
        ("make", "make CC=evil.sh", "it sets CC"),
        (
            "./tool",
            "cd src && ./tool",
            "./tool may be a different program in the folder where the command runs",
        ),
    ],
)
def test_an_allow_rule_does_not_match_a_risky_argument(rule: str, line: str, why: str) -> None:
    subject = command(line)
    assert match_of("allow", f"execute:{rule}", subject) == "no"
    decision = decide(subject, policy="ask", rules=[parse_spec(f"execute:{rule}", "allow")])
    assert decision.answer == "ask"
    assert decision.why.endswith(f"does not apply: {why}")


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("git diff", "git diff main..HEAD -- src/a.py"),
        ("git", "git log --oneline -n 5 origin/main"),
        ("git fetch", "git fetch https://example.org/x.git main"),
        ("cat", "cat src/a /ws/project/b /ws/more/c /dev/null"),
        ("grep", "grep -on x -- src"),
        ("pytest", "pytest -q --maxfail=1 -k 'a or b' tests/a.py::test_b"),
        ("npm test", "npm test -- --watch=false"),
        ("go test", "go test -count=1 ./..."),
        ("git commit", "git commit -m 'Fix /etc handling: see a/b'"),
        ("sort", "sort -rn --key=2 in"),
        ("make", "make -j4 all"),
        ("make", "make CI=1"),
        ("./tool", "./tool test"),
        ("cat /etc/passwd", "cat /etc/passwd"),
        ("git diff --output=x", "git diff --output=x --stat"),
    ],
)
def test_an_allow_rule_matches_ordinary_arguments_and_its_own(rule: str, line: str) -> None:
    assert match_of("allow", f"execute:{rule}", command(line)) == "yes"


def test_an_exact_rule_matches_its_risky_arguments() -> None:
    line = "git diff --output=x /etc/passwd"
    rule = Rule(decision="allow", kind="execute", command=tuple(line.split()), exact=True)
    assert matches(rule, command(line)) == "yes"


def test_an_allow_rule_does_not_match_500_arguments() -> None:
    line = "cat " + " ".join(f"f{number}" for number in range(500))
    assert match_of("allow", "execute:cat", command(line)) == "no"


def test_an_exact_rule_does_not_match_further_arguments() -> None:
    rule = Rule(decision="allow", kind="execute", command=("git", "push"), exact=True)
    assert matches(rule, command("git push")) == "yes"
    assert matches(rule, command("git push --force")) == "no"


META = st.sampled_from(
    [";", "&", "|", "<", ">", "$", "`", "(", ")", "\n", "\\", "*", "?", "[", "{", "~", "#", "!"]
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a loaded machine is slow
@given(st.lists(st.sampled_from(["git", "status", "x", "-f"]), min_size=1, max_size=4), META, st.data())
def test_no_allow_rule_matches_an_unquoted_shell_metacharacter(
    given_words: list[str], sign: str, data: Any
) -> None:
    line = " ".join(given_words)
    at = data.draw(st.integers(min_value=1, max_value=len(line)))
    subject = command(line[:at] + sign + data.draw(st.sampled_from(["", " ", "x"])) + line[at:])
    if sign == "\n" and not (subject.command or "").count("\n"):
        return  # the line break only ends the command
    for length in range(1, len(given_words) + 1):
        rule = Rule(decision="allow", kind="execute", command=tuple(given_words[:length]))
        assert matches(rule, subject) == "no"


# --------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("pattern", "path", "allowed"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/b/c/d.py", True),
        ("src/", "src/a.py", True),
        ("**", "a/b", True),
        ("*.md", "README.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("**/*.md", "c.md", True),
        ("src/a?.py", "src/ab.py", True),
        ("src/[a-c].py", "src/b.py", True),
        ("src/[!a].py", "src/b.py", True),
        ("./src/a", "src/a", True),
        ("src/**", "/ws/in/a", True),
        ("/ws/project/src/**", "src/a", True),
        ("/ws/more/**", "/ws/more/a", True),
        ("/etc/hosts", "/etc/hosts", True),
        ("/etc/**", "/ws/project/away/hosts", True),
        (".env", ".env", True),
        ("*.md", "a/README.md", False),
        ("src/*", "src/b/c", False),
        ("src/**", "srcs/a", False),
        ("src/**", "src/../x", False),
        ("src/**", "away/x", False),
        ("src/**", "src/hidden", False),
        ("**", ".env", False),
        (".e*", ".env", False),
        ("**", "/etc/hosts", False),
        ("**", "/ws/more/a", False),
        ("[z-a]", "b", False),
        ("src/[!a]b", "src//b", False),
        ("a.c", "abc", False),
    ],
)
def test_allow_rules_match_files_by_glob(pattern: str, path: str, allowed: bool) -> None:
    assert match_of("allow", f"edit:{pattern}", file(path)) == ("yes" if allowed else "no")


def test_an_allow_rule_must_match_all_files_and_a_reject_rule_any() -> None:
    both = subject_of_kind("edit", ["src/a", "docs/b"], context=PLACE)
    assert match_of("allow", "edit:src/**", both) == "no"
    assert match_of("reject", "edit:src/**", both) == "yes"


def test_an_allow_rule_for_a_kind_matches_only_ordinary_files_in_the_workspace() -> None:
    assert match_of("allow", "edit", file("src/a")) == "yes"
    assert match_of("allow", "edit", file("/etc/hosts")) == "no"
    assert match_of("allow", "edit", file(".env")) == "no"
    assert match_of("allow", "edit", subject_of({"kind": "edit"})) == "no"
    assert match_of("allow", "read", file("src/a")) == "no"


@pytest.mark.parametrize("path", ["secrets/a", "SECRETS/a", "secrets", "x/../secrets/a"])
def test_a_reject_rule_matches_other_spellings_of_a_path(path: str) -> None:
    assert match_of("reject", "edit:secrets/**", file(path)) == "yes"


def test_a_reject_rule_matches_a_link_and_its_target() -> None:
    assert match_of("reject", "edit:src/hidden", file("src/hidden")) == "yes"
    assert match_of("reject", "edit:.env", file("src/hidden")) == "yes"


def test_a_reject_rule_may_match_unnamed_files() -> None:
    assert match_of("reject", "edit:secrets/**", subject_of({"kind": "edit"})) == "perhaps"
    assert match_of("reject", "search:secrets/**", subject_of({"kind": "search"})) == "perhaps"
    assert match_of("reject", "edit", subject_of({"kind": "edit"})) == "yes"


def test_relative_patterns_are_relative_to_the_project_of_the_rule() -> None:
    rule = Rule(decision="allow", kind="edit", path="src/**", scope="project", project=PROJECT)
    assert matches(rule, file("src/a"), project="/elsewhere") == "yes"


# --------------------------------------------------------------------------- tools


def test_rules_match_mcp_servers_and_tools() -> None:
    issue = subject_of({"name": "mcp__github__create_issue"})
    for spec in ("mcp", "mcp:github", "mcp:github/*", "mcp:github/create_issue"):
        assert match_of("allow", spec, issue) == match_of("reject", spec, issue) == "yes"
    for spec in ("mcp:git", "mcp:github/create", "mcp:create_issue", "other"):
        assert match_of("allow", spec, issue) == match_of("reject", spec, issue) == "no"
    assert match_of("allow", "mcp", subject_of({"name": "Agent"})) == "no"


def test_no_allow_rule_matches_an_ambiguous_mcp_tool() -> None:
    unclear = subject_of({"name": "mcp__a__b__c"})
    assert match_of("allow", "mcp:a", unclear) == "no"
    assert match_of("reject", "mcp:a", unclear) == "perhaps"


@pytest.mark.parametrize(
    ("name", "servers", "allow", "reject"),
    [
        ("mcp__my_docs__find", ["my.docs"], "yes", "yes"),
        ("my_docs__find", ["my.docs"], "yes", "yes"),
        ("mcp__My_Docs__Find", [], "no", "yes"),
        ("mcp__my_docs__find", ["my.docs", "my_docs"], "no", "perhaps"),
        ("my_docs__find", ["my_docs", "my.docs"], "no", "perhaps"),
        ("mcp__my.docs___find", ["my.docs", "my.docs_"], "no", "perhaps"),
    ],
)
def test_a_rule_allows_a_tool_only_if_its_server_is_certain(
    name: str, servers: list[str], allow: str, reject: str
) -> None:
    call = call_of({"kind": "other", "name": name})
    call.mcp_tool = find_mcp_tool([name], "", "other", servers)
    subject = subject_of_call(call, PLACE)
    assert match_of("allow", "mcp:my.docs", subject) == allow
    assert match_of("reject", "mcp:my.docs/find", subject) == reject


def test_rejecting_an_mcp_server_rejects_commands_that_only_a_title_ascribes_to_it() -> None:
    call = call_of({"kind": "execute", "title": "docs__run", "rawInput": {"command": "ls"}})
    call.mcp_tool = McpTool("docs", "run", source="title")
    subject = subject_of_call(call, PLACE)
    assert match_of("allow", "mcp:docs", subject) == "no"
    assert match_of("reject", "mcp:docs", subject) == "yes"


def test_rejecting_an_mcp_server_rejects_its_commands() -> None:
    subject = subject_of({"kind": "execute", "name": "mcp__acp__Bash", "rawInput": {"command": "ls"}})
    assert match_of("reject", "mcp:acp", subject) == "yes"


# --------------------------------------------------------------------------- precedence and storage


def test_reject_rules_take_precedence_then_narrower_rules() -> None:
    ordered = [
        Rule(decision="allow", kind="execute", scope="everywhere"),
        Rule(decision="allow", kind="execute", scope="session"),
        Rule(decision="allow", kind="execute", command=("git",), scope="everywhere"),
        Rule(decision="allow", kind="execute", command=("git", "push")),
        Rule(decision="allow", kind="execute", command=("git", "push"), agent="demo"),
        Rule(decision="allow", kind="execute", command=("git", "push"), exact=True),
        Rule(decision="reject", kind="execute"),
        Rule(decision="reject", kind="execute", command=("git",)),
    ]
    for position in range(1, len(ordered) + 1):
        assert strongest(reversed(ordered[:position])) is ordered[position - 1]
    assert strongest([]) is None


@pytest.mark.parametrize(
    ("rule", "description"),
    [
        (parse_spec("edit:src/**", "allow"), "always allow editing src/** in this run"),
        (
            parse_spec("execute:git push", "reject"),
            "always reject commands that begin with `git push` in this run",
        ),
        (
            Rule(
                decision="allow",
                kind="execute",
                command=("a b",),
                exact=True,
                scope="everywhere",
                agent="demo",
            ),
            "always allow exactly `'a b'` everywhere, for demo",
        ),
        (
            Rule(decision="allow", kind="mcp", server="s", tool="t", scope="project", project="/p"),
            "always allow `t` of the MCP server s in /p",
        ),
        (Rule(decision="allow", kind="read"), "always allow reading files in the workspace in this session"),
        (Rule(decision="allow", kind="edit", path="a\x1b\n"), "always allow editing a␛  in this session"),
    ],
)
def test_describe_rule(rule: Rule, description: str) -> None:
    assert describe_rule(rule) == description


TEXTS = st.text(min_size=1, max_size=6)
RULES = st.builds(
    Rule,
    decision=st.sampled_from(["allow", "reject"]),
    kind=st.just("execute"),
    command=st.none() | st.lists(st.text(max_size=6), min_size=1, max_size=3).map(tuple),
    exact=st.booleans(),
    scope=st.sampled_from(["session", "everywhere"]),
    agent=st.none() | TEXTS,
    created=st.floats(min_value=0, max_value=2e9),
    origin=TEXTS,
)


@given(RULES)
def test_a_rule_is_read_back_from_json(rule: Rule) -> None:
    assert from_dict(json.loads(json.dumps(to_dict(rule)))) == rule


def test_a_rule_with_a_path_for_an_action_without_paths_can_be_shown() -> None:
    rule = from_dict({"decision": "reject", "kind": "fetch", "scope": "everywhere", "path": "src/**"})
    assert rule is not None
    assert describe_choice(rule) == "fetch anything in src/"


def test_fields_of_a_newer_version_are_kept() -> None:
    stored = to_dict(Rule(decision="allow", kind="edit")) | {"colour": "red"}
    rule = from_dict(stored)
    assert rule is not None
    assert to_dict(rule) == stored


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "maybe"},
        {"kind": "dance"},
        {"scope": "galaxy"},
        {"scope": "project"},
        {"project": "/p"},
        {"command": "git"},
        {"command": []},
        {"command": [1]},
        {"path": 1},
        {"exact": "yes"},
        {"created": "today"},
    ],
)
def test_an_invalid_rule_is_not_read(change: dict[str, Any]) -> None:
    good = {"decision": "allow", "kind": "execute", "scope": "session"}
    assert from_dict(good) is not None
    assert from_dict(good | change) is None
    assert from_dict([good]) is None


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("write", "did you mean edit?"),
        ("exec:ls", "did you mean execute?"),
        ("", "The kinds are read, search"),
        ("edit:", "nothing follows the colon"),
        ("edit:../x", "cannot contain"),
        ("edit:~/x", "full path"),
        ("execute:git; ls", "it joins commands with `;`"),
        ("execute:git st*", "`*`"),
        ("mcp:*", "mcp:SERVER"),
        ("mcp:/tool", "mcp:SERVER"),
        ("fetch:https://x", "fetch takes no pattern"),
    ],
)
def test_an_invalid_rule_spec_is_a_usage_error(spec: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_spec(spec, "allow")
    assert why in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_command_with_a_sensitive_file_is_allowed_only_by_an_exact_rule() -> None:
    subject = command("docker compose --env-file .env up")
    narrowest = narrowest_rule(subject, decision="allow", project=PROJECT)
    assert narrowest is not None
    assert narrowest.exact
    for rule in ("execute", "execute:docker", "execute:docker compose --env-file .env up"):
        assert matches(parse_spec(rule, "allow"), subject, project=PROJECT) == "no"
        assert matches(parse_spec(rule, "reject"), subject, project=PROJECT) == "yes"


# --------------------------------------------------------------------------- options that run or write

RUNNING_OPTIONS = """
make --ev=x:=$(x)
make --eva=x
make --eval x
make --makef=-
make --fil=-
make -f -
gcc -wrapper ./evil main.c
gcc -specs=./evil main.c
clang -fplugin=./evil.so main.c
diff3 --diff-program=./evil a b c
diff3 --diff-p ./evil a b c
sdiff --diff=./evil a b
mypy --python-executable ./evil src
mypy --python-e=./evil src
tar --use=./evil -xf a.tar
tar --us ./evil -xf a.tar
tar xfI a.tar ./evil
tar -xIf ./evil a.tar
gtar --to-comm=./evil -xf a.tar
bsdtar --checkpoint-a=exec=x -xf a.tar
man -P ./evil ls
man --pag=./evil ls
cargo test --config target.runner=x
cargo --config x.toml build
hg --config hooks.update=x update
hg --conf alias.x=y status
svn diff --diff-cmd ./evil
svn --config-opt x diff
pytest -p evil
pytest --override-ini=x
eslint --rulesdir=x src
eslint --plug x src
pylint --init-hook=x src
pylint --load-pl=x src
prettier --plugin=./evil.js src
jest --setupFiles=./evil.js
rg --pre=./evil x
wget -e use_askpass=./evil x
curl -fsSLo F https://x
curl -O https://x/y
curl -sSOL https://x/y
curl -D F https://x
curl -cF https://x
curl -K F
curl --conf F
curl --remote-n https://x/y
curl --dump-h F https://x
curl FILE:///etc/passwd
curl file:///etc/passwd
wget -O F https://x
wget -qO F https://x
wget --output-doc=F https://x
wget -P .. https://x
sort -oF a
sort --outp=F a
"""


@pytest.mark.parametrize("line", RUNNING_OPTIONS.strip().splitlines())
def test_a_rule_for_a_program_does_not_allow_options_that_run_or_write(line: str) -> None:
    words = line.split()
    rule = Rule(decision="allow", kind="execute", command=(words[0],))
    assert matches(rule, terminal(*words)) == "no"


@pytest.mark.parametrize(
    "line",
    [
        *("make -j8 test", "make --jobs=4 all", "gcc -O2 -Wall -c main.c", "gcc -Iinclude -DX=1 main.c"),
        *(
            "diff3 -m a b c",
            "mypy --strict src",
            "tar -xzf a.tar.gz",
            "tar xzf a.tar.gz",
            "tar --list -f a.tar",
        ),
        *("cargo test --all", "cargo build --release", "hg status", "svn diff -r 5", "pytest -q -x tests"),
        *(
            "pytest --maxfail=1 -k name",
            "eslint --fix src",
            "pylint src",
            "prettier --check .",
            "jest --watch",
        ),
        *("curl -s https://x.org", "curl -fsSL -XPOST -H A:B -dOK https://x.org", "curl -I https://x.org"),
        *("wget -q --spider https://x.org", "sort -k2 -n a", "rg -n --type py x", "ls --color=auto"),
    ],
)
def test_a_rule_for_a_program_allows_its_usual_options(line: str) -> None:
    words = line.split()
    rule = Rule(decision="allow", kind="execute", command=(words[0],))
    assert matches(rule, terminal(*words)) == "yes"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("curl -fsSLo out/x https://x", "out/x"),
        ("curl -oout/x https://x", "out/x"),
        ("curl --output=out/x https://x", "out/x"),
        ("curl -D out/x https://x", "out/x"),
        ("curl -O https://x/y/z.sh?a=b", "z.sh"),
        ("wget -qO out/x https://x", "out/x"),
        ("sort -o out/x a", "out/x"),
        ("gcc main.c -o out/x", "out/x"),
    ],
)
def test_a_file_that_an_option_writes_counts_as_edited(line: str, path: str) -> None:
    subject = command(line)
    assert [target.real for target in subject.written] == [f"{PROJECT}/{path}"]
    rejecting = Rule(decision="reject", kind="edit", path=path, scope="project", project=PROJECT)
    assert matches(rejecting, subject) == "yes"
    assert command(line.replace(path, "/etc/x")).outside == ["/etc/x"] or path == "z.sh"


def test_an_option_that_writes_to_a_device_edits_no_file() -> None:
    for line in ("curl -s -o /dev/null https://x", "wget -qO- https://x", "curl -o - https://x"):
        assert command(line).written == ()
