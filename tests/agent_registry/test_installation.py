"""Installing, upgrading and removing agents, with real programs, archives and packages."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.agent_registry import installation, registry
from acp_tui.agent_registry.installation import plan_installation, plan_upgrades
from acp_tui.config.agent_catalogue import known_agents, resolve_launch
from acp_tui.config.installed_agents import agents_folder, installed_agents
from acp_tui.config.settings import load
from acp_tui.errors import UserError
from tests.support.agent_registry import (
    AGENT,
    BROKEN_AGENT,
    Site,
    binary,
    binary_entry,
    entry,
    file_member,
    special_member,
    tar_gz,
    zip_file,
)
from tests.support.waiting import until, wait_until

if TYPE_CHECKING:
    from acp_tui.agent_registry.installation import Installation, InstallPlan

needs_npm = pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is missing")


async def plan(site: Site, *agents: Any, name: str = "tiny", **choice: Any) -> InstallPlan:
    """Fetch a list with these agents, and plan the installation of one."""
    if agents:
        site.list_agents(*agents)
    listed = await registry.update(site.registry)
    return plan_installation(listed, name, load(Path.cwd()), **choice)


async def install(site: Site, *agents: Any, reports: list[str] | None = None, **choice: Any) -> Installation:
    made = await plan(site, *agents, **choice)
    return await installation.install(made, ([] if reports is None else reports).append, start_timeout=30.0)


def versions(name: str = "tiny") -> list[str]:
    """Return the versions whose folders exist."""
    folder = agents_folder() / name
    found = (
        [path.name.rpartition("-")[0] for path in folder.iterdir() if path.is_dir()]
        if folder.exists()
        else []
    )
    return sorted(found)


# --------------------------------------------------------------------------- archives


async def test_an_installed_agent_is_an_agent_like_others(site: Site) -> None:
    reports: list[str] = []
    listed = binary_entry(site, args=["--acp"], env={"TINY_COLOUR": "never"})
    done = await install(site, listed, reports=reports)
    assert (done.answered, done.problem) == ("tiny 1", "")
    launch = resolve_launch("tiny", load(Path.cwd()))
    assert launch.command == [str(done.agent.path / "program/agent"), "--acp"]
    assert (launch.name, launch.title, launch.ad_hoc) == ("tiny", "Tiny", False)
    assert launch.env == {"TINY_COLOUR": "never"}
    assert any(text.startswith("Downloading from 127.0.0.1: ") for text in reports)
    assert oct(done.agent.path.stat().st_mode)[-3:] == "700"


async def test_the_checksum_is_compared(site: Site) -> None:
    content = tar_gz(file_member("agent", AGENT, 0o755))
    good = hashlib.sha256(content).hexdigest()
    archive = site.add("/tiny.tar.gz", content)
    done = await install(site, entry(binary=binary(archive, sha256=good.upper())))
    assert done.agent.sha256 == good
    await installation.remove(done.agent)
    with pytest.raises(UserError, match=f"its SHA-256 is {good}, not {'0' * 64}"):
        await install(site, entry(binary=binary(archive, sha256="0" * 64)))
    assert versions() == []
    assert installed_agents() == {}


async def test_the_plan_shows_what_will_be_downloaded_and_run(site: Site) -> None:
    made = await plan(site, binary_entry(site, args=["--acp"], env={"TINY": "1"}))
    facts = dict(made.facts())
    assert facts["Download"] == f"{site.address}/tiny-1.0.0.tar.gz"
    assert (facts["Runs"], facts["Environment"]) == ("./agent --acp", "TINY=1")
    assert facts["SHA-256"] == "not stated by the registry"
    assert made.warnings() == ["The registry states no checksum, so acp-tui cannot check what it downloads."]
    assert site.requests == ["/registry.json"]


@pytest.mark.parametrize("command", ["./agent", "sub/agent", "agent"])
async def test_a_program_that_is_no_archive_is_installed(site: Site, command: str) -> None:
    address = site.add("/download/tiny-linux", AGENT)
    assert (await install(site, entry(binary=binary(address, command)))).answered == "tiny 1"


async def test_a_program_in_another_folder_of_the_archive_is_found(site: Site) -> None:
    content = zip_file({"tiny-1.0.0/bin/agent": AGENT})
    done = await install(site, entry(binary=binary(site.add("/tiny.zip", content))))
    assert done.agent.program == "program/tiny-1.0.0/bin/agent"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (tar_gz(file_member("other")), "does not contain ./agent"),
        (tar_gz(file_member("a/agent"), file_member("b/agent")), "does not contain ./agent"),
        (tar_gz(special_member("agent", tarfile.DIRTYPE, mode=0o755)), "is not a program"),
        (tar_gz(file_member("../agent", AGENT)), "lies outside"),
        (b"nothing", "cannot be unpacked"),
    ],
    ids=["missing", "several", "folder", "outside", "no archive"],
)
async def test_an_unusable_archive_leaves_nothing(site: Site, content: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why):
        await install(site, entry(binary=binary(site.add("/tiny.tar.gz", content))))
    assert versions() == []
    assert "tiny" not in known_agents(load(Path.cwd()))


async def test_a_new_agent_that_does_not_answer_is_kept_and_reported(site: Site) -> None:
    done = await install(site, binary_entry(site, program=BROKEN_AGENT))
    assert "has ended without an answer to `initialize`: needs a newer system" in done.problem
    assert versions() == ["1.0.0"]


# --------------------------------------------------------------------------- packages


@needs_npm
async def test_an_npm_package_is_installed_in_its_exact_version(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("npm_config_registry", site.address)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    site.add_npm_package(
        "tiny-agent", "1.2.3", scripts={"postinstall": "node -e \"fs.writeFileSync('ran', '')\""}
    )
    reports: list[str] = []
    done = await install(site, entry(npx={"package": "tiny-agent@1.2.3"}), reports=reports)
    assert (done.answered, done.agent.version, done.agent.source) == ("tiny 1", "1.2.3", "tiny-agent@1.2.3")
    assert (done.agent.path / "node_modules/tiny-agent/ran").exists()
    assert reports[0] == "npm installs tiny-agent@1.2.3"
    site.add_npm_package("tiny-agent", "1.0.1", bin={"one": "agent.js", "two": "agent.js"})
    other = await install(site, entry(npx={"package": "tiny-agent@1.2.3", "cmd": "two"}), version="1.0.1")
    assert (other.agent.version, other.agent.program) == ("1.0.1", "node_modules/.bin/two")


@needs_npm
async def test_a_missing_npm_package_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("npm_config_registry", site.address)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with pytest.raises(UserError, match=r"npm failed with exit code 1: .*404"):
        await install(site, entry(npx={"package": "tiny-agent@1.2.3"}))
    assert versions() == []


async def test_a_python_package_is_installed_without_uv(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without uv
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.address}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "cache"))
    site.add_wheel("tinywheel", "2.0.0")
    done = await install(site, entry(version="2.0.0", uvx={"package": "tinywheel==2.0.0"}))
    assert (done.answered, done.agent.program) == ("tiny 1", "venv/bin/tinywheel")


async def test_uv_installs_into_the_folder_of_the_agent(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/words\n'
        'test "$UV_TOOL_BIN_DIR" = "$PWD/bin" || exit 3\n'
        f'mkdir -p "$UV_TOOL_DIR/tiny-wheel/bin" && cp {tmp_path}/agent "$UV_TOOL_DIR/tiny-wheel/bin/run"\n'
    )
    uv.chmod(0o755)
    (tmp_path / "agent").write_bytes(AGENT)
    (tmp_path / "agent").chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    done = await install(site, entry(uvx={"package": "Tiny_Wheel[acp]==2.0", "cmd": "run"}))
    assert (tmp_path / "words").read_text() == "tool install Tiny_Wheel[acp]==2.0\n"
    assert (done.answered, done.agent.program) == ("tiny 1", "tools/tiny-wheel/bin/run")


@pytest.mark.skipif(not shutil.which("uv"), reason="uv is missing")
async def test_uv_itself_installs_a_package(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{site.address}/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_PYTHON", sys.executable)
    site.add_wheel("tinywheel", "2.0.0")
    done = await install(site, entry(version="2.0.0", uvx={"package": "tinywheel==2.0.0"}))
    assert (done.answered, done.agent.program) == ("tiny 1", "tools/tinywheel/bin/tinywheel")


# --------------------------------------------------------------------------- choices


async def test_what_cannot_be_installed_says_why(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    npx = {"package": "tiny@1.0.0"}
    with pytest.raises(UserError, match="did you mean tiny"):
        await plan(site, entry(npx=npx), name="tinny")
    with pytest.raises(UserError, match='lists Claude Code as "claude-acp"'):
        await plan(site, entry("claude-acp", npx=npx), name="claude-code")
    with pytest.raises(UserError, match="is not offered as uvx here, only as npx"):
        await plan(site, entry(npx=npx), kind="uvx")
    with pytest.raises(UserError, match=r"has only version 1.0.0 of tiny"):
        await plan(site, binary_entry(site), version="0.9.0")
    with pytest.raises(UserError, match="latest is not an exact version"):
        await plan(site, entry(npx=npx), version="latest")
    with pytest.raises(UserError, match="demo agent is part of acp-tui"):
        await plan(site, entry("demo", npx=npx), name="demo")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="needs npm and node"):
        await plan(site, entry(npx=npx))


async def test_an_agent_of_the_user_wins(site: Site, home: Path) -> None:
    await install(site, binary_entry(site))
    (home / "config").mkdir(parents=True)
    config = home / "config" / "config.toml"
    config.write_text('[agents.tiny]\ntitle = "Mine"\n')
    agent = known_agents(load(Path.cwd()))["tiny"]
    assert (agent.title, agent.installed is not None) == ("Mine", True)
    config.write_text('[agents.tiny]\ncommand = "/bin/cat"\n')
    agent = known_agents(load(Path.cwd()))["tiny"]
    assert (agent.commands, agent.installed) == ((("/bin/cat",),), None)
    with pytest.raises(UserError, match=r"config.toml defines tiny with a command of your own"):
        await plan(site)


async def test_what_is_known_about_an_agent_applies_to_the_installed_one(site: Site) -> None:
    claude = {**binary_entry(site), "id": "claude-acp", "name": "Claude Agent"}
    await install(site, claude, name="claude-acp")
    launch = resolve_launch("claude-acp", load(Path.cwd()))
    assert (launch.title, launch.instead_of_mode) == ("Claude Agent", {"auto": "default"})
    assert resolve_launch("demo", load(Path.cwd())).title == "Demo agent"


async def test_an_agent_with_a_built_in_name_takes_its_place_and_says_so(site: Site) -> None:
    gemini = {**binary_entry(site), "id": "gemini", "name": "Not Gemini"}
    made = await plan(site, gemini, name="gemini")
    assert (
        "It takes the place of Gemini CLI, which has the same name: your rules for it apply."
        in made.warnings()
    )
    done = await install(site, name="gemini")
    launch = resolve_launch("gemini", load(Path.cwd()))
    assert launch.command[0] == done.agent.command[0]
    assert (launch.title, launch.missing_file_is_empty) == ("Gemini CLI", True)


# --------------------------------------------------------------------------- upgrades


async def upgrade(site: Site, *agents: Any) -> Installation:
    if agents:
        site.list_agents(*agents)
    listed = await registry.update(site.registry)
    (made,), _ = plan_upgrades(listed, load(Path.cwd()))
    return await installation.install(made, lambda _: None, start_timeout=30.0)


async def test_an_upgrade_replaces_the_earlier_version(site: Site) -> None:
    await install(site, binary_entry(site))
    site.list_agents(binary_entry(site, "1.10.0"))
    made = await plan(site)
    assert made.title == "Upgrade Tiny 1.0.0 → 1.10.0"
    done = await upgrade(site)
    assert versions() == ["1.10.0"]
    assert resolve_launch("tiny", load(Path.cwd())).command == [*done.agent.command]
    plans, reasons = plan_upgrades(await registry.update(site.registry), load(Path.cwd()))
    assert (plans, reasons) == ([], ["tiny 1.10.0 is up to date."])


@needs_npm
async def test_an_upgrade_from_another_origin_says_so(site: Site) -> None:
    await install(site, binary_entry(site))
    made = await plan(site, entry(version="2.0.0", npx={"package": "@evil/tiny@2.0.0"}))
    assert "The installed version is from 127.0.0.1, and this one is from @evil/tiny." in made.warnings()
    made = await plan(site, binary_entry(site, "2.0.0"))
    assert len(made.warnings()) == 1


async def test_names_are_made_safe_when_they_are_stored(site: Site) -> None:
    listed = {**binary_entry(site), "name": "Ti\x1b[31mny\u202e"}
    done = await install(site, listed)
    assert "\x1b" not in done.agent.name
    assert "\u202e" not in resolve_launch("tiny", load(Path.cwd())).title


async def test_the_earlier_version_stays_if_the_new_one_does_not_answer(site: Site) -> None:
    before = await install(site, binary_entry(site))
    with pytest.raises(UserError, match=r"needs a newer system.*Version 1.0.0 stays installed"):
        await upgrade(site, binary_entry(site, "2.0.0", BROKEN_AGENT))
    assert versions() == ["1.0.0"]
    assert installed_agents() == {"tiny": before.agent}


def test_a_version_in_use_is_kept_until_it_is_no_longer_used(site: Site) -> None:
    asyncio.run(install(site, binary_entry(site)))
    program = (
        "import sys; from pathlib import Path; from acp_tui.config.settings import load; "
        "from acp_tui.config.agent_catalogue import resolve_launch; "
        "print(resolve_launch('tiny', load(Path.cwd())).command[0], flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        command = user.stdout.readline().strip()
        asyncio.run(upgrade(site, binary_entry(site, "2.0.0")))
        assert versions() == ["1.0.0", "2.0.0"]
        assert Path(command).exists()
        user.kill()
    done = asyncio.run(upgrade(site, binary_entry(site, "3.0.0")))
    assert versions() == ["3.0.0"]
    assert asyncio.run(installation.remove(done.agent))
    assert list(agents_folder().glob("*")) == [agents_folder() / ".agents.lock"]


# --------------------------------------------------------------------------- interruptions


async def test_a_cancelled_download_leaves_nothing(site: Site) -> None:
    site.list_agents(binary_entry(site))
    made = await plan(site)
    site.release = threading.Event()
    reports: list[str] = []
    task = asyncio.create_task(installation.install(made, reports.append, start_timeout=30.0))
    await until(lambda: reports)
    assert versions() == ["1.0.0"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert versions() == []


async def test_a_cancelled_npm_ends_and_leaves_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("npm", "node"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!/bin/sh\necho $$ > {tmp_path}/pid.new && mv {tmp_path}/pid.new {tmp_path}/pid\nsleep 600\n"
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    made = await plan(site, entry(npx={"package": "tiny@1.0.0"}))
    task = asyncio.create_task(installation.install(made, lambda _: None, start_timeout=30.0))
    await until((tmp_path / "pid").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert versions() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_installation_that_a_signal_ends_leaves_nothing(site: Site, number: signal.Signals) -> None:
    site.list_agents(binary_entry(site))
    asyncio.run(registry.update(site.registry))
    site.release = threading.Event()
    words = [sys.executable, "-m", "acp_tui", "agents", "install", "tiny", "--yes"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as installing:
        wait_until(lambda: list(agents_folder().glob("tiny/1.0.0-*/download")))
        installing.send_signal(number)
        assert installing.wait() == 128 + number
    assert list(agents_folder().glob("*")) == [agents_folder() / ".agents.lock"]


def test_a_killed_installation_is_cleaned_up_by_the_next_one(site: Site) -> None:
    site.list_agents(binary_entry(site))
    listed = asyncio.run(registry.update(site.registry))
    site.release = threading.Event()
    words = [sys.executable, "-m", "acp_tui", "agents", "install", "tiny", "--yes"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as installing:
        wait_until(lambda: list(agents_folder().glob("tiny/1.0.0-*/download")))
        made = plan_installation(listed, "tiny", load(Path.cwd()))
        with pytest.raises(UserError, match="Another acp-tui is installing"):
            asyncio.run(installation.install(made, lambda _: None, start_timeout=30.0))
        installing.kill()
    assert versions() == ["1.0.0"]
    assert installed_agents() == {}
    site.release.set()
    done = asyncio.run(installation.install(made, lambda _: None, start_timeout=30.0))
    assert [path.name for path in agents_folder().glob("tiny/*-*")] == [done.agent.folder]


async def test_a_record_of_a_later_acp_tui_is_read(site: Site) -> None:
    done = await install(site, binary_entry(site))
    record = agents_folder() / "tiny" / "installed.json"
    record.write_text(record.read_text().replace("{", '{"new": 1, ', 1))
    assert installed_agents() == {"tiny": done.agent}
    assert (await plan(site)).title == "Reinstall Tiny 1.0.0"


def test_a_damaged_record_is_no_agent(home: Path) -> None:
    for name, content in (
        ("a", "{"),
        ("b", "[]"),
        ("c", '{"id": "c"}'),
        ("d", '{"id": "d", "arguments": 3}'),
    ):
        (agents_folder() / name).mkdir(parents=True)
        (agents_folder() / name / "installed.json").write_text(content)
    assert installed_agents() == {}
