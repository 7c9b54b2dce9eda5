"""The report of the conformance suite as JUnit XML, and compared with an earlier one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from acp_tui.doctor.suite.junit import junit_xml
from tests.support.cli import agent, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Run

CHECKS = ("custom-request-refused", "unknown-request-refused", "logout")


def suite(home: Path, *options: str, fault: str = "") -> Run:
    """Run three checks: two that pass without a fault, and one that needs --sign-in."""
    command = agent("concurrent_agent", *filter(None, [fault]))
    chosen = [word for check in CHECKS for word in ("--check", check)]
    return run("doctor", "--suite", "--command", command, *chosen, *options, ACP_TUI_HOME=str(home))


def test_junit_has_a_test_case_for_each_check(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"

    ended = suite(tmp_path, "--junit", str(file), fault="custom-request-refused")

    root = ET.parse(file).getroot()
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert ended.code == 1
    assert cases == {
        "logout": ["skipped"],
        "custom-request-refused": ["failure"],
        "unknown-request-refused": [],
    }
    assert [root.get(name) for name in ("tests", "failures", "skipped")] == ["3", "1", "1"]


def test_junit_failure_says_what_the_specification_demands(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"

    suite(
        tmp_path, "--junit", str(file), "--evidence", str(tmp_path / "seen"), fault="custom-request-refused"
    )

    failure = ET.parse(file).getroot().find(".//failure")
    assert failure is not None
    assert "was answered with the result null" in str(failure.get("message"))
    sentence, page, evidence = str(failure.text).splitlines()
    assert "Method not found" in sentence
    assert page == "https://agentclientprotocol.com/protocol/v1/extensibility"
    assert evidence == f"{tmp_path}/seen/custom-request-refused.jsonl"


def test_junit_contains_no_characters_that_xml_forbids() -> None:
    check = {"group": "g", "name": "n", "status": "fail", "sentence": "s", "page": "p", "seconds": 0.5}
    detail = "\x1b[31m\x00 \ud800 \ufffe <&]]> ü"
    report: dict[str, Any] = {
        "command": "agent \x07",
        "agent": {"name": "\x1b]0;title\x07", "version": None},
        "evidence": None,
        "checks": [{**check, "detail": detail}],
    }

    document = junit_xml(report)

    failure = ET.fromstring(document).find(".//failure")
    assert failure is not None
    assert str(failure.get("message")).endswith("\ufffd \ufffd <&]]> ü")
    assert not any(byte < 0x20 and byte != 0x0A for byte in document)


def test_the_text_ends_with_the_names_of_what_failed(tmp_path: Path) -> None:
    ended = suite(tmp_path, fault="custom-request-refused")

    assert ended.out.splitlines()[-1] == "Failed: custom-request-refused"


def test_comparison_says_what_became_better_and_worse(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(suite(tmp_path, "--json", fault="custom-request-refused").out)

    ended = suite(tmp_path, "--compare", str(earlier), fault="unknown-request-refused")

    assert [line.split() for line in ended.out.splitlines()[-3:]] == [
        ["worse", "unknown-request-refused", "pass", "→", "fail"],
        ["better", "custom-request-refused", "fail", "→", "pass"],
        ["1", "check", "unchanged"],
    ]


def test_comparison_names_new_checks_and_counts_those_not_run(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    report = suite(tmp_path, "--json").result
    report["checks"][0]["name"] = "gone"
    earlier.write_text(json.dumps(report))

    changes = suite(tmp_path, "--json", "--compare", str(earlier)).result["comparison"]

    assert changes == {
        "worse": [],
        "better": [],
        "new": [{"name": "logout", "before": None, "after": "not seen"}],
        "different": [],
        "unchanged": 2,
        "notRun": 1,
    }


def test_comparison_can_be_pasted_into_an_issue(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(suite(tmp_path, "--json").out)

    out = suite(tmp_path, "--markdown", "--compare", str(earlier)).out

    assert out.rstrip().endswith("3 checks unchanged\n```")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "\x00", '{"report": "acp-tui-suite", "checks": [{"name": 1}]}', "[" * 100_000]
)
def test_what_is_no_report_is_refused_before_the_agent_starts(text: str, tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"
    file.write_text(text)

    ended = run("doctor", "--suite", "--command", "false", "--compare", str(file), ACP_TUI_HOME=str(tmp_path))

    assert (ended.code, ended.err) == (
        2,
        f"acp-tui: {file} is not a report of the suite; write one with --suite --json.\n",
    )


def test_junit_in_a_missing_folder_is_refused_before_the_agent_starts(tmp_path: Path) -> None:
    ended = suite(tmp_path, "--junit", str(tmp_path / "missing" / "report.xml"))

    assert (ended.code, ended.out) == (1, "")
    assert "there is no folder" in ended.err
