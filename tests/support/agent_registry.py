"""A registry of agents on this machine, with archives, npm packages and wheels to install from it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from acp_tui.agent_registry.registry import platform_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWER = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "tiny", "version": "1"}}
PYTHON_AGENT = f"""\
import json, sys
def main():
    for line in sys.stdin:
        frame = json.loads(line)
        result = {ANSWER!r} if frame["method"] == "initialize" else {{"sessionId": "s"}}
        print(json.dumps({{"jsonrpc": "2.0", "id": frame["id"], "result": result}}), flush=True)
"""
AGENT = f"#!{sys.executable}\n{PYTHON_AGENT}main()\n".encode()
"""A program that answers `initialize`."""
BROKEN_AGENT = f"#!{sys.executable}\nimport sys\nsys.exit('needs a newer system')\n".encode()
NODE_AGENT = """\
#!/usr/bin/env node
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  console.log(JSON.stringify({jsonrpc: "2.0", id: JSON.parse(line).id, result: ANSWER}))
})
""".replace("ANSWER", json.dumps(ANSWER))


class Site:
    """What the server serves, and what was requested."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[str] = []
        self.states_sizes = True
        """Whether answers have a Content-Length."""
        self.release: threading.Event | None = None
        """If set, the second half of each file is sent only after this event."""

    @property
    def registry(self) -> str:
        """The address of the list of agents."""
        return f"{self.address}/registry.json"

    def list_agents(self, *agents: Any) -> None:
        """Serve a list of agents."""
        self.files["/registry.json"] = json.dumps({"version": "1.0.0", "agents": agents}).encode()

    def add(self, path: str, content: bytes) -> str:
        """Serve a file, and return its address."""
        self.files[path] = content
        return self.address + path

    def add_npm_package(self, name: str, version: str, **package: Any) -> None:
        """Serve an npm package that contains an agent. Set `npm_config_registry` to `address`."""
        about = {"name": name, "version": version, "bin": "agent.js", **package}
        content = tar_gz(
            file_member("package/package.json", json.dumps(about).encode()),
            file_member("package/agent.js", NODE_AGENT.encode(), 0o755),
        )
        integrity = base64.b64encode(hashlib.sha512(content).digest()).decode()
        tarball = self.add(f"/{name}-{version}.tgz", content)
        about["dist"] = {"tarball": tarball, "integrity": f"sha512-{integrity}"}
        record = {"name": name, "dist-tags": {"latest": version}, "versions": {version: about}}
        self.add(f"/{name}", json.dumps(record).encode())

    def add_wheel(self, name: str, version: str) -> None:
        """Serve a wheel with an agent of the same name. Set `PIP_INDEX_URL` to `address`/simple."""
        info = f"{name}-{version}.dist-info"
        files = {
            f"{name}.py": PYTHON_AGENT,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
            f"{info}/RECORD": "",
        }
        wheel = f"{name}-{version}-py3-none-any.whl"
        self.add(f"/wheels/{wheel}", zip_file({name: text.encode() for name, text in files.items()}))
        self.add(f"/simple/{name}/", f'<a href="{self.address}/wheels/{wheel}">{wheel}</a>'.encode())


@contextmanager
def serve_site() -> Iterator[Site]:
    """Serve files on this machine's loopback address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            if target := site.redirects.get(self.path):
                self.send_response(302)
                self.send_header("Location", target)
                self.end_headers()
                return
            content = site.files.get(self.path)
            self.send_response(200 if content is not None else 404)
            if site.states_sizes:
                self.send_header("Content-Length", str(len(content or b"")))
            self.send_header("Content-Type", "text/html" if "/simple/" in self.path else "application/json")
            self.end_headers()
            middle = len(content or b"") // 2
            self.wfile.write((content or b"")[:middle])
            if site.release is not None:
                site.release.wait()
            self.wfile.write((content or b"")[middle:])

        def do_HEAD(self) -> None:
            self.send_error(405)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        if site.release is not None:
            site.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


# --------------------------------------------------------------------------- entries


def entry(name: str = "tiny", version: str = "1.0.0", **distribution: Any) -> dict[str, Any]:
    """Return an entry of the list."""
    return {
        "id": name,
        "name": name.capitalize(),
        "version": version,
        "description": f"The agent {name}",
        "authors": ["Somebody"],
        "license": "MIT",
        "distribution": distribution,
    }


def binary(archive: str, command: str = "./agent", **more: Any) -> dict[str, Any]:
    """Return a distribution with an archive for this platform."""
    return {platform_name(): {"archive": archive, "cmd": command, **more}}


def binary_entry(site: Site, version: str = "1.0.0", program: bytes = AGENT, **more: Any) -> dict[str, Any]:
    """Serve an archive with an agent, and return the entry for it."""
    content = tar_gz(file_member("agent", program, 0o755))
    archive = site.add(f"/tiny-{version}.tar.gz", content)
    return entry("tiny", version, binary=binary(archive, **more))


# --------------------------------------------------------------------------- archives

Member = tuple[tarfile.TarInfo, bytes]


def file_member(name: str, content: bytes = b"x", mode: int = 0o644) -> Member:
    """Return a member of a tar archive that is a file."""
    return special_member(name, tarfile.REGTYPE, mode=mode, content=content)


def special_member(
    name: str, kind: bytes, *, target: str = "", mode: int = 0o644, content: bytes = b""
) -> Member:
    """Return a member of any kind."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, target, mode, len(content)
    return info, content


def tar_gz(*members: Member, compression: str = "gz") -> bytes:
    """Return a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_file(files: dict[str, bytes], modes: dict[str, int] | None = None) -> bytes:
    """Return a zip archive. `modes` are the complete file modes of some members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def written(path: Path, content: bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content)
    return path
