"""Checks of `initialize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.bench import SPOKEN_VERSIONS
from acp_tui.doctor.suite.client import ErrorAnswer, Failed

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import SuiteClient

FUTURE_VERSION = 65535
"""The highest version that the schema allows."""


async def answered(bench: Bench) -> None:
    async with bench.start() as client:
        if "protocolVersion" not in await client.initialize():
            raise Failed("the answer to initialize has no protocolVersion")


async def version_is_integer(bench: Bench) -> None:
    async with bench.start() as client:
        version = await _version(client, 1)
        if isinstance(version, bool) or not isinstance(version, int):
            raise Failed(f"protocolVersion is {version!r}")


async def same_version(bench: Bench) -> None:
    async with bench.start() as client:
        version = await _version(client, 1)
    if (
        version not in SPOKEN_VERSIONS
    ):  # it does not speak version 1, but must then speak the one that it names
        async with bench.start() as client:
            if (again := await _version(client, version)) != version:
                raise Failed(f"asked for version 1 it answered {version!r}, asked for that one {again!r}")


async def future_version(bench: Bench) -> None:
    async with bench.start() as client:
        try:
            version = await _version(client, FUTURE_VERSION)
        except ErrorAnswer as error:
            raise Failed(f"asked for version {FUTURE_VERSION}: {error}") from None
        if version == FUTURE_VERSION:
            raise Failed(f"asked for version {FUTURE_VERSION}, which does not exist, it agreed")


async def no_capabilities(bench: Bench) -> None:
    async with bench.start() as client:
        await client.request("initialize", {"protocolVersion": 1})
        await client.new_session(bench.folder("plain"))


async def unknown_capabilities(bench: Bench) -> None:
    async with bench.start() as client:
        await client.initialize({"_meta": {"example.com/new": True}, "fs": {"_meta": {"example.com": 1}}})


async def _version(client: SuiteClient, version: Any) -> Any:
    return (await client.initialize(version=version)).get("protocolVersion")
