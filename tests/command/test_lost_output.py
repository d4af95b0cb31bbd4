# SPDX-License-Identifier: MIT
"""Tests of output that is lost in part: what is left is no torn JSON, or the exit code says so.

The argument is a module that makes memory run out in the program that it is preloaded into."""
import json
import os
import resource
import subprocess
import sys
import unittest
from typing import Any

from rtrack_command import PATIENCE_S, RTRACK, Case, Word, read_jsonl, rtrack

SHORT_MEMORY = sys.argv.pop()


class ShortMemory(Case):
    def run_short(self, *words: Word, limit: int = 1500) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, "LD_PRELOAD": SHORT_MEMORY, "SHORT_MEMORY_BYTES": str(limit)}
        done = rtrack(*words, env=env)
        self.assertIn("out of memory", done.stderr)
        return done

    def test_info_and_rusage_end_with_1_and_print_nothing(self) -> None:
        for words, limit in ((["info", "--json"], 1500), (["info", "-v"], 1500),
                             (["info", "--fields"], 1500), (["info", "--fields", "--json"], 1500),
                             (["rusage", "-f", "json"], 500), (["rusage"], 500)):
            done = self.run_short(*words, limit=limit)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)

    def test_rows_of_a_series_are_whole_or_missing(self) -> None:
        done = self.run_short("system", "-q", "-f", "jsonl", "-i", "0.01", "--count", "3")
        self.assertEqual(done.returncode, 1)
        for line in done.stdout.splitlines():
            json.loads(line)

    def test_row_is_whole_or_missing_whichever_piece_has_no_memory(self) -> None:
        words = ["system", "-q", "-f", "jsonl", "--time-format", "iso", "--fields",
                 "timestamp,interval_seconds,memory_total_bytes,load_1m", "-i", "0.005", "--count",
                 "3"]
        whole = [json.loads(line) for line in rtrack(*words).stdout.splitlines()]
        failed = 0
        for at in range(1, 30):
            env = {**os.environ, "LD_PRELOAD": SHORT_MEMORY, "SHORT_MEMORY_AT": str(at)}
            done = rtrack(*words, env=env)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            for row in rows:
                self.assertEqual(row.keys(), whole[0].keys())
                self.assertEqual({row[name] is None for name in ("timestamp", "load_1m")}, {False})
            if len(rows) < len(whole) or "out of memory" in done.stderr:
                self.assertNotEqual(done.returncode, 0, (at, done.stderr))
                failed += 1
        self.assertGreater(failed, 0)

    def test_summary_is_whole_or_missing(self) -> None:
        path = self.dir / "summary.json"
        self.run_short("system", "-o", "/dev/null", "-i", "0.01", "--count", "1",
                       "--label", "x" * 2000, "--summary-file", path)
        self.assertEqual(path.read_text(), "")


class FullStandardOutput(Case):
    """With run, the command shares standard output, so a torn row cannot be removed."""

    def fill(self, *words: Word, limit: int = 1000) -> "subprocess.CompletedProcess[Any]":
        limits = (limit, resource.RLIM_INFINITY)
        with open(self.dir / "out", "w") as out, open(self.dir / "err", "w") as err:
            return subprocess.run(
                [RTRACK, "run", *words], stdout=out, stderr=err, timeout=PATIENCE_S,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))

    def fill_by_rows(self, code: str) -> "subprocess.CompletedProcess[Any]":
        return self.fill("-q", "-f", "jsonl", "-o", "-", "sh", "-c", code)

    def test_torn_row_turns_exit_code_0_into_1(self) -> None:
        self.assertEqual(self.fill_by_rows("exit 0").returncode, 1)
        with self.assertRaises(json.JSONDecodeError):
            read_jsonl(self.dir / "out")

    def test_torn_row_leaves_other_exit_codes(self) -> None:
        self.assertEqual(self.fill_by_rows("exit 3").returncode, 3)

    def test_torn_output_of_any_kind_turns_exit_code_0_into_1(self) -> None:
        """No other output is lost: of a run, only what is torn changes the exit code."""
        for words in (["--summary", "json", "--summary-file", "-"],
                      ["-q", "--meta", "-", "-o", "/dev/null"], ["-q", "--processes", "-"]):
            self.assertEqual(self.fill(*words, "true", limit=100).returncode, 1, words)
            self.assertEqual((self.dir / "out").stat().st_size, 100, words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
