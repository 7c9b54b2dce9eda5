"""The tools of the built-in agent: files, searches, commands, and the questions before them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from acp.schema import ClientCapabilities

from acp_tui.local_agent import workspace
from acp_tui.local_agent.workspace import ToolError, Workspace
from tests.support.demo_client import ALL_CAPABILITIES, choose
from tests.support.fake_model import fake_model
from tests.support.hostile_repository import make_hostile_repository
from tests.support.local_agent import CAPABILITIES, local_agent
from tests.support.waiting import until
from tests.workspace.projects import fill, repository

if TYPE_CHECKING:
    from tests.support.demo_client import Frame
    from tests.support.local_agent import LocalAgentClient

Call = tuple[str, dict[str, Any]]


async def run(
    project: Path,
    *calls: Call,
    mode: str = "ask",
    capabilities: Frame = CAPABILITIES,
    answer: str = "allow_once",
) -> tuple[LocalAgentClient, list[str]]:
    """Let the model make calls, and return the client and the texts that it shows as results.

    Args:
        answer: The kind of the option that the user chooses.
    """
    script = [{"calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    with fake_model(project.parent, *script, "Done.") as model:
        async with local_agent(project, model) as agent:
            agent.answers["session/request_permission"] = lambda params: choose(params, answer)
            agent.answers["terminal/kill"] = lambda params: {}
            session = await agent.open(capabilities=capabilities)
            await agent.call("session/set_mode", sessionId=session, modeId=mode)
            await agent.prompt(session, "Work.")
    return agent, [text for call in agent.calls() if (text := shown_result(call)) is not None]


def shown_result(call: Frame) -> str | None:
    """Return the text of a call's result. The output of a terminal is in `rawOutput`; a diff has none."""
    [content] = call["content"]
    text: str | None = content["content"]["text"] if content["type"] == "content" else call.get("rawOutput")
    return text


def questions(agent: LocalAgentClient) -> list[Frame]:
    return agent.requests("session/request_permission")


# ------------------------------------------------------------------ listing and searching


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with ignored files."""
    shop = repository(tmp_path / "shop", {".gitignore": "build/\n*.log\n", "src/till.py": "total = 1\n"})
    return fill(
        shop,
        {
            "build/till.py": "total = 2\n",
            "src/till.log": "total = 3\n",
            "src/new.js": "total = 4\n",
            "photo.png": b"total\0",
        },
    )


async def test_ignored_and_binary_files_are_left_out(shop: Path) -> None:
    _, (names, files, lines) = await run(
        shop, ("list", {}), ("list", {"glob": "*.{py,js}"}), ("search", {"pattern": "tot[a]l"})
    )
    assert names.splitlines() == [".gitignore", "photo.png", "src/"]
    assert files.splitlines() == ["src/new.js", "src/till.py"]
    assert lines.splitlines() == ["src/new.js:1:total = 4", "src/till.py:1:total = 1"]


async def test_a_folder_or_file_that_the_model_names_is_found_also_if_it_is_ignored(shop: Path) -> None:
    _, results = await run(
        shop,
        ("list", {"path": "build"}),
        ("search", {"pattern": "total", "path": "build"}),
        ("search", {"pattern": "total", "path": "src/till.log"}),
    )
    assert results == ["build/till.py", "build/till.py:1:total = 2", "src/till.log:1:total = 3"]


async def test_rules_of_the_repository_apply_in_a_session_in_one_of_its_folders(shop: Path) -> None:
    _, results = await run(shop / "src", ("list", {}), ("search", {"pattern": "total", "glob": "*.py"}))
    assert results == ["new.js\ntill.py", "till.py:1:total = 1"]


async def test_what_git_cannot_open_is_not_taken_for_a_file(project: Path) -> None:
    (project / ".gitignore").symlink_to("sums.py")  # git refuses such a link with a warning
    _, results = await run(project, ("list", {"glob": "*.py"}), ("search", {"pattern": "import"}))
    assert results == ["check.py\nsums.py", "check.py:1:from sums import add"]


async def test_a_wrong_pattern_and_a_missing_folder_are_told_to_the_model(shop: Path) -> None:
    agent, (pattern, folder) = await run(
        shop, ("search", {"pattern": "total("}), ("list", {"path": "nowhere"})
    )
    assert "Unmatched (" in pattern
    assert "No such file or directory" in folder
    assert agent.statuses() == ["failed", "failed"]


async def test_nothing_that_a_hostile_repository_configures_runs(tmp_path: Path) -> None:
    hostile = make_hostile_repository(tmp_path / "world")
    hostile.ran.unlink(missing_ok=True)
    search = {"pattern": "changed|^a$"}
    _, results = await run(
        hostile.top, ("list", {}), ("list", {"glob": "**"}), ("search", search),
        ("list", {"path": "nested"}), ("search", {**search, "path": "sub"}),
        ("search", {**search, "path": "a.txt"}),
    )  # fmt: skip
    assert "a.txt:1:changed" in results[2]
    assert results[4] == "sub/a.txt:1:a"
    assert hostile.programs_that_ran() == []


async def test_without_git_the_model_is_told_so_in_a_sentence(project: Path) -> None:
    with fake_model(project.parent, {"calls": [{"name": "list", "arguments": {}}]}, "Done.") as model:
        async with local_agent(project, model, env={"PATH": "/nowhere"}) as agent:
            await agent.prompt(await agent.open(), "Work.")
    assert "git is not installed" in model.requests()[-1]["messages"][-1]["content"]


def own_workspace(folder: Path) -> Workspace:
    """Return a workspace that uses no client."""
    return Workspace(None, "session", [folder], ClientCapabilities())  # type: ignore[arg-type]


SLOW_PATTERN = r"^(a*)*(a*)*\1\2b"


async def test_a_search_that_takes_too_long_is_stopped(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(project, {"slow.txt": "a" * 5000})
    monkeypatch.setattr(workspace, "SEARCH_SECONDS", 1)
    with pytest.raises(ToolError, match="Stopped after 1 seconds"):
        await own_workspace(project).search(project, SLOW_PATTERN, "")
    assert not processes_in(project)


async def test_cancelling_ends_a_search(project: Path) -> None:
    fill(project, {"slow.txt": "a" * 5000})
    search = {"calls": [{"name": "search", "arguments": {"pattern": SLOW_PATTERN}}]}
    with fake_model(project.parent, search) as model:
        async with local_agent(project, model) as agent:
            session = await agent.open()
            _, answer = agent.start_prompt(session, "Work.")
            await until(lambda: "grep" in processes_in(project))
            agent.notify("session/cancel", sessionId=session)
            assert (await answer)["stopReason"] == "cancelled"
            assert "grep" not in processes_in(project)


def processes_in(folder: Path) -> str:
    """Return the command lines of the processes with this working directory."""
    found = ""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder:
                found += (process / "cmdline").read_text(errors="replace").replace("\0", " ") + "\n"
        except OSError:
            continue
    return found


# ------------------------------------------------------------------ reading and writing


async def test_an_edit_that_does_not_fit_shows_the_nearest_lines_or_the_places(project: Path) -> None:
    fill(project, {"twice.txt": "one\ntwo\none\n"})
    agent, (missing, twice) = await run(
        project,
        ("edit", {"path": "sums.py", "old": "return a + b", "new": "x"}),
        ("edit", {"path": "twice.txt", "old": "one", "new": "x"}),
    )
    assert "does not occur" in missing
    assert "2\t    return a - b" in missing
    assert "at lines 1, 3" in twice
    assert questions(agent) == []


async def test_an_edit_keeps_the_line_ends_and_the_mode_of_a_file(project: Path) -> None:
    script = fill(project, {"run.sh": "one\r\ntwo\r\n"}) / "run.sh"
    script.chmod(0o750)
    await run(project, ("edit", {"path": "run.sh", "old": "one\ntwo", "new": "1\n2"}))
    assert script.read_bytes() == b"1\r\n2\r\n"
    assert script.stat().st_mode & 0o777 == 0o750


async def test_a_new_file_gets_its_folders_and_leaves_nothing_else(project: Path) -> None:
    await run(project, ("write", {"path": "docs/new/guide.md", "content": "Hello\n"}))
    assert (project / "docs/new/guide.md").read_text() == "Hello\n"
    assert [path.name for path in (project / "docs/new").iterdir()] == ["guide.md"]


@pytest.mark.parametrize("path", ["../secret.txt", "link.txt", "/etc/hostname"])
async def test_nothing_outside_the_folders_is_read_searched_or_written(project: Path, path: str) -> None:
    secret = fill(project.parent, {"secret.txt": "secret\n"}) / "secret.txt"
    (project / "link.txt").symlink_to(secret)
    agent, results = await run(
        project,
        ("read", {"path": path}),
        ("search", {"pattern": ".", "path": path}),
        ("write", {"path": path, "content": "x"}),
        mode="auto",
    )
    assert all("outside the folders" in result for result in results)
    assert secret.read_text() == "secret\n"
    assert questions(agent) == []


async def test_a_glob_does_not_lead_out_of_the_folders(shop: Path) -> None:
    _, results = await run(
        shop / "src", ("list", {"glob": "../*"}), ("search", {"pattern": ".", "glob": "{..,x}/*"})
    )
    assert all("cannot contain" in result for result in results)


async def test_pipes_folders_and_huge_or_binary_files_are_refused(project: Path) -> None:
    os.mkfifo(project / "pipe")
    fill(project, {"huge": "", "binary": b"\0", "latin": b"\xe9"})
    os.truncate(project / "huge", workspace.MAX_FILE_BYTES + 1)
    names = ["pipe", ".", "huge", "binary", "latin"]
    _, results = await run(project, *(("read", {"path": name}) for name in names))
    words = ["not a regular file", "not a regular file", "too large", "binary", "UTF-8"]
    assert [word for word, result in zip(words, results, strict=True) if word not in result] == []


# ------------------------------------------------------------------ commands and questions


CHANGES: list[Call] = [
    ("write", {"path": "new.txt", "content": "new\n"}),
    ("edit", {"path": "new.txt", "old": "new", "new": "newer"}),
    ("run", {"command": "cat new.txt"}),
]


async def test_auto_mode_asks_if_the_client_has_neither_files_nor_terminals(project: Path) -> None:
    agent, results = await run(project, *CHANGES, mode="auto")
    assert [question["toolCall"]["kind"] for question in questions(agent)] == ["edit", "edit", "execute"]
    assert results == ["newer\n[Exit code: 0]"]


async def test_auto_mode_does_not_ask_about_what_the_client_does_in_the_workspace(project: Path) -> None:
    outside: Call = ("write", {"path": "../outside.txt", "content": "x"})
    agent, results = await run(project, *CHANGES, outside, mode="auto", capabilities=ALL_CAPABILITIES)
    assert [question["toolCall"]["title"] for question in questions(agent)] == [
        f"Write {project.parent / 'outside.txt'}"
    ]
    assert results == ["newer\n[Exit code: 0]"]
    assert "terminal" in [call["content"][0]["type"] for call in agent.calls()]
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/release"):
        assert agent.requests(method), method


async def test_a_file_that_appears_while_the_user_decides_is_not_overwritten(project: Path) -> None:
    def decide(params: Frame) -> Any:
        (project / "new.txt").write_text("of the user\n")
        return choose(params, "allow_once")

    write = {"calls": [{"name": "write", "arguments": {"path": "new.txt", "content": "x"}}]}
    with fake_model(project.parent, write, "Done.") as model:
        async with local_agent(project, model) as agent:
            agent.answers["session/request_permission"] = decide
            await agent.prompt(await agent.open(), "Work.")
    assert (project / "new.txt").read_text() == "of the user\n"
    assert agent.statuses() == ["failed"]


async def test_a_question_shows_what_will_happen(project: Path) -> None:
    agent, _ = await run(project, *CHANGES[1:], CHANGES[0], CHANGES[2])
    write, command = (question["toolCall"] for question in questions(agent)[-2:])
    assert write["locations"] == [{"path": str(project / "new.txt")}]
    assert write["content"][0]["newText"] == "new\n"
    assert command["rawInput"]["command"] == "cat new.txt"
    assert command["rawInput"]["cwd"] == str(project)


async def test_always_allows_the_same_command_and_no_other(project: Path) -> None:
    commands = ["echo one", "echo two", "echo one", "echo one; touch three"]
    agent, _ = await run(
        project, *(("run", {"command": command}) for command in commands), answer="allow_always"
    )
    asked = [question["toolCall"]["title"] for question in questions(agent)]
    assert asked == ["echo one", "echo two", "echo one; touch three"]


@pytest.mark.parametrize("capabilities", [CAPABILITIES, {**CAPABILITIES, "terminal": True}])
async def test_the_result_of_a_failed_command_is_its_output_and_exit_code(
    project: Path, capabilities: Frame
) -> None:
    agent, results = await run(
        project, ("run", {"command": "echo wrong >&2; exit 3"}), capabilities=capabilities
    )
    assert results == ["wrong\n[Exit code: 3]"]
    assert agent.statuses() == ["failed"]


async def test_a_command_is_stopped_after_its_time_with_all_that_it_has_started(project: Path) -> None:
    command = "trap '' TERM; sleep 1000 & echo started; wait; wait"
    _, results = await run(project, ("run", {"command": command, "timeout": 1}))
    assert results == ["started\n[Stopped, at the latest after 1 seconds]"]
    assert not processes_in(project)


async def test_the_beginning_and_the_end_of_a_long_output_are_kept(project: Path) -> None:
    output, code = await own_workspace(project).run("seq 100000", 60, print)
    assert code == 0
    assert output.startswith("1\n2\n")
    assert "the middle was left out" in output
    assert output.endswith("\n100000\n")
    assert len(output.encode()) < workspace.MAX_OUTPUT_BYTES + 100
