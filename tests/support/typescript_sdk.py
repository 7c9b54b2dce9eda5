"""The official TypeScript SDK as a peer: it and the version of Node that it needs are installed from npm."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".cache" / "typescript-sdk"
PACKAGES = ("node@22", "@agentclientprotocol/sdk@2.4.0", "zod@4", "ws@8")
NPM = shutil.which("npm")
"""The path of npm; None where it is missing."""


def run_script(script: Path, *args: str, env: dict[str, str]) -> str:
    """Run a module of JavaScript, which can import the SDK, and return what it prints."""
    _install()
    copy = FOLDER / script.name  # modules are looked up from the folder of the script
    copy.write_bytes(script.read_bytes())
    node = FOLDER / "node_modules" / "node" / "bin" / "node"
    done = subprocess.run([node, copy, *args], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _install() -> None:
    """Install the packages unless they are there."""
    stamp = FOLDER / "installed"
    if stamp.exists() and stamp.read_text() == " ".join(PACKAGES):
        return
    assert NPM is not None
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}\n')
    options = ("--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run([NPM, "install", *options, *PACKAGES], check=True)
    stamp.write_text(" ".join(PACKAGES))
