# SPDX-License-Identifier: MIT
"""Tests of mistakes that people make: each is answered with the way out."""
import os
import subprocess
import unittest

from rtrack_command import PATIENCE_S, RTRACK, Case, Word, rtrack

TIME_LINE = "a number and its unit are one word, as in "


class Files(Case):
    def refuse(self, *words: Word, code: int = 2) -> str:
        """Return the first line of the message. Nothing is written."""
        done = rtrack(*words, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(os.listdir(self.dir), [])
        return done.stderr.splitlines()[0]

    def test_second_file_is_refused_and_not_dropped(self) -> None:
        for option in ("--output", "--summary-file", "--processes", "--meta"):
            self.assertEqual(
                self.refuse("run", option, "A", option, "B", "true"),
                f"rtrack: {option} 'B': 'A' was given before, and only one file can be written")

    def test_file_of_the_environment_is_replaced(self) -> None:
        done = rtrack("run", "-q", "-o", "B", "true", cwd=self.dir,
                      env={**os.environ, "RTRACK_OPTIONS": "-o A"})
        self.assertEqual((done.returncode, os.listdir(self.dir)), (0, ["B"]))

    def test_format_that_is_not_written_is_refused(self) -> None:
        for words, forms in ((["run", "-o"], "*.jsonl for JSON Lines or *.csv, or give --format"),
                             (["run", "--processes"], "*.jsonl for JSON Lines or *.csv"),
                             (["run", "--summary-file"], "*.json or *.md, or give --summary"),
                             (["trace", "-o"], "*.jsonl for JSON Lines, or give --format")):
            for suffix in ("parquet", "xlsx", "yaml"):
                self.assertIn(f" 'x.{suffix}': rtrack writes no .{suffix}: name it {forms}",
                              self.refuse(*words, f"x.{suffix}", "true"))

    def test_format_that_was_asked_for_is_written_under_any_name(self) -> None:
        done = rtrack("run", "-o", "x.parquet", "-f", "csv", "--summary", "text", "--summary-file",
                      "x.yaml", "true", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.dir)), ["x.parquet", "x.yaml"])

    def test_compressed_file_is_refused_in_any_format(self) -> None:
        for words in (["-o", "x.jsonl.gz"], ["-f", "jsonl", "-o", "x.jsonl.gz"],
                      ["--processes", "all.csv.zst"], ["--summary-file", "x.json.xz"]):
            suffix = words[-1].rpartition(".")[2]
            self.assertIn(f"rtrack compresses nothing: leave '.{suffix}' out",
                          self.refuse("run", *words, "true"))

    def test_option_in_the_place_of_a_file_is_refused(self) -> None:
        for word in ("--", "-q", "--live"):
            self.assertEqual(self.refuse("run", "-o", word, "true"),
                             f"rtrack: --output: file name missing (for a file called '{word}', "
                             f"write ./{word})")
        self.assertEqual(rtrack("run", "-q", "-o", "./--", "true", cwd=self.dir).returncode, 0)
        self.assertEqual(os.listdir(self.dir), ["--"])


class Commands(Case):
    def test_command_line_in_quotes_is_named(self) -> None:
        for command in ("run", "trace", "rusage"):
            for line in ("true -l", "cd / && ls", "no-such >x"):
                done = rtrack(command, "--", line, cwd=self.dir)
                self.assertEqual(done.returncode, 127)
                self.assertEqual(done.stderr, f"rtrack: cannot run '{line}': its quotes make it "
                                              "one word; leave them out, or write sh -c '...'\n")
        self.assertNotIn("quotes", rtrack("run", "no-such -l").stderr)

    def test_program_with_blank_in_its_name_runs(self) -> None:
        (self.dir / "true -l").symlink_to("/bin/true")
        self.assertEqual(rtrack("run", "-q", self.dir / "true -l").returncode, 0)

    def test_directory_is_named(self) -> None:
        for command in ("run", "trace", "rusage"):
            done = rtrack(command, "--", self.dir)
            self.assertEqual((done.returncode, done.stderr),
                             (126, f"rtrack: cannot run '{self.dir}': it is a directory\n"))

    def test_unit_apart_from_its_number_is_named(self) -> None:
        for words, number in ((["run", "-i", "100", "ms", "true"], "interval '100 ms'"),
                              (["run", "-i100", "ms", "true"], "interval '100 ms'"),
                              (["attach", "--wait", "-d", "2", "min", "1"], "duration '2 min'"),
                              (["system", "-i", "0.5", "s"], "interval '0.5 s'"),
                              (["trace", "--ring-bytes", "1", "MiB", "--all"],
                               "ring-bytes '1 MiB'"),
                              (["run", "--max-memory", "512", "M", "true"], "max-memory '512 M'")):
            done = rtrack(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            joined = number.partition("'")[2][:-1].replace(" ", "")
            self.assertEqual(done.stderr.splitlines()[0],
                             f"rtrack: invalid {number}: {TIME_LINE}{joined}")

    def test_program_of_the_name_of_a_unit_runs(self) -> None:
        (self.dir / "ms").symlink_to("/bin/true")
        env = {**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}"}
        self.assertEqual(rtrack("run", "-q", "-i", "100", "ms", env=env).returncode, 0)
        self.assertEqual(rtrack("run", "-q", "-i", "100", "true").returncode, 0)

    @unittest.skipIf(os.path.exists("/run/systemd/system"), "systemd runs here")
    def test_unit_without_systemd_is_explained(self) -> None:
        done = rtrack("attach", "--unit", "no-such")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.splitlines()[1],
                         "rtrack: systemd does not run here, and makes no cgroups for units; "
                         "--cgroup follows any cgroup, --name a process")


class Pipes(Case):
    def test_reader_that_has_enough_is_no_trouble(self) -> None:
        for words, code in ((["system", "-q", "-i", "0.01"], 1),
                            (["attach", "-q", "-i", "0.01", "-o", "-", str(os.getpid())], 1),
                            (["run", "-q", "-i", "0.01", "-o", "-", "sleep", "1"], 0)):
            process = self.start([RTRACK, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=PATIENCE_S), code, words)
            self.assertEqual(process.stderr.read(), b"", words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
