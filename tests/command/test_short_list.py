# SPDX-License-Identifier: MIT
"""Tests of a process list that lacks some: rtrack writes the rows that there are, and says why
there are no more.

The argument is a module that makes the list of the program that it is preloaded into lack some."""
import csv
import errno
import json
import os
import sys
import unittest

from rtrack_command import Case, rtrack

SHORT_LIST = sys.argv.pop()


class ShortList(Case):
    def check(self, error: int, why: str) -> None:
        listed, summary = self.dir / "list.csv", self.dir / "summary.json"
        env = {**os.environ, "LD_PRELOAD": SHORT_LIST, "SHORT_LIST_ERROR": str(error)}
        done = rtrack("run", "-q", "--accounting", "wait", "--processes", listed, "--summary-file",
                      summary, "--summary", "json", "sh", "-c", "exit 7", env=env)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stderr, f"^rtrack: the list of processes is not complete: {why}\n$")
        with open(listed, encoding="utf-8", newline="") as file:
            self.assertEqual([row["exit_code"] for row in csv.DictReader(file)], ["7"])
        self.assertEqual(json.loads(summary.read_text())["exit_code"], 7)

    def test_list_that_the_kernel_did_not_record_in_full_names_that(self) -> None:
        self.check(errno.ENOBUFS, "more ran at the same time than .* has room for, or .*")

    def test_list_that_lacks_memory_names_that(self) -> None:
        self.check(errno.ENOMEM, "out of memory")


if __name__ == "__main__":
    unittest.main(verbosity=2)
