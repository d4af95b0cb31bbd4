# SPDX-License-Identifier: MIT
"""Tests of the bash completion, called in the same way as by bash."""
import os
import subprocess
import unittest
from typing import List

from harness import SOURCE, need
from rtrack_command import PATIENCE_S, Case
from test_options import COMMANDS, in_help

SCRIPT = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rtrack
printf '%s\n' "${COMPREPLY[@]}"
"""


class Completion(Case):
    def complete(self, *words: str, cwd: str = "/") -> List[str]:
        """Return the completions of the last word."""
        path = str(SOURCE / "examples/rtrack/rtrack.bash-completion")
        done = subprocess.run(["bash", "--norc", "-c", SCRIPT, "bash", path, "rtrack", *words],
                              cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE_S)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_script_when_sourced_registers_completion(self) -> None:
        path = str(SOURCE / "examples/rtrack/rtrack.bash-completion")
        output = subprocess.run(["bash", "-c", 'source "$0"; complete -p rtrack', path],
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(output, "complete -F _rtrack rtrack\n")

    def test_empty_word_completes_to_subcommands(self) -> None:
        self.assertLessEqual(set(COMMANDS), set(self.complete("")))
        self.assertEqual(self.complete("r"), ["run", "rusage"])
        self.assertEqual(self.complete("help", "r"), ["run", "rusage"])

    def test_completed_options_match_help(self) -> None:
        for command in COMMANDS:
            self.assertEqual(set(self.complete(command, "--")), set(in_help(command)), command)
            self.assertEqual(self.complete(command, "--hel"), ["--help"])

    def test_option_argument_completes_to_its_values(self) -> None:
        self.assertEqual(self.complete("run", "-f", ""), ["csv", "csv-v1", "csv-v5", "jsonl"])
        self.assertEqual(self.complete("rusage", "-f", ""), ["text", "json"])
        self.assertEqual(self.complete("run", "-i", "1", "--summary", "j"), ["json"])
        self.assertEqual(self.complete("system", "--live", "=", "a"), ["auto", "always"])
        self.assertEqual(self.complete("run", "--summary", "="),
                         ["text", "json", "markdown", "none"])
        self.assertEqual(self.complete("run", "--accounting", "w"), ["wait", "wait+perf"])
        self.assertEqual(self.complete("run", "--pss", ""), ["exact", "budget", "off"])
        self.assertEqual(self.complete("attach", "--pss", "o"), ["off"])
        self.assertEqual(self.complete("run", "-i", ""), [])

    def test_file_argument_completes_to_files(self) -> None:
        (self.dir / "rows.csv").touch()
        for option in ("-o", "--processes"):
            self.assertEqual(self.complete("run", option, "ro", cwd=str(self.dir)), ["rows.csv"])
        self.assertEqual(self.complete("run", "cat", "ro", cwd=str(self.dir)), ["rows.csv"])

    def test_pid_argument_completes_to_pids(self) -> None:
        pid = str(os.getpid())
        self.assertIn(pid, self.complete("attach", ""))
        self.assertIn(pid, self.complete("attach", "-i", "1", pid, ""))
        self.assertIn(pid, self.complete("rusage", "--pid", ""))

    def test_command_word_completes_to_programs(self) -> None:
        for words in (["run"], ["run", "--"], ["run", "-i", "1"], ["run", "-q", "-o", "x"],
                      ["run", "--live"], ["run", "--live", "=", "always", "-q"]):
            self.assertIn("true", self.complete(*words, "tru"), words)
        self.assertNotIn("--interval", self.complete("run", "true", "--int"))


if __name__ == "__main__":
    need("bash")
    unittest.main(verbosity=2)
