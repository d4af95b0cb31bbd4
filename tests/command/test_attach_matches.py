# SPDX-License-Identifier: MIT
"""Tests of rtrack attach where several processes match, or match by their command line."""
import json
import os
import re
import shutil
import subprocess
import unittest
from typing import Any, List

from rtrack_command import PATIENCE_S, PYTHON, RTRACK, Case, Word, read_jsonl, rtrack


class Matches(Case):
    def start_named(self, name: str, code: str = "import sys\nsys.stdin.read()",
                    *words: str) -> "subprocess.Popen[Any]":
        """Start a process of this name, which is there once it has printed a line."""
        if not (self.dir / name).exists():
            (self.dir / name).symlink_to(os.path.realpath(PYTHON))
        process = self.start([self.dir / name, "-I", "-c", "print(flush=True)\n" + code, *words],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    def pids(self, *words: Word) -> List[int]:
        """Return the pids of the processes that a short attach follows."""
        done = rtrack("attach", "--summary", "json", "-o", "/dev/null", "--count", "1", "-i",
                      "0.01", "--summary-file", self.dir / "summary", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [row["pid"] for row in read_jsonl(self.dir / "summary")]

    # Starts two of its own name, and waits until they run.
    MASTER = """
import subprocess, sys
code = "import sys; print(flush=True); sys.stdin.read()"
for _ in range(2):
    subprocess.Popen([sys.argv[1], "-I", "-c", code], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE).stdout.readline()
print(flush=True)
sys.stdin.read()
"""

    def start_master(self, name: str) -> "subprocess.Popen[Any]":
        process = self.start_named(name, self.MASTER, str(self.dir / name))
        process.stdout.readline()
        return process

    def test_ancestor_of_the_other_matches_is_followed(self) -> None:
        name = f"rt{os.getpid()}m"
        master = self.start_master(name)
        self.assertEqual(self.pids("--name", name), [master.pid])
        self.assertEqual(self.pids("--name", name, "--all"), [master.pid])
        summary = json.loads((self.dir / "summary").read_text())
        self.assertEqual(summary["processes"], 3)
        self.assertEqual(len(self.pids("--name", name, "--all", "--no-children")), 3)

    def test_all_matches_are_listed_and_followed_on_request(self) -> None:
        name = f"rt{os.getpid()}a"
        masters = [self.start_master(name).pid, *(self.start_named(name).pid for _ in range(12))]
        done = rtrack("attach", "--name", name)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"process '{name}' has 13 matches: ", done.stderr)
        self.assertIn("; give one of these pids, or --all\n", done.stderr)
        listed = re.sub(r" \([^)]*\)", "", done.stderr.partition("matches: ")[2])
        self.assertEqual(set(map(int, re.findall(r"\d+", listed))), set(masters))
        self.assertEqual(sorted(self.pids("--name", name, "--all")), sorted(masters))

    def test_full_looks_in_the_command_line_as_pgrep_does(self) -> None:
        word = f"ra{os.getpid()}"
        process = self.start_named(f"rt{os.getpid()}f", "import sys\nsys.stdin.read()", word, "b c")
        for expression in (f"{word} b c$", f"{word[1:]} b", f"-I.*{word}"):
            self.assertEqual(self.pids("--full", "--name", expression), [process.pid])
            if shutil.which("pgrep"):
                found = subprocess.run(["pgrep", "-f", "--", expression], text=True,
                                       stdout=subprocess.PIPE).stdout.split()
                self.assertEqual(found, [str(process.pid)])
        done = rtrack("attach", "--name", word)
        self.assertIn(f"--full finds '{word}' in the command line of {process.pid} (", done.stderr)

    def test_help_with_a_name_lists_ten_at_most(self) -> None:
        word = f"rl{os.getpid()}"
        for _ in range(11):
            self.start_named(f"rt{os.getpid()}l", "import sys\nsys.stdin.read()", word)
        listed = rtrack("attach", "--name", word).stderr.partition("in the command line of ")[2]
        self.assertEqual(listed.count(" ("), 10)
        self.assertTrue(listed.endswith("), ...\n"))

    def test_full_does_not_find_what_started_rtrack(self) -> None:
        word = f"ro{os.getpid()}"
        done = subprocess.run(["sh", "-c", f"{RTRACK} attach --full --name {word}; exit $?"],
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr),
                         (125, f"rtrack: there is no process '{word}'\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
