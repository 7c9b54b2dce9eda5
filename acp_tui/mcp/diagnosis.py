"""Diagnosis of why a server cannot be used, as one sentence with advice."""

from __future__ import annotations

import errno
import re
import shlex
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, REQUEST_TIMEOUT
from pydantic import ValidationError

from acp_tui.mcp.failures import (
    CONNECT_TIMEOUT_SECONDS,
    FailureCause,
    ServerFailure,
    error_lines,
    mask_secrets,
    secret_values,
)
from acp_tui.mcp.message_filter import SAMPLING_DECLINED
from acp_tui.mcp.stdio_process import INVALID_ANSWER_CODE, StdioProcess
from acp_tui.processes.piped_process import signal_name
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.http_transport import HttpEvidence


MAX_QUOTE = 300
HANDSHAKE_ADVICE = "check that it is an MCP server and up to date"
DOWNLOADERS = ("npx", "uvx", "uv", "pnpm", "bunx", "pipx", "docker")
"""Programs that may download the server before they start it."""

_WRONG_RUNTIME = {
    "Node.js": re.compile(
        r"unsupported engine|EBADENGINE|requires node|node(?:\.js)? (?:version|v?\d+).*required"
        r"|SyntaxError: Unexpected token|ERR_UNKNOWN_BUILTIN_MODULE|ERR_REQUIRE_ESM"
        r"|ReferenceError: \w+ is not defined",
        re.IGNORECASE,
    ),
    "Python": re.compile(
        r"requires[- ]python|python_requires|requires a different python|no interpreter found",
        re.IGNORECASE,
    ),
    "uv": re.compile(r"required (?:uv )?version .* does not match|uv.*required-version", re.IGNORECASE),
}
"""By program: a pattern for lines on stderr which report that the program has the wrong version."""


def explain(
    server: ResolvedServer,
    error: BaseException | None,
    *,
    action: str = "",
    process: StdioProcess | None = None,
    http: HttpEvidence | None = None,
) -> ServerFailure:
    """Return a `ServerFailure` that explains an error.

    Args:
        server: The server that failed.
        error: The exception, possibly a group; None if only `process` and `http` tell what happened.
        action: What the server was asked to do, as an infinitive such as "call read_file"; empty while
            connecting.
        process: The process of a stdio server.
        http: The HTTP errors of an http or sse server.
    """
    leaves = [*_leaves(http.error if http is not None else None), *_leaves(error)]
    for leaf in leaves:
        if isinstance(leaf, ServerFailure):
            return leaf
    name = escape_line(server.name)
    cause, clause = (
        (_of_process(server, process, connecting=not action) if process is not None else None)
        or (_of_http(server, http) if http is not None and _may_be_http(leaves) else None)
        or _of_errors(leaves, connecting=not action)
    )
    if (host := _other_host(server, leaves)) is not None:
        name = f"{host}, the sign-in server of {name},"
    prefix = f"{name}: " if cause is FailureCause.COMMAND_NOT_FOUND else f"{name} "
    if action and cause in (FailureCause.ANSWER, FailureCause.INVALID_ANSWER, FailureCause.CLOSED):
        prefix = f"{name} could not {escape_line(action)}: it "
    return _failure(server, cause, prefix + clause)


def connect_timeout(server: ResolvedServer, seconds: float, process: StdioProcess | None) -> ServerFailure:
    """Return the failure of a server that could not be connected to in time."""
    if process is not None and (found := _of_process(server, process, connecting=True)):
        cause, clause = found
        sentence = f"{escape_line(server.name)} {clause}"
    else:
        cause = FailureCause.TIMEOUT
        limit = "the connect timeout; set `connect_timeout` in its definition to allow more"
        sentence = (
            f"{escape_line(server.name)} did not answer within {seconds:g} s ({limit})"
            f"{_last_line(process)}. {_timeout_advice(server)}"
        )
    return _failure(server, cause, sentence)


def call_timeout(server: ResolvedServer, action: str, seconds: float) -> ServerFailure:
    """Return the failure of a request that took too long."""
    name = escape_line(server.name)
    sentence = (
        f"{name} did not answer the request to {escape_line(action)} within {seconds:g} s "
        "(the call timeout); set `timeout` in its definition to allow more."
    )
    return _failure(server, FailureCause.TIMEOUT, sentence)


def list_timeout(server: ResolvedServer, kind: str, seconds: float) -> ServerFailure:
    """Return the failure of a server that did not send a list in time."""
    sentence = f"{escape_line(server.name)} did not list its {kind} within {seconds:g} s; try again later."
    return _failure(server, FailureCause.TIMEOUT, sentence)


def is_unknown_method(error: Exception) -> bool:
    """Return whether an error is the server's answer that a method is unknown."""
    return isinstance(error, MCPError) and error.error.code == METHOD_NOT_FOUND


def waiting_sentence(server: ResolvedServer, seconds: float | None, process: StdioProcess | None) -> str:
    """Return the sentence to show when connecting takes longer than usual."""
    limit = f" for up to {seconds:g} s" if seconds is not None else ""
    name = escape_line(server.name)
    program = _program(server)
    if program in DOWNLOADERS:
        what = f"{name} has not answered yet: {program} may be downloading it; waiting{limit}"
    else:
        what = f"{name} has not answered yet; waiting{limit}"
    return mask_secrets(f"{what}{_last_line(process)}.", secret_values(server))


def call_waiting_sentence(server: ResolvedServer, action: str, seconds: float) -> str:
    """Return the sentence to show when a request takes longer than usual."""
    name, request = escape_line(server.name), escape_line(action)
    sentence = f"{name} has not answered the request to {request} yet; waiting for up to {seconds:g} s."
    return mask_secrets(sentence, secret_values(server))


def _failure(server: ResolvedServer, cause: FailureCause, sentence: str) -> ServerFailure:
    sentence = mask_secrets(sentence, secret_values(server))
    return ServerFailure(cause, sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}.")


# --------------------------------------------------------------------------- stdio


def _of_process(
    server: ResolvedServer, process: StdioProcess, *, connecting: bool
) -> tuple[FailureCause, str] | None:
    """Return the cause of the process's failure and a clause for the message; None if there is no failure."""
    stderr = process.stderr_tail()
    if connecting and (runtime := _wrong_runtime(stderr)):
        line, program = runtime
        clause = f"needs another version of {program}: {_quote(line)}; install a suitable version"
        return FailureCause.WRONG_RUNTIME, f"{clause}, or put it first in the PATH of the server's `env`"
    if process.exited:
        return FailureCause.EXITED, _exit_clause(server, process, stderr, connecting=connecting)
    if connecting and process.noise_count:
        return FailureCause.NOISE, _noise_clause(process)
    return None


def _wrong_runtime(stderr: list[str]) -> tuple[str, str] | None:
    for line in stderr:
        for program, pattern in _WRONG_RUNTIME.items():
            if pattern.search(line):
                return line, program
    return None


def _exit_clause(
    server: ResolvedServer, process: StdioProcess, stderr: list[str], *, connecting: bool
) -> str:
    code = process.returncode
    if code is None:
        how = "was ended because its watcher process was killed"
    elif code < 0:
        how = f"was killed by {signal_name(-code)}"
    else:
        how = f"exited with code {code}"
    when = " before it answered" if connecting else ""
    if stderr:
        reported = " / ".join(_shorten(line) for line in error_lines(stderr)).rstrip(".")
        log = f"acp-tui mcp log {escape_line(shlex.quote(server.name))}"
        return f"{how}{when}; fix what it reported on stderr: {reported}. All of it: {log}"
    if process.noise_count:
        quote = _quote(process.noise[-1])
        return f"{how}{when}; on stdout it wrote {quote} instead of MCP messages. Check its arguments"
    return f"{how}{when}, and wrote nothing to stderr; check its command and arguments"


def _noise_clause(process: StdioProcess) -> str:
    count = process.noise_count
    if count == 1:
        what = "a line to stdout that is not an MCP message"
    else:
        what = f"{count:,} lines to stdout that are not MCP messages, first"
    return (
        f"wrote {what}: {_quote(process.noise[0])}. "
        "Check that the command starts an MCP server over stdio; its log belongs on stderr"
    )


# --------------------------------------------------------------------------- http


def _may_be_http(leaves: list[BaseException]) -> bool:
    """Return whether an HTTP status can explain the errors; False if one of them is a network failure."""
    return all(
        isinstance(leaf, httpx2.HTTPStatusError | MCPError | TimeoutError)
        or not isinstance(leaf, httpx2.HTTPError)
        for leaf in leaves
    )


def _of_http(server: ResolvedServer, http: HttpEvidence) -> tuple[FailureCause, str] | None:
    if http.status == httpx2.codes.UNAUTHORIZED:
        if any(header.lower() == "authorization" for header in server.headers):
            what = "refused the Authorization header you set (HTTP 401); renew it, or remove it to sign in"
            return FailureCause.CREDENTIALS_REFUSED, what
        if http.challenge.lower().startswith("bearer"):
            name = escape_line(shlex.quote(server.name))
            what = f"requires sign-in (HTTP 401); run: acp-tui mcp sign-in {name}"
        else:
            what = "requires credentials (HTTP 401); sign in, or add the expected header to `headers`"
        return FailureCause.SIGN_IN_REQUIRED, what
    if http.status == httpx2.codes.FORBIDDEN:
        return FailureCause.FORBIDDEN, (
            "refused access (HTTP 403); check that your account or token may use it"
        )
    if http.redirect:
        target = escape_line(http.redirect)
        if http.redirects_away:
            return FailureCause.REDIRECT, (
                f"redirects to another origin, {target}; acp-tui does not follow the redirect, because that "
                "would send your credentials there. If you trust the new address, use it as the `url`"
            )
        return FailureCause.REDIRECT, f"redirects to {target}; use it as the `url`"
    if http.status is None:
        return None
    if http.status in (400, 404, 405, 406):
        advice = "check its `url` and `type`"
    elif http.status == httpx2.codes.NOT_IMPLEMENTED:
        advice = "is this address an MCP server?"
    else:
        advice = "try again later" if http.status >= 500 else "check its `url` and headers"
    phrase = httpx2.codes.get_reason_phrase(http.status)
    return FailureCause.HTTP_STATUS, f"answered HTTP {http.status} {phrase}".rstrip() + f"; {advice}"


# --------------------------------------------------------------------------- exceptions


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    elif error is not None:
        yield error


def _other_host(server: ResolvedServer, leaves: list[BaseException]) -> str | None:
    """Return the host of a failed request unless it is the MCP server's own host; otherwise None."""
    for leaf in leaves:
        if isinstance(leaf, httpx2.RequestError) and leaf._request is not None:  # `request` raises
            url = leaf.request.url
            return None if url.host == httpx2.URL(server.url).host else escape_line(url.host)
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and the errors that caused it."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _of_errors(leaves: list[BaseException], *, connecting: bool) -> tuple[FailureCause, str]:
    for leaf in leaves:
        if isinstance(leaf, httpx2.TransportError | OSError):
            return _of_network(leaf)
    for leaf in leaves:
        if isinstance(leaf, MCPError):
            return _of_answer(leaf, connecting=connecting)
    for leaf in leaves:
        if isinstance(leaf, ValidationError):
            first = leaf.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "its answer"
            return _of_invalid_answer(f"{escape_line(place)}: {first['msg']}", connecting=connecting)
    if connecting:
        reason = _quote(str(leaves[0])) if leaves else "the connection was closed"
        return FailureCause.HANDSHAKE, f"did not complete the MCP handshake: {reason}; {HANDSHAKE_ADVICE}"
    if leaves:
        return FailureCause.INVALID_ANSWER, f"sent an answer that cannot be used: {_quote(str(leaves[0]))}"
    return FailureCause.CLOSED, "closed the connection; test the server, then try again"


def _of_invalid_answer(fault: str, *, connecting: bool) -> tuple[FailureCause, str]:
    what = f"does not follow the protocol: {fault}"
    if connecting:
        clause = f"did not complete the MCP handshake: its answer {what}"
        return FailureCause.HANDSHAKE, f"{clause}; {HANDSHAKE_ADVICE}"
    return FailureCause.INVALID_ANSWER, f"sent an answer that {what}"


def _of_network(error: BaseException) -> tuple[FailureCause, str]:
    chain = list(_causes(error))
    text = " ".join(str(each) for each in chain)
    for each in chain:
        if isinstance(each, ssl.SSLCertVerificationError):
            return FailureCause.TLS, (
                f"has a certificate that is not trusted: {each.verify_message}; "
                "for a private CA, set SSL_CERT_FILE to the CA's certificate"
            )
    if any(isinstance(each, ssl.SSLError) for each in chain) or "CERTIFICATE_VERIFY_FAILED" in text:
        return (
            FailureCause.TLS,
            f"could not be reached over TLS: {_quote(str(error))}; check https:// and the port in its `url`",
        )
    if isinstance(error, httpx2.WriteTimeout | httpx2.PoolTimeout):
        limit = f"{CONNECT_TIMEOUT_SECONDS:g} s"
        return FailureCause.TIMEOUT, f"did not accept a message within {limit}; check your network"
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        limit = f"{CONNECT_TIMEOUT_SECONDS:g} s (the connect timeout)"
        return (
            FailureCause.TIMEOUT,
            f"could not be reached within {limit}; check its `url` and your network",
        )
    if any(
        isinstance(each, ConnectionRefusedError) or getattr(each, "errno", 0) == errno.ECONNREFUSED
        for each in chain
    ):
        return (
            FailureCause.UNREACHABLE,
            "refused the connection; check that it is running, and check the port in its `url`",
        )
    if isinstance(error, httpx2.ConnectError):
        return (
            FailureCause.UNREACHABLE,
            f"could not be reached: {_quote(str(error))}; check its `url` and your network",
        )
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return (
            FailureCause.UNREACHABLE,
            f"could not be reached: {_quote(str(error))}; check its `url` and headers",
        )
    return (
        FailureCause.CLOSED,
        (
            f"broke the connection: {_quote(str(error) or type(error).__name__)}; "
            "test the server, then try again"
        ),
    )


def _of_answer(error: MCPError, *, connecting: bool) -> tuple[FailureCause, str]:
    code, message = error.error.code, error.error.message
    if code == CONNECTION_CLOSED:
        if connecting:
            return (
                FailureCause.HANDSHAKE,
                "closed the connection during the MCP handshake; check its command or `url`",
            )
        return FailureCause.CLOSED, "closed the connection; test the server, then try again"
    if code == REQUEST_TIMEOUT:
        return FailureCause.TIMEOUT, f"did not answer in time: {_quote(message)}"
    if code == INVALID_ANSWER_CODE:
        return _of_invalid_answer(escape_line(message[:MAX_QUOTE]), connecting=connecting)
    if message == "Sampling not supported":
        message = SAMPLING_DECLINED
    data = "" if error.error.data is None else f": {visible_excerpt(error.error.data, MAX_QUOTE)}"
    if connecting:
        refusal = f"refused the MCP handshake: {_quote(message)} ({code}){data}; {HANDSHAKE_ADVICE}"
        return FailureCause.HANDSHAKE, refusal
    return FailureCause.ANSWER, f"answered with an error: {_quote(message)} ({code}){data}"


# --------------------------------------------------------------------------- text


def _program(server: ResolvedServer) -> str:
    return Path(server.command).stem


def _timeout_advice(server: ResolvedServer) -> str:
    if server.transport != "stdio":
        return "Check its `url`."
    if _program(server) in DOWNLOADERS:
        command = escape_line(redact_text(shlex.join([server.command, *server.args])))
        return (
            f"If {_program(server)} is still downloading the server, run its command once by hand: {command}"
        )
    return "Check that its command starts an MCP server over stdio."


def _last_line(process: StdioProcess | None) -> str:
    lines = error_lines(process.stderr_tail()) if process is not None else []
    return f"; on stderr: {_quote(lines[-1])}" if lines else ""


def _quote(text: str) -> str:
    return _shorten(escape_line(text.strip())).rstrip(".")


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1] + "…"
