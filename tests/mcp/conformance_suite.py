"""Runs the official conformance suite for MCP clients: `make test-mcp-conformance`.

The suite and the version of Node that it needs are installed from npm into `.cache`. Each scenario is a
server of the suite, to which `conformance_client.py` connects. The command succeeds if every scenario passes
except those in `EXPECTED_FAILURES`, and if these fail.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".cache" / "mcp-conformance"
PACKAGES = ("node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12")
REVISIONS = ("2026-07-28", "2025-11-25")
OLD_REVISION = "2025-03-26"
OLD_SCENARIOS = ("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback")
SCENARIO_MILLISECONDS = 300_000
"""All scenarios of a revision run at the same time, so that each takes long on a small machine."""

DPOP = "the SDK does not bind tokens to a key (DPoP)"
EXPECTED_FAILURES = {
    "auth/client-credentials-jwt": "acp-tui proves its identity with a secret, and has no key to sign with",
    "auth/enterprise-managed-authorization": "acp-tui does not sign in at a company's identity provider",
    "auth/dpop": DPOP,
    "auth/dpop-nonce": DPOP,
    "auth/wif-jwt-bearer": "acp-tui has no workload identity",
}
"""Scenarios that fail, with the reason. All of them are extensions, which no revision requires."""

_RESULT = re.compile(r"^[✓✗] (?P<name>\S+): (?P<passed>\d+) passed, (?P<failed>\d+) failed", re.MULTILINE)


def install() -> None:
    """Install the suite unless it is there."""
    stamp = FOLDER / "installed"
    if stamp.exists() and stamp.read_text() == " ".join(PACKAGES):
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}\n')
    print(f"Installing {' and '.join(PACKAGES)} in {FOLDER} …", flush=True)
    npm = ["npm", "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([*npm, *PACKAGES], check=True)
    stamp.write_text(" ".join(PACKAGES))


def run(revision: str) -> dict[str, bool]:
    """Run the scenarios of a revision. Return for each whether it passed."""
    output = _run("--requirements", revision)
    found = {
        match["name"]: match["failed"] == "0" and match["passed"] != "0" for match in _RESULT.finditer(output)
    }
    if not found:
        print(output)
        raise SystemExit("The conformance suite printed no results.")
    return found


def run_old_scenarios() -> dict[str, bool]:
    """Run the scenarios of `OLD_REVISION` one by one. Return for each whether it passed."""
    return {name: "OVERALL: PASSED" in _run("--scenario", name) for name in OLD_SCENARIOS}


def _run(*options: str) -> str:
    """Run the suite with these options, and return what it prints."""
    programs = FOLDER / "node_modules" / ".bin"
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    client = shlex.join([sys.executable, "-m", "tests.mcp.conformance_client"])
    with tempfile.TemporaryDirectory() as results:
        command = [str(programs / "conformance"), "client", "--command", client, *options]
        command += ["--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", results]
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    return done.stdout


def report(revision: str, results: dict[str, bool]) -> int:
    """Print the result of each scenario, and return how many are not as expected."""
    surprises = 0
    print(f"\nMCP {revision}: {sum(results.values())} of {len(results)} scenarios pass")
    for name, passed in results.items():
        reason = EXPECTED_FAILURES.get(name)
        surprises += passed == (reason is not None)
        if passed:
            print(f"  pass  {name}" + ("; remove it from EXPECTED_FAILURES" if reason else ""))
        else:
            print(f"  FAIL  {name}" if reason is None else f"  fails {name}: {reason}")
    return surprises


def main() -> int:
    """Run all revisions; return the exit code."""
    install()
    surprises = sum(report(revision, run(revision)) for revision in REVISIONS)
    surprises += report(OLD_REVISION, run_old_scenarios())
    print("\nAll scenarios are as expected." if not surprises else f"\nNot as expected: {surprises}.")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
