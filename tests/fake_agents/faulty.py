"""Agents that each misbehave in one way: `python -m tests.fake_agents.faulty BEHAVIOUR`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent, cancel_frame, chunk, request_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    Behaviour = Callable[[ScriptedAgent], None]

MEGABYTE = 1024 * 1024
LAST_WORDS = "Traceback: the last words"
ERRORS: dict[str, Any] = {
    "plain": {"code": -32603, "message": "it broke"},
    "text": "it broke",
    "list": ["it", "broke"],
    "number": 13,
    "false": False,
    "empty": {},
    "no message": {"code": -32000},
    "code as text": {"code": "E_BROKEN", "message": "it broke"},
    "details": {"code": -32603, "message": "Internal error", "data": {"details": "it broke"}},
    "http status": {"code": 529, "message": '529 {"type":"error","error":{"message":"it broke"}}'},
    "message is an object": {"code": 1, "message": {"text": "it broke"}},
    "data as text": {"code": 1, "message": "Internal error", "data": "it broke"},
}

BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(function: Behaviour) -> Behaviour:
    """Make a function available on the command line."""
    BEHAVIOURS[function.__name__] = function
    return function


def on_prompt(agent: ScriptedAgent, handler: Callable[[dict[str, Any]], None]) -> None:
    """Run the agent with a handler for prompts."""
    agent.handlers["session/prompt"] = lambda _, request: handler(request)
    agent.run()


# --------------------------------------------------------------------------- exiting


@behaviour
def dies_before_initialize(agent: ScriptedAgent) -> None:
    agent.write_stderr("starting", LAST_WORDS)
    sys.exit(3)


@behaviour
def dies_mid_turn(agent: ScriptedAgent) -> None:
    def die(_: dict[str, Any]) -> None:
        agent.say("I am about to")
        agent.write_stderr(LAST_WORDS)
        sys.exit(7)

    on_prompt(agent, die)


@behaviour
def killed_mid_turn(agent: ScriptedAgent) -> None:
    def die(_: dict[str, Any]) -> None:
        agent.write_stderr(LAST_WORDS)
        os.kill(os.getpid(), signal.SIGKILL)

    on_prompt(agent, die)


@behaviour
def exits_zero_mid_turn(agent: ScriptedAgent) -> None:
    def leave(_: dict[str, Any]) -> None:
        agent.write_stderr(LAST_WORDS)
        sys.exit(0)

    on_prompt(agent, leave)


@behaviour
def ends_in_the_middle_of_a_line(agent: ScriptedAgent) -> None:
    def leave(_: dict[str, Any]) -> None:
        agent.raw('{"jsonrpc": "2.0", "meth')
        sys.exit(0)

    on_prompt(agent, leave)


@behaviour
def closes_its_output(agent: ScriptedAgent) -> None:
    def close(_: dict[str, Any]) -> None:
        agent.write_stderr(LAST_WORDS)
        os.close(1)

    on_prompt(agent, close)


@behaviour
def closes_its_input(agent: ScriptedAgent) -> None:
    def close(_: ScriptedAgent, request: dict[str, Any]) -> None:
        agent.answer(request, {"sessionId": SESSION})
        os.close(0)
        agent.write_stderr(LAST_WORDS)
        signal.pause()

    agent.handlers["session/new"] = close
    agent.run()


@behaviour
def stops_reading(agent: ScriptedAgent) -> None:
    def stop(_: ScriptedAgent, request: dict[str, Any]) -> None:
        agent.answer(request, {"sessionId": SESSION})
        signal.pause()

    agent.handlers["session/new"] = stop
    agent.run()


@behaviour
def closes_its_output_and_lingers(agent: ScriptedAgent) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    agent.run()
    os.close(1)
    signal.pause()


# --------------------------------------------------------------------------- silence, versions, errors


@behaviour
def never_answers(agent: ScriptedAgent) -> None:
    agent.write_stderr("still thinking about it")
    while agent.receive():
        pass


@behaviour
def never_answers_prompts(agent: ScriptedAgent) -> None:
    agent.handlers["$/cancel_request"] = lambda _, note: agent.say_json(note["params"])
    on_prompt(agent, lambda _: agent.say("hm"))


@behaviour
def wrong_version(agent: ScriptedAgent) -> None:
    agent.version = json.loads(sys.argv[2])
    agent.run()


@behaviour
def errors(agent: ScriptedAgent) -> None:
    agent.write_stderr(LAST_WORDS)
    on_prompt(agent, lambda request: agent.fail(request, ERRORS[request["params"]["prompt"][0]["text"]]))


@behaviour
def demands_authentication(agent: ScriptedAgent) -> None:
    agent.auth_methods = [
        {"id": "login", "name": "Log in"},
        {"id": "shell", "name": "In a terminal", "type": "terminal"},
        {"id": "waits", "name": "Elsewhere"},
    ]
    signed_in: list[bool] = []

    def new(_: ScriptedAgent, request: dict[str, Any]) -> None:
        if signed_in:
            agent.answer(request, {"sessionId": SESSION})
        else:
            agent.fail(request, {"code": -32000, "message": "Authentication required"})

    def authenticate(_: ScriptedAgent, request: dict[str, Any]) -> None:
        if request["params"]["methodId"] == "login":
            signed_in.append(True)
            agent.answer(request, {})

    agent.handlers.update({"session/new": new, "authenticate": authenticate})
    agent.run()


# --------------------------------------------------------------------------- noise and floods

NOISE = [
    "Loading configuration ...",
    "",
    "   ",
    '{"jsonrpc": "2.0", "id"',
    "\x1b[31mred\x1b[0m",
    "nul",
    "42",
    '"text"',
    "null",
    "[]",
    '[{"jsonrpc": "2.0", "method": "session/update"}]',
    "{}",
    '{"jsonrpc": "2.0", "id": [1], "result": {}}',
    '{"jsonrpc": "2.0", "id": {"a": 1}, "method": "fs/read_text_file"}',
    '{"jsonrpc": "2.0", "id": true, "result": {}}',
    '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
    '{"jsonrpc": "2.0", "id": "odd", "method": 5}',
    '{"jsonrpc": "2.0", "method": ["session/update"]}',
    '{"jsonrpc": "2.0", "method": "session/update", "params": "text"}',
    '{"jsonrpc": "2.0", "method": "$/cancel_request"}',
    '{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": [1]}}',
    "[" * 100_000,
    '{"number": ' + "9" * 5000 + "}",
]


@behaviour
def noise(agent: ScriptedAgent) -> None:
    def make_noise(request: dict[str, Any]) -> None:
        agent.raw("".join(line + "\n" for line in NOISE))
        os.write(1, b'{"broken utf-8": "\xff\xfe"}\r\n')
        for piece in json.dumps(chunk("in pieces")) + "\n":
            agent.raw(piece)
        agent.end_turn(request)

    on_prompt(agent, make_noise)


def framed(agent: ScriptedAgent, write: Callable[[dict[str, Any]], None]) -> None:
    """Run an agent that writes its messages in a way of its own."""

    def send(*frames: Any) -> None:
        for frame in frames:
            write(frame)

    agent.send = send  # type: ignore[method-assign]
    agent.run()


@behaviour
def no_line_end(agent: ScriptedAgent) -> None:
    framed(agent, lambda frame: agent.raw(json.dumps(frame)))


@behaviour
def no_flush(agent: ScriptedAgent) -> None:
    unflushed: list[str] = []
    framed(agent, lambda frame: unflushed.append(json.dumps(frame) + "\n"))
    agent.raw("".join(unflushed))


@behaviour
def byte_order_mark(agent: ScriptedAgent) -> None:
    framed(agent, lambda frame: agent.raw("\ufeff" + json.dumps(frame) + "\n"))


@behaviour
def content_length(agent: ScriptedAgent) -> None:
    def write(frame: dict[str, Any]) -> None:
        body = json.dumps(frame)
        agent.raw(f"Content-Length: {len(body)}\r\n\r\n{body}")

    framed(agent, write)


@behaviour
def several_lines(agent: ScriptedAgent) -> None:
    framed(agent, lambda frame: agent.raw(json.dumps(frame, indent=2) + "\n"))


@behaviour
def only_version_2(agent: ScriptedAgent) -> None:
    agent.handlers["initialize"] = lambda _, request: agent.fail(
        request, {"code": -32602, "message": "Invalid params"}
    )
    agent.run()


@behaviour
def malformed_answer(agent: ScriptedAgent) -> None:
    def answer(request: dict[str, Any]) -> None:
        envelope = {"jsonrpc": "2.0", "id": request["id"]}
        shape = request["params"]["prompt"][0]["text"]
        if shape == "array":
            agent.send([{**envelope, "result": {"stopReason": "end_turn"}}])
        else:
            agent.send(envelope)

    on_prompt(agent, answer)


@behaviour
def long_line(agent: ScriptedAgent) -> None:
    def write(request: dict[str, Any]) -> None:
        agent.say("x" * (50 * MEGABYTE))
        agent.end_turn(request)

    on_prompt(agent, write)


@behaviour
def stderr_flood(agent: ScriptedAgent) -> None:
    def flood(request: dict[str, Any]) -> None:
        block = (b"e" * 99 + b"\n") * 10_000
        for _ in range(50):
            written = 0
            while written < len(block):
                written += os.write(2, block[written:])
        os.write(2, b"f" * MEGABYTE + b"\n" + LAST_WORDS.encode() + b"\n")
        agent.end_turn(request)

    on_prompt(agent, flood)


@behaviour
def flood(agent: ScriptedAgent) -> None:
    def write(request: dict[str, Any]) -> None:
        line = json.dumps(chunk("word ")) + "\n"
        for _ in range(50):
            agent.raw(line * 1000)
        agent.end_turn(request)

    on_prompt(agent, write)


# --------------------------------------------------------------------------- out of order


@behaviour
def early_updates(agent: ScriptedAgent) -> None:
    def new(_: ScriptedAgent, request: dict[str, Any]) -> None:
        agent.send(
            chunk("welcome"), {"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": SESSION}}
        )

    agent.handlers["session/new"] = new
    agent.run()


@behaviour
def unknown_session(agent: ScriptedAgent) -> None:
    def write(request: dict[str, Any]) -> None:
        agent.say("for somebody else", session="another")
        agent.end_turn(request)

    on_prompt(agent, write)


@behaviour
def answers_twice(agent: ScriptedAgent) -> None:
    def answer(request: dict[str, Any]) -> None:
        agent.end_turn(request)
        agent.end_turn(request, "refusal")

    on_prompt(agent, answer)


@behaviour
def unknown_id(agent: ScriptedAgent) -> None:
    def answer(request: dict[str, Any]) -> None:
        agent.answer({"id": 4711}, {"stopReason": "refusal"})
        agent.answer({"id": "text"}, {})
        agent.end_turn(request)

    on_prompt(agent, answer)


@behaviour
def no_session_id(agent: ScriptedAgent) -> None:
    agent.handlers["session/new"] = lambda _, request: agent.answer(request, None)
    agent.run()


# --------------------------------------------------------------------------- processes that outlive the agent

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
DAEMON = "import os, signal, sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "


def leave_processes() -> None:
    """Start children that ignore SIGTERM or keep stdout open, and daemons, one with an empty environment."""
    stubborn = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    subprocess.Popen(["sleep", "3600"])
    subprocess.run([sys.executable, "-c", DAEMON + "signal.pause()"], check=True)
    # This one has a new environment, so the mark by which tests find it is an argument.
    command = [sys.executable, "-c", DAEMON + "signal.pause()", os.environ["TEST_MARK_OF_ACP_TUI"]]
    subprocess.run(command, check=True, env={"PATH": os.environ["PATH"]})
    stubborn.stdout.close()


@behaviour
def leaves_processes(agent: ScriptedAgent) -> None:
    leave_processes()
    agent.run()


@behaviour
def leaves_processes_and_dies(agent: ScriptedAgent) -> None:
    def die(_: dict[str, Any]) -> None:
        leave_processes()
        agent.write_stderr(LAST_WORDS)
        sys.exit(5)

    on_prompt(agent, die)


@behaviour
def ignores_sigterm_and_end_of_input(agent: ScriptedAgent) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    agent.run()
    signal.pause()


@behaviour
def outlives_its_input_behind_a_wrapper(agent: ScriptedAgent) -> None:
    """Run an agent that does not exit, as a wrapper does that ends normally when it is told to end."""
    program = [sys.executable, "-m", "tests.fake_agents.faulty", "ignores_sigterm_and_end_of_input"]
    wrapped = subprocess.Popen(program)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    wrapped.wait()


@behaviour
def reports_environment(agent: ScriptedAgent) -> None:
    ignored = [int(number) for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN]
    surroundings = {
        "env": dict(os.environ),
        "cwd": str(Path.cwd()),
        "group": os.getpgid(0),
        "session": os.getsid(0),
        "files": [number for number in range(64) if _is_open(number)],
        # Python itself ignores these two.
        "ignored": [number for number in ignored if number not in (signal.SIGPIPE, signal.SIGXFSZ)],
    }

    def report(request: dict[str, Any]) -> None:
        agent.say_json(surroundings)
        agent.end_turn(request)

    on_prompt(agent, report)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


# --------------------------------------------------------------------------- requests


@behaviour
def withdraws_at_once(agent: ScriptedAgent) -> None:
    def ask(request: dict[str, Any]) -> None:
        methods = {"perm": "session/request_permission", "wait": "terminal/wait_for_exit"}
        for name, method in methods.items():
            agent.send(request_frame(method, {"sessionId": SESSION}, name), cancel_frame(name))
        agent.say_json([agent.answer_to(name) for name in methods])
        agent.end_turn(request)

    on_prompt(agent, ask)


@behaviour
def withdraws_later(agent: ScriptedAgent) -> None:
    def ask(request: dict[str, Any]) -> None:
        agent.send(request_frame("elicitation/create", {"sessionId": SESSION}, 5))
        agent.handlers["session/cancel"] = lambda *_: agent.send(cancel_frame(5))
        answer = agent.answer_to(5)
        agent.send(cancel_frame(5))  # too late
        agent.say_json(answer)
        agent.end_turn(request)

    on_prompt(agent, ask)


@behaviour
def asks(agent: ScriptedAgent) -> None:
    """Send the request in the prompt, and report the answer."""

    def ask(request: dict[str, Any]) -> None:
        asked = json.loads(request["params"]["prompt"][0]["text"])
        agent.say_json(agent.ask(asked["method"], asked["params"], asked.get("id")))
        agent.end_turn(request)

    on_prompt(agent, ask)


@behaviour
def asks_and_waits(agent: ScriptedAgent) -> None:
    """Send requests, and write the answers to the file named in the prompt."""

    def ask(request: dict[str, Any]) -> None:
        methods = [
            "session/request_permission",
            "elicitation/create",
            "terminal/wait_for_exit",
            "fs/read_text_file",
        ]
        for number, method in enumerate(methods):
            agent.send(request_frame(method, {"sessionId": SESSION}, number))
        answers = [agent.answer_to(number) for number in range(len(methods))]
        with open(request["params"]["prompt"][0]["text"], "w", encoding="utf-8") as file:
            json.dump(answers, file)

    on_prompt(agent, ask)


@behaviour
def notifies(agent: ScriptedAgent) -> None:
    def notify(request: dict[str, Any]) -> None:
        for method in ("session/request_permission", "fs/read_text_file", "_vendor/note", "$/unknown"):
            agent.send({"jsonrpc": "2.0", "method": method, "params": {"sessionId": SESSION}})
        agent.send({"jsonrpc": "2.0", "id": None, "method": "session/request_permission", "params": {}})
        agent.end_turn(request)

    on_prompt(agent, notify)


@behaviour
def same_id_twice(agent: ScriptedAgent) -> None:
    def ask(request: dict[str, Any]) -> None:
        frame = request_frame("terminal/output", {"sessionId": SESSION}, "same")
        agent.send(frame, frame)
        answers = [agent.answer_to("same")]
        answers.append(agent.ask("terminal/output", {"sessionId": SESSION}, "other"))
        answers.append(agent.ask("terminal/output", {"sessionId": SESSION}, "same"))
        agent.say_json([answer["id"] for answer in answers])
        agent.end_turn(request)

    on_prompt(agent, ask)


if __name__ == "__main__":
    BEHAVIOURS[sys.argv[1]](ScriptedAgent())
