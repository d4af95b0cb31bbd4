# SPDX-License-Identifier: MIT
"""Tests of --pss: how the memory of a tree is found out, and how that is marked."""
import pathlib
import unittest
from typing import List

from rtrack_command import Case, Row, python, read_csv, read_jsonl, rtrack, until_rows

MIB = 1 << 20


def pool(rows: pathlib.Path, pss: pathlib.Path) -> str:
    """Return Python code that holds 100 MiB in a process and four forks of it, until two more rows
    are written, and writes the sum of their PSS and the most of files that one of them maps."""
    return f"""
import gc, os, signal
memory = bytearray(100 << 20)
memory[::4096] = b"x" * len(memory[::4096])
gc.collect()
gc.freeze()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        signal.pause()
    children.append(child)
{until_rows(rows)}
total = files = 0
for pid in [os.getpid(), *children]:
    for line in open(f"/proc/{{pid}}/smaps_rollup"):
        if line.startswith("Pss:"):
            total += int(line.split()[1]) * 1024
    for line in open(f"/proc/{{pid}}/status"):
        if line.startswith("RssFile:"):
            files = max(files, int(line.split()[1]) * 1024)
{until_rows(rows)}
with open({str(pss)!r}, "w") as file:
    file.write(f"{{total}} {{files}} {{lines_of_series()}}")
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


class Pss(Case):
    def setUp(self) -> None:
        super().setUp()
        self.rows, self.pss = self.dir / "rows", self.dir / "pss"

    def run_pool(self, how: str) -> List[Row]:
        """Return the samples while all five processes hold the memory. Those that are written once
        the first is killed are left out: it still counts, after it has released its own."""
        done = rtrack("run", "-q", "-i", "0.05", "-f", "jsonl", "-o", self.rows, "--pss", how,
                      *python(pool(self.rows, self.pss)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.truth, self.files, lines = map(int, self.pss.read_text().split())
        found = [row for row in read_jsonl(self.rows)[:lines]
                 if row.get("processes") == 5 and row["rss_bytes"] > 500 * MIB]
        self.assertGreaterEqual(len(found), 2)
        return found

    def check_near(self, row: Row, share: float) -> None:
        """Strangers that run the same program have a part of its files in PSS, at most all. Only a
        read of PSS shows that."""
        self.assertGreater(self.truth, 100 * MIB)
        self.assertLess(self.truth, 200 * MIB)
        of_strangers = self.files if "pss_bytes" in row["estimated"] else 0
        self.assertGreaterEqual(row["pss_bytes"], self.truth * (1 - share))
        self.assertLessEqual(row["pss_bytes"], (self.truth + of_strangers) * (1 + share))
        self.assertGreaterEqual(row["footprint_bytes"], self.truth * (1 - share))
        self.assertLessEqual(row["footprint_bytes"], (self.truth + self.files) * (1 + share))
        self.assertLessEqual(row["footprint_low_bytes"], row["footprint_bytes"])
        self.assertGreaterEqual(row["footprint_high_bytes"], row["footprint_bytes"])

    def test_exact_reads_pss_in_each_sample(self) -> None:
        for row in self.run_pool("exact")[1:]:
            self.assertNotIn("pss_bytes", row["partial"] + row["estimated"])
            self.assertEqual(row["pss_source"], "read")
        self.check_near(row, 0.02)

    def test_off_estimates_without_a_read(self) -> None:
        for row in self.run_pool("off"):
            self.assertNotIn("pss_bytes", row["partial"])
            self.assertIn("pss_bytes", row["estimated"])
            self.assertEqual(row["pss_source"], "estimated")
            self.assertIsNone(row["peak_tree_pss_bytes"])
        self.check_near(row, 0.15)

    def test_budget_is_the_default_and_close_to_pss(self) -> None:
        self.check_near(self.run_pool("budget")[-1], 0.05)
        help_text = rtrack("run", "--help").stdout
        self.assertRegex(help_text, r"--pss[ =]HOW\s.*\n?.*default budget")

    def test_estimate_is_named_in_csv(self) -> None:
        for how, expected in (("off", True), ("exact", False)):
            rtrack("run", "-q", "-i", "0.05", "-o", self.rows, "--pss", how, "--fields",
                   "timestamp,pss_bytes,estimated", *python(until_rows(self.rows)))
            rows = [row for row in read_csv(self.rows) if row["pss_bytes"]]
            self.assertGreaterEqual(len(rows), 2)
            self.assertEqual({self.is_estimated(row, "pss_bytes") for row in rows[1:]}, {expected})

    @staticmethod
    def is_estimated(row: Row, name: str = "footprint_bytes") -> bool:
        return name in (row["estimated"] or "").split()

    def test_peak_is_about_or_at_least(self) -> None:
        for how, word in (("off", "about"), ("exact", "(about|at least)")):
            output = rtrack("run", "--accounting", "wait", "--pss", how, "sleep", "1").stderr
            self.assertRegex(output, rf"peak memory {word} [\d.]+ [KM]iB")

    def test_attach_takes_the_same_words(self) -> None:
        target = self.start(["sleep", "30"])
        for how, expected in (("off", True), ("budget", False), ("exact", False)):
            done = rtrack("attach", "-q", "-i", "0.05", "--count", "2", "--pss", how, "-o",
                          self.rows, str(target.pid))
            self.assertEqual(done.returncode, 0)
            self.assertEqual([self.is_estimated(row) for row in read_csv(self.rows)],
                             [expected] * 2)

    def test_other_words_are_refused(self) -> None:
        for words in (["run", "--pss", "never", "true"], ["attach", "--pss=", "1"],
                      ["system", "--pss", "off"], ["rusage", "--pss", "off"]):
            done = rtrack(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("pss", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
