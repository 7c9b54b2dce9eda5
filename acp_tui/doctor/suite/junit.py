"""The report of the suite as JUnit XML for CI systems: a test suite per group, a test case per check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from acp_tui.doctor.suite.runner import FAIL, PASS
from acp_tui.session.safe_text import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NOT_IN_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def junit_xml(report: Mapping[str, Any]) -> bytes:
    """Return the report as an XML document. Checks that are not offered or not seen count as skipped."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for check in report["checks"]:
        groups.setdefault(check["group"], []).append(check)
    root = Element("testsuites", {"name": "ACP conformance", **_counts(report["checks"])})
    for group, checks in groups.items():
        suite = SubElement(root, "testsuite", {"name": group, **_counts(checks)})
        properties = SubElement(suite, "properties")
        for name, value in (("command", report["command"]), *report["agent"].items()):
            if value is not None:
                SubElement(properties, "property", name=name, value=_safe(value))
        for check in checks:
            _add_case(suite, check, report["evidence"])
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _add_case(suite: Element, check: Mapping[str, Any], evidence: str | None) -> None:
    place = {"classname": check["group"], "name": check["name"], "time": f"{check['seconds']:.3f}"}
    case = SubElement(suite, "testcase", place)
    if check["status"] == FAIL:
        failure = SubElement(case, "failure", message=_safe(check["detail"]))
        lines = [check["sentence"], check["page"]]
        if evidence is not None:
            lines.append(f"{evidence}/{check['name']}.jsonl")
        failure.text = _safe("\n".join(lines))
    elif check["status"] != PASS:
        SubElement(case, "skipped", message=_safe(f"{check['status']}: {check['detail']}"))


def _counts(checks: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    listed = list(checks)
    failures = sum(check["status"] == FAIL for check in listed)
    skipped = sum(check["status"] not in (PASS, FAIL) for check in listed)
    seconds = sum(check["seconds"] for check in listed)
    return {
        "tests": str(len(listed)),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(skipped),
        "time": f"{seconds:.3f}",
    }


def _safe(value: object) -> str:
    """Return a text without the characters that XML cannot hold and terminals must not get."""
    return _NOT_IN_XML.sub("\ufffd", escape_controls(str(value)))
