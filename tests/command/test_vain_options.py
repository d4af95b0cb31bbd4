# SPDX-License-Identifier: MIT
"""Tests of options of which nothing would come: they are refused, or said to have no effect."""
import json
import os
import subprocess
import unittest
from typing import Any

from rtrack_command import PATIENCE_S, Case, Word, rtrack


class Refused(Case):
    def refuse(self, *words: Word) -> str:
        done = rtrack(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr.splitlines()[0]

    def test_time_format_needs_rows_that_have_a_choice(self) -> None:
        for form in ("csv-v1", "csv-v5"):
            self.assertIn("--time-format needs the format csv or jsonl",
                          self.refuse("run", "-o", "-", "-f", form, "--time-format", "iso", "true"))
        self.assertIn("--time-format needs --output",
                      self.refuse("run", "--time-format", "iso", "true"))

    def test_append_needs_a_file(self) -> None:
        for words in (["run", "-a", "true"], ["run", "-a", "-o", "-", "true"],
                      ["system", "-a", "--count", "1", "-i", "0.01"],
                      ["attach", "-a", "--count", "1", "-i", "0.01", "1"]):
            self.assertRegex(self.refuse(*words), "--append needs (a file|--output)")

    def test_append_to_standard_output_that_is_a_file_is_done(self) -> None:
        path = self.dir / "rows"
        for _ in range(2):
            with open(path, "a") as file:
                done = rtrack("run", "-q", "-a", "-o", "-", "true", stdout=file)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(path.read_text().splitlines()), 3)

    def test_wait_needs_something_that_can_appear(self) -> None:
        self.assertIn("--wait needs --name", self.refuse("attach", "--wait", "1"))

    def test_attach_follows_one_kind_of_target(self) -> None:
        for words in (["--unit", "x", "1"], ["--name", "x", "--cgroup", "/y"],
                      ["--container", "aa", "--unit", "x"]):
            self.assertIn("only one of", self.refuse("attach", *words))
        self.assertIn("nothing to follow", self.refuse("attach"))

    def test_no_children_of_a_cgroup_is_refused(self) -> None:
        for option in ("--cgroup", "--unit", "--container"):
            self.assertIn("--no-children needs a process",
                          self.refuse("attach", option, "/", "--no-children"))


class Appended(Case):
    def test_rows_with_another_time_format_are_refused(self) -> None:
        for name, fields in (("a.csv", None), ("b.jsonl", None), ("c.csv", "pid,timestamp"),
                             ("d.jsonl", "pid,timestamp")):
            more = ["--fields", fields] if fields else []
            for first, second in (("iso", "epoch"), ("epoch", "iso")):
                path = self.dir / f"{first}-{name}"
                words = ["run", "-q", "-a", "-o", path, *more, "--time-format"]
                self.assertEqual(rtrack(*words, first, "true").returncode, 0)
                before = path.read_bytes()
                done = rtrack(*words, second, "true")
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertIn(f"it has timestamps of --time-format {first}", done.stderr)
                self.assertEqual(path.read_bytes(), before)
                self.assertEqual(rtrack(*words, first, "true").returncode, 0)

    def test_meta_after_a_torn_line_begins_a_line(self) -> None:
        path = self.dir / "meta"
        path.write_text('{"type":"me')
        rtrack("run", "-q", "-a", "--meta", path, "-o", self.dir / "rows", "true")
        torn, whole = path.read_text().splitlines()
        self.assertEqual((torn, json.loads(whole)["type"]), ('{"type":"me', "meta"))


class Defaults(Case):
    """A default that cannot be used is left alone; one that is wrong is named."""

    def with_default(self, default: str, *words: Word) -> "subprocess.CompletedProcess[Any]":
        return rtrack(*words, env={**os.environ, "RTRACK_OPTIONS": default})

    def test_defaults_that_nothing_comes_of_are_left_alone(self) -> None:
        for default in ("-a", "--time-format iso", "--wait", "--no-children", "--live"):
            self.assertEqual(self.with_default(default, "run", "-q", "true").returncode, 0, default)
            done = self.with_default(default, "attach", "-q", "--count", "1", "-i", "0.01",
                                     str(os.getpid()))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("--live", done.stderr)
        done = self.with_default("--time-format iso", "run", "-q", "-f", "csv-v1", "-o", "-",
                                 "true")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_fields_and_templates_of_trees_are_left_alone_by_system(self) -> None:
        words = ("system", "--count", "1", "-i", "0.01", "-o", "-")
        done = self.with_default("--fields timestamp,pss_bytes", *words, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("load_1m", done.stdout)
        done = self.with_default("--template {exit_code}", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rtrack: system", done.stderr)

    def test_wrong_fields_and_templates_name_the_variable(self) -> None:
        for default in ("--fields no_such", "--template {no_such}"):
            for words in (["system", "--count", "1", "-i", "0.01"], ["run", "-o", "-", "true"]):
                done = self.with_default(default, *words)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, "no_such.*RTRACK_OPTIONS")


class Live(Case):
    def test_live_without_a_terminal_says_so_once(self) -> None:
        for words in (["run", "--live", "true"],
                      ["system", "--live", "--count", "2", "-i", "0.01"]):
            done = rtrack(*words, start_new_session=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("--live shows nothing here"), 1, done.stderr)
        self.assertNotIn("--live", rtrack("run", "true", start_new_session=True).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
