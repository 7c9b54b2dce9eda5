"""The list of agents: fetching, the copy in the cache, and entries that break the format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.agent_registry import registry
from acp_tui.agent_registry.registry import is_newer, parse, platform_name
from acp_tui.errors import UserError
from tests.support.agent_registry import binary, entry

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.agent_registry import Site

NPX = {"package": "tiny@1.0.0", "args": ["--acp"], "env": {"TINY_COLOUR": "never"}}


def parsed(*agents: Any) -> registry.Registry:
    return parse({"version": "1.0.0", "agents": list(agents)}, "https://example.com/registry.json", 0.0)


async def test_the_fetched_list_is_kept_for_searching(site: Site) -> None:
    site.list_agents(entry("tiny", npx=NPX), entry("other", uvx={"package": "other==2.0", "cmd": "run"}))
    assert registry.load(site.registry) is None
    await registry.update(site.registry)
    site.files.clear()
    kept = registry.load(site.registry)
    assert kept is not None
    assert [agent.id for agent in kept.search([])] == ["other", "tiny"]
    assert [agent.id for agent in kept.search(["TIN", "agent"])] == ["tiny"]
    assert kept.search(["tiny", "other"]) == []
    (tiny,) = kept.agents["tiny"].distributions
    assert (tiny.kind, tiny.target, tiny.arguments) == ("npx", "tiny@1.0.0", ("--acp",))
    assert tiny.env == {"TINY_COLOUR": "never"}
    (other,) = kept.agents["other"].distributions
    assert (other.target, other.command) == ("other==2.0", "run")


async def test_a_list_can_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"agents": [entry(npx=NPX)]}))
    assert list((await registry.update(str(file))).agents) == ["tiny"]
    with pytest.raises(UserError, match="cannot be read"):
        await registry.update(str(tmp_path / "missing.json"))


async def test_the_list_of_another_address_is_not_used(site: Site) -> None:
    site.list_agents(entry(npx=NPX))
    await registry.update(site.registry)
    assert registry.load("https://example.com/registry.json") is None


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"agents": {}}', b"[" * 100_000, b"\xff\xfe\x00"])
async def test_what_is_no_list_leaves_the_kept_one(site: Site, content: bytes) -> None:
    site.list_agents(entry(npx=NPX))
    await registry.update(site.registry)
    site.add("/registry.json", content)
    with pytest.raises(UserError, match="is not a list of agents"):
        await registry.update(site.registry)
    kept = registry.load(site.registry)
    assert kept is not None
    assert list(kept.agents) == ["tiny"]


@pytest.mark.parametrize(
    ("entry_", "why"),
    [
        (17, "it is not an object"),
        ({**entry(npx=NPX), "id": "../../etc"}, "`id` is not small letters"),
        ({**entry(npx=NPX), "id": "a/b"}, "`id` is not small letters"),
        ({**entry(npx=NPX), "id": None}, "`id` is not small letters"),
        ({**entry(npx=NPX), "version": "../1"}, "`version` is not a version"),
        ({**entry(npx=NPX), "name": ""}, "`name` is missing"),
        ({**entry(npx=NPX), "name": "\ud800"}, "`name` is not text"),
        (entry(), "`distribution` is missing"),
    ],
)
def test_a_broken_entry_is_left_out(entry_: Any, why: str) -> None:
    listed = parsed(entry_, entry("good", npx=NPX))
    assert list(listed.agents) == ["good"]
    assert why in listed.problems[0]
    assert listed.problems[0].isprintable()


@pytest.mark.parametrize(
    ("distribution", "why"),
    [
        ({"npx": {"package": "tiny@latest"}}, "does not name an exact version"),
        ({"npx": {"package": "tiny@^1.0.0"}}, "does not name an exact version"),
        ({"npx": {"package": "tiny@1.x"}}, "does not name an exact version"),
        ({"npx": {"package": "--registry=http://evil.example"}}, "not the name of a package"),
        ({"npx": {"package": "https://evil.example/a.tgz"}}, "not the name of a package"),
        ({"npx": {"package": "tiny@npm:evil@1.0.0"}}, "does not name an exact version"),
        ({"npx": {"package": "../evil"}}, "not the name of a package"),
        ({"uvx": {"package": "tiny>=1.0"}}, "not the name of a package"),
        ({"uvx": {"package": "tiny @ https://evil.example/a.whl"}}, "not the name of a package"),
        ({"uvx": {"package": "tiny==1.0.0", "cmd": "../../bin/sh"}}, "is not a plain name"),
        ({"npx": {**NPX, "args": "--acp"}}, "`args` is not a list"),
        ({"npx": {**NPX, "args": ["\x1b[2J"]}}, "`args` contains something else than plain text"),
        ({"npx": {**NPX, "env": {"LD_PRELOAD": "/tmp/evil.so"}}}, "it sets LD_PRELOAD"),
        ({"npx": {**NPX, "env": {"Path": "/tmp"}}}, "it sets Path"),
        ({"npx": {**NPX, "env": {"NODE_OPTIONS": "--require /tmp/x"}}}, "it sets NODE_OPTIONS"),
        ({"npx": {**NPX, "env": {"A=B": "c"}}}, "`env` contains something else"),
        ({"binary": binary("http://example.com/a.zip")}, "does not begin with https://"),
        ({"binary": binary("https://user@example.com/a.zip")}, "contains a user name"),
        ({"binary": binary("file:///etc/passwd")}, "is not an address"),
        ({"binary": binary("https://example.com/a.deb")}, "is an installer"),
        ({"binary": binary("https://example.com/a.zip", "/bin/sh")}, "is not a path inside the archive"),
        ({"binary": binary("https://example.com/a.zip", "./../sh")}, "is not a path inside the archive"),
        ({"binary": binary("https://example.com/a.zip", sha256="abc")}, "`sha256` is not a checksum"),
        ({"binary": {"plan9-mips": {}}}, f"there is no binary for {platform_name()}"),
        ({"cargo": {}}, "it offers none of binary, npx, uvx"),
    ],
)
def test_a_distribution_that_cannot_be_used_says_why(distribution: Any, why: str) -> None:
    agent = parsed(entry(**distribution)).agents["tiny"]
    assert agent.distributions == ()
    assert why in agent.unusable


def test_a_broken_distribution_leaves_the_others() -> None:
    listed = parsed(entry(npx=NPX, binary=binary("http://example.com/a.zip")))
    assert [one.kind for one in listed.agents["tiny"].distributions] == ["npx"]
    assert "tiny: `binary` is left out" in listed.problems[0]


def test_a_package_without_a_version_gets_that_of_the_entry() -> None:
    agent = parsed(entry(version="3.1.4", uvx={"package": "tiny[all]"})).agents["tiny"]
    assert agent.distributions[0].target == "tiny[all]==3.1.4"


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just("\ud800"),
    st.sampled_from(["1.0.0", "tiny", "tiny@1.0.0", "https://example.com/a.zip", "./agent", "https://["]),
)  # fmt: skip
WORDS = "id name version description distribution authors binary npx uvx package archive cmd args env sha256"
KEYS = st.sampled_from([*WORDS.split(), platform_name(), "PATH"])
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(entry(), ANYTHING)), ANYTHING)
def test_no_entry_stops_the_list_from_being_read(changes: dict[str, Any], other: Any) -> None:
    listed = parsed({**entry("odd", npx=NPX), **changes}, other, entry("good", npx=NPX))
    assert "good" in listed.agents
    assert all(problem.isprintable() for problem in listed.problems)
    listed.search(["odd"])


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("1.0.1", "1.0.0"),
        ("1.10.0", "1.9.9"),
        ("2026.10.1", "2026.9.30"),
        ("1.0.0", "1.0.0-preview.22"),
        ("1.0.0-rc.10", "1.0.0-rc.9"),
        ("1.0.0b1", "1.0.0a3"),
        ("1.0.0.post1", "1.0.0"),
    ],
)
def test_versions_are_compared_by_their_numbers(newer: str, older: str) -> None:
    assert is_newer(newer, older)
    assert not is_newer(older, newer)
    assert not is_newer("1.2", "1.2.0")
