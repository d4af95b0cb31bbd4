# SPDX-License-Identifier: MIT
"""A system call of rtrack fails once, before the command is started or after: the command runs to
its end, its exit code arrives, and nothing is left behind."""
import re
import subprocess
import unittest
from typing import Dict, Iterator, List, Tuple

from harness import need
from rtrack_command import PATIENCE_S, RTRACK, Case

# With each call the errors that it may fail with when something is short.
FAULTS = {
    "openat": "EMFILE",
    "dup3": "EMFILE",
    "socket": "EMFILE",
    "socketpair": "EMFILE",
    "pipe2": "EMFILE",
    "pidfd_open": "EMFILE",
    "memfd_create": "EMFILE",
    "epoll_create1": "EMFILE",
    "fcntl": "EMFILE",
    "mmap": "ENOMEM",
    "brk": "ENOMEM",
}
CODE = 7
# A child is made: of the command, or of a supervisor. From then on nothing may fail.
STARTS = ("clone", "clone3", "fork", "vfork")
COMMAND = ["/bin/sh", "-c", f"exit {CODE}"]


def trace(path: str, words: List[str], *inject: str) -> "subprocess.CompletedProcess[str]":
    """Run rtrack run under strace, which traces rtrack alone and not its children."""
    argv = ["strace", "-qq", "-o", path, "-e", "trace=" + ",".join([*FAULTS, *STARTS]), *inject,
            RTRACK, "run", "--summary", "none", *words, "--", *COMMAND]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE_S)


class Faults(Case):
    def setUp(self) -> None:
        super().setUp()
        if trace(str(self.dir / "probe"), []).returncode != CODE:
            self.skipTest("strace cannot trace here")

    def calls(self, words: List[str]) -> Iterator[Tuple[str, int, bool]]:
        """Yield each call that comes once the library is loaded, with its number.

        And whether a child was made before."""
        path = self.dir / "calls"
        trace(str(path), words)
        counts: Dict[str, int] = {}
        is_loaded = has_child = False
        for line in path.read_text().splitlines():
            name = re.match(r"(\w+)\(", line)
            if not name:
                continue
            if name[1] in STARTS:
                has_child = True
                continue
            counts[name[1]] = counts.get(name[1], 0) + 1
            # The library opens this first. What comes before is the loader's.
            is_loaded = is_loaded or 'openat(AT_FDCWD, "/", ' in line
            if is_loaded:
                yield name[1], counts[name[1]], has_child

    def check(self, *words: str) -> None:
        numbers = {False: 0, True: 0}
        for name, nth, has_child in self.calls(list(words)):
            numbers[has_child] += 1
            fault = f"inject={name}:error={FAULTS[name]}:when={nth}"
            with self.subTest(fault=fault, words=words):
                done = trace(str(self.dir / "trace"), list(words), "-e", fault)
                if has_child or done.returncode == CODE:
                    self.assertEqual(done.returncode, CODE, done.stderr)
                else:  # it says what was short
                    self.assertEqual(done.returncode, 125, done.stderr)
                    self.assertRegex(done.stderr, "file descriptors|memory")
        self.assertGreater(min(numbers.values()), 5, numbers)

    def test_command_with_a_supervisor(self) -> None:
        self.set_supervisor("separate")
        self.check()

    def test_command_of_its_own_supervisor(self) -> None:
        self.set_supervisor("self")
        self.check()

    def test_command_that_is_sampled_alone(self) -> None:
        self.check("--accounting", "poll")


if __name__ == "__main__":
    need("strace")
    unittest.main(verbosity=2)
