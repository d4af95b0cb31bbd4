# SPDX-License-Identifier: MIT
"""Tests with closed standard descriptors, and of the descriptors that the command inherits."""
import os
import subprocess
import unittest

from rtrack_command import PATIENCE_S, RTRACK, Case, python, read_csv, rtrack

UNTIL_FOUR_LINES = """
for i in $(seq 10000); do [ "$(wc -l <"$0")" -ge 4 ] && break; sleep 0.01; done
exit 3
"""
LIST = """
import os
fds = os.listdir("/proc/self/fd")
print(sorted(int(fd) for fd in fds if os.path.exists(f"/proc/self/fd/{fd}")))
"""


class Closed(Case):
    def run_without(self, redirections: str, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirections}', RTRACK, *words],
                              text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_run_with_closed_standard_descriptors_writes_rows(self) -> None:
        for number, redirections in enumerate(("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-")):
            rows = self.dir / f"rows-{number}"  # the command could read the rows of an earlier one
            done = self.run_without(redirections, "run", "-i", "0.05", "-o", str(rows), "sh", "-c",
                                    UNTIL_FOUR_LINES, str(rows))
            self.assertEqual(done.returncode, 3, redirections)
            self.assertGreaterEqual(len(read_csv(rows)), 4)
            self.assertNotIn("rtrack", rows.read_text(), "the summary is not among the rows")

    def test_rows_to_closed_stdout_fail(self) -> None:
        done = self.run_without(">&-", "system", "-q", "-i", "0.05", "--count", "1", "-o", "-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)


class Inherited(Case):
    def test_command_inherits_no_rtrack_descriptor(self) -> None:
        code = python(LIST)
        bare = subprocess.run(code, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(self.seen("-f", "csv-v5"), bare)
        self.assertEqual(self.seen("-f", "jsonl", "--summary-file", str(self.dir / "summary")),
                         bare)

    def seen(self, *options: str) -> str:
        return rtrack("run", *options, "-o", self.dir / "rows", *python(LIST)).stdout

    def test_command_inherits_callers_descriptor(self) -> None:
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        done = rtrack("run", "-q", "sh", "-c", f"echo through >&{writer}", pass_fds=[writer])
        os.close(writer)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(os.read(reader, 100), b"through\n")

    def test_standard_input_reaches_command(self) -> None:
        self.assertEqual(rtrack("run", "-q", "cat", input="words\n").stdout, "words\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
