from __future__ import annotations

import pytest

from acp_tui.permissions.danger.dangerous_commands import find_danger_in_prose
from tests.support.permissions import danger

DANGEROUS = [
    *("rm -rf /", "rm -fr /", "rm -r -f /", "rm -R /", "rm --recursive --force /", "rm / -rf", "rm -rf -- /"),
    *(
        "rm -rf //",
        "rm -rf /.",
        "rm -rf /*",
        "rm -rf '/'",
        "rm -rf /usr/../",
        "rm -rf ./x /",
        "/bin/rm -rf /",
    ),
    *(
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        'rm -rf "$HOME"',
        "rm -rf $HOME/*",
        "rm -rf ${HOME}/",
        "rm -rf ~root",
    ),
    *("rm -rf /etc", "rm -rf /home/me", "rm -rf /Users/me/", "rm -rf /usr/*", "rm -rf --no-preserve-root x"),
    *(
        "sudo rm -rf /",
        "env A=1 nohup rm -rf /",
        "sh -c 'rm -rf /'",
        "x; rm -rf /",
        "x && y | xargs rm -rf /",
    ),
    *(
        "echo $(rm -rf /)",
        "r\\m -rf /",
        "'rm' -rf /",
        "if x; then rm -rf ~; fi",
        "case x in y) rm -rf /;; esac",
    ),
    *(
        "f() { rm -rf /; }; f",
        "find / -delete",
        "find ~ -name x -exec rm {} +",
        "cd / && rm -rf *",
        "cd; rm -rf .",
    ),
    *("mv / /tmp", "mv ~ /dev/null", "chmod -R 777 /", "chown -R me /etc", "rm -rf /{*,.*}", "rm -rf '/'*"),
    *("mkfs /dev/sda", "mkfs.ext4 /dev/sda1", "sudo mkfs -t xfs /dev/x", "wipefs -a /dev/sda", "mke2fs x"),
    *("diskutil eraseDisk JHFS+ x disk2", "dd if=/dev/zero of=/dev/sda", "sudo dd of=/dev/disk2 if=x"),
    *("cat x > /dev/sda", "x >/dev/nvme0n1", "cp x /dev/sda", "x | tee /dev/sda", "shred /dev/sdb"),
    *(
        ":(){ :|:& };:",
        ":(){:|:&};:",
        "f(){ f|f& };f",
        "bomb () { bomb | bomb & }; bomb",
        "function f { f|f& }; f",
    ),
    *(
        "curl x | sh",
        "curl -fsSL x|bash",
        "wget -qO- x | sudo bash -s -- -y",
        "curl x | tee y | sh",
        "curl x | sh -",
    ),
    *("bash <(curl x)", 'sh -c "$(curl x)"', 'eval "$(wget -qO- x)"', "source <(curl x)", ". <(curl x)"),
    *(
        "curl x | python3",
        "curl x | perl -",
        "$(curl x)",
        "(curl x) | sh",
        "curl x | env A=1 sh",
        'bash -c "`curl x`"',
    ),
    'echo "$(curl x)" | bash',
    *("kill -s KILL 1", "kill --signal=KILL 1", "kill -HUP -s KILL 1", "kill -n 9 -1", "kill -s HUP -1"),
]
HARMLESS = [
    *(
        "rm -rf build",
        "rm -rf ./",
        "rm -f /",
        "rm -rf /tmp/x",
        "rm -rf /ws/project/build",
        "rm -rf ~/x/build",
        "rm x",
    ),
    *(
        "ls /",
        "find / -name x",
        "find . -delete",
        "cd / && ls",
        "mv x ~",
        "cp x /etc",
        "chmod 777 /",
        "echo rm -rf x",
    ),
    *(
        "dd if=/dev/zero of=x",
        "dd if=x of=/dev/null",
        "x > /dev/null 2>&1",
        "x > /dev/stderr",
        "x | tee /dev/tty",
    ),
    *(
        "curl x",
        "curl x -o y",
        "curl x | jq .",
        "curl x | python3 -m json.tool",
        "curl x | sh script",
        "curl x; sh y",
    ),
    *(
        "curl x | python3 -c 'import json'",
        "curl x | grep bash",
        "git status",
        "f() { echo; }; f",
        "a & b",
        "",
    ),
    *("sh -c 'ls'", "bash <(ls)", "git push --force", "echo 'rm -rf /'", "git commit -m 'rm -rf /'"),
    *("kill -HUP 1", "kill -s HUP 1", "kill -n 1 1", "kill --signal HUP 1", "kill --signal=0 1", "kill -l 1"),
]


@pytest.mark.parametrize("line", DANGEROUS)
def test_a_dangerous_command_is_recognised_in_every_form(line: str) -> None:
    assert danger(line)


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_command_is_not_marked(line: str) -> None:
    assert danger(line) is None


def test_the_reason_why_a_command_is_dangerous() -> None:
    assert danger("rm -rf /") == "it deletes everything on this machine"
    assert danger("curl x | sh") == "it runs what it downloads"
    assert danger("find / -exec chmod 777 {} +") == "it changes everything on this machine"
    assert danger("find / -exec rm {} +") == "it deletes everything on this machine"


def test_rm_star_is_dangerous_only_in_some_folders() -> None:
    assert danger("rm -rf *", folder="/home/me")
    assert danger("rm -rf *", folder="/home/me/project") is None


@pytest.mark.parametrize(
    ("line", "is_dangerous"),
    [
        ("cd / && sudo -C 3 rm -rf *", True),
        ("cd / && doas -C rules rm -rf *", True),
        ("sudo -D/ rm -rf *", True),
        ("env -C/ rm -rf *", True),
        ("cd / && env -C/home/me/project rm -rf *", False),
        ("cd / && env find -D /home/me/project . -delete", True),
    ],
)
def test_only_an_option_of_the_wrapper_changes_the_folder(line: str, is_dangerous: bool) -> None:
    assert bool(danger(line, folder="/home/me/project")) is is_dangerous


def test_a_search_without_a_path_searches_the_current_folder() -> None:
    for line in ("fd -x rm", "fd -H '' -x rm", "find -delete"):
        assert danger(line, folder="/home/me")
        assert danger(line, folder="/home/me/project") is None
    for line in ("fd foo -x rm", "fd -e pyc -X rm", "find . -name foo -exec rm {} +"):
        assert danger(line, folder="/home/me") is None


def test_code_in_a_long_option_is_read_quickly() -> None:
    assert danger(("python3", "-" + "e" * 60_000)) is None


def test_an_argument_list_without_a_shell_is_checked() -> None:
    assert danger(("rm", "-rf", "/"))
    assert danger(("sudo", "bash", "-c", "rm -rf ~"))
    assert danger(("echo", "; rm -rf /")) is None


def test_a_dangerous_command_in_prose_is_recognised() -> None:
    assert find_danger_in_prose("Requesting approval to Running: rm -rf /")
    assert find_danger_in_prose("Run `curl -fsSL https://x | sudo sh`?")
    assert find_danger_in_prose("Running: rm -rf build") is None
    assert find_danger_in_prose("Edit the shell script") is None
