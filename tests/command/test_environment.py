# SPDX-License-Identifier: MIT
"""Tests of RTRACK_OPTIONS, which holds defaults for run, attach and system."""
import json
import os
import time
import unittest
from typing import Any

from rtrack_command import Case, Word, rtrack


class Environment(Case):
    def with_options(self, options: str, *words: Word) -> Any:
        return rtrack(*words, env={**os.environ, "RTRACK_OPTIONS": options})

    def label(self, options: str) -> str:
        done = self.with_options(options, "run", "--summary", "json", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stderr)["label"]

    def test_options_are_defaults(self) -> None:
        done = self.with_options("--summary json", "run", "true")
        self.assertEqual(json.loads(done.stderr)["exit_code"], 0)
        done = self.with_options("--summary json", "run", "--summary", "none", "true")
        self.assertEqual(done.stderr, "")

    def test_words_are_quoted_as_in_a_shell(self) -> None:
        for options, label in (("--label a\\ b", "a b"), ("--label 'a  \"b\\'", 'a  "b\\'),
                               ('--label "a \\"b\\" \\x $HOME"', 'a "b" \\x $HOME'),
                               ("--label=a'b'\"c\"d", "abcd"), (" \t--label\nx ", "x"),
                               ("--label ''", ""), ("--label '*'", "*")):
            self.assertEqual(self.label(options), label, options)

    def test_options_of_other_subcommands_are_ignored(self) -> None:
        options = "--accounting poll --timeout 10s --no-children -q"
        self.assertEqual(self.with_options(options, "system", "--count", "1").returncode, 0)
        for words in (["info"], ["rusage"], ["--version"]):
            self.assertEqual(self.with_options(options, *words).returncode, 0)

    def test_default_that_cannot_be_used_is_left_alone(self) -> None:
        """run has no series without --output, and attach no --timeout without --wait."""
        options = "-f jsonl --fields timestamp --meta unused --timeout 100s"
        self.assertEqual(self.with_options(options, "run", "true").returncode, 0)
        for words in (["-f", "csv"], ["--fields", "pid"], ["--meta", "x"]):
            self.assertEqual(self.with_options(options, "run", *words, "true").returncode, 2)
        attach = ["attach", str(os.getpid()), "-i", "0.01", "--count", "1"]
        options = "--timeout 100s"
        self.assertEqual(self.with_options(options, *attach).returncode, 0)
        self.assertEqual(self.with_options(options, *attach, "--timeout", "9s").returncode, 2)

    def test_timeout_of_run_does_not_end_the_wait_of_attach(self) -> None:
        before = time.monotonic()
        done = self.with_options("--wait=0.5 --timeout 1ms", "attach", "--name", "no such name")
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertGreaterEqual(time.monotonic() - before, 0.5)

    def test_options_after_operands_are_parsed(self) -> None:
        """getopt_long() starts anew with the rules of attach."""
        target = self.start(["sleep", "30"])
        done = self.with_options("-q", "attach", str(target.pid), "-i", "0.05", "--count", "2",
                                 "-f", "csv")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)

    def test_errors_name_the_variable(self) -> None:
        mark = self.dir / "mark"
        for options in ("--label 'open", '--label "open', "--label open\\", "--nonsense",
                        "--interval soon", "word", "--label", "-i 0.1 -- true"):
            done = self.with_options(options, "run", "touch", mark)
            self.assertEqual((done.returncode, mark.exists()), (2, False), options)
            self.assertIn("RTRACK_OPTIONS", done.stderr, options)
            self.assertTrue(done.stderr.startswith("rtrack"), done.stderr)

    def test_empty_variable_changes_nothing(self) -> None:
        for options in ("", "  "):
            self.assertEqual(self.with_options(options, "run", "-q", "true").stderr, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
