# SPDX-License-Identifier: MIT
"""Each subcommand of rtrack under valgrind: it leaves no memory or descriptor, and reads no byte
that was never written. valgrind lacks some system calls, too, as an old kernel does."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from typing import List

from harness import need
from rtrack_command import PATIENCE_S, RTRACK, Case, python

EXIT_CODE = 7
VALGRIND = ["valgrind", "--leak-check=full", "--show-leak-kinds=all",
            "--errors-for-leak-kinds=all", "--track-fds=yes"]


def left_open(log: str) -> List[str]:
    """Return the descriptors that the program itself opened and did not close."""
    blocks = re.findall(r"Open (?:file descriptor|AF_\w+ socket) (.*)\n==\d+==\s+(.*)", log)
    return [what for what, origin in blocks if origin != "<inherited from parent>"]


class Leaks(Case):
    def check(self, *words: str, exit_code: int = 0) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([*VALGRIND, f"--log-file={folder}/%p", RTRACK, *words],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  timeout=PATIENCE_S)
            logs = {path: path.read_text() for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(done.returncode, exit_code, done.stderr)
        # A child between fork and exec has a log, too, without a summary.
        logs = {path: log for path, log in logs.items() if "HEAP SUMMARY" in log}
        self.assertTrue(logs)
        for log in logs.values():
            self.assertIn("ERROR SUMMARY: 0 errors", log)
            self.assertEqual(left_open(log), [], log)

    def test_run_leaves_nothing(self) -> None:
        for method in ("auto", "wait", "poll"):
            with self.subTest(accounting=method):
                self.check("run", "--accounting", method, "-i", "50ms", "-o", "/dev/null",
                           "--processes", "/dev/null", "--", "sh", "-c",
                           f"true & sleep 0.2; wait; exit {EXIT_CODE}", exit_code=EXIT_CODE)

    def test_run_of_missing_program_leaves_nothing(self) -> None:
        self.check("run", "--", "/nonexistent/program", exit_code=127)

    def test_run_at_its_limit_leaves_nothing(self) -> None:
        self.check("run", "--timeout", "0.2", "--", "sleep", "100", exit_code=124)

    def test_attach_leaves_nothing(self) -> None:
        target = self.start(python("import time; time.sleep(100)"))
        self.check("attach", "-i", "50ms", "--count", "3", "--per-process", str(target.pid))

    def test_system_leaves_nothing(self) -> None:
        self.check("system", "-i", "50ms", "--count", "3", "-f", "jsonl")

    def test_info_and_rusage_leave_nothing(self) -> None:
        self.check("info")
        self.check("info", "--fields")
        self.check("rusage", "--pid", str(os.getpid()))




if __name__ == "__main__":
    need("valgrind")
    unittest.main(verbosity=2)
