# SPDX-License-Identifier: MIT
"""Tests of the files that rtrack writes: what is asked for is done or refused before the start."""
import os
import pty
import stat
import subprocess
import threading
import unittest
from typing import List

from rtrack_command import PATIENCE_S, RTRACK, Case, Word, rtrack


class Refused(Case):
    def assert_refused(self, *options: Word, subcommand: str = "run") -> str:
        """The usage error comes before the start, and no file is made or changed."""
        mark = self.dir / "mark"
        before = {path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}
        words: List[Word] = ["--", "touch", mark] if subcommand == "run" else ["--count", "1"]
        done = rtrack(subcommand, *options, *words, cwd=self.dir)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(mark.exists())
        after = {path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}
        self.assertEqual(after, before)
        return done.stderr

    def test_one_file_for_two_outputs_is_refused(self) -> None:
        keep = self.dir / "keep.csv"
        keep.write_text("old\n")
        os.link(keep, self.dir / "hard.csv")
        os.symlink(keep, self.dir / "soft.csv")
        os.symlink("nowhere.csv", self.dir / "dangling.csv")
        for first, second in (("new", "./new"), ("keep.csv", "hard.csv"), ("soft.csv", keep),
                              ("keep.csv", "keep.csv"), ("dangling.csv", "nowhere.csv")):
            for options in (("-o", first, "--summary-file", second),
                            ("--processes", first, "-o", second),
                            ("--processes", first, "--summary-file", second)):
                message = self.assert_refused(*options)
                self.assertIn(f"both go to '{first}': name two files" if first == second
                              else "are one file", message)
                (self.dir / "nowhere.csv").unlink(missing_ok=True)

    def test_standard_output_by_two_names_is_refused(self) -> None:
        self.assertIn("cannot both go to standard output, which is '/dev/stdout': name a file",
                      self.assert_refused("-o", "-", "--processes", "/dev/stdout"))
        self.assertIn("the series and the list of processes cannot both go to standard output: ",
                      self.assert_refused("-o", "-", "--processes", "-"))
        self.assert_refused("--summary-file", "-", "--processes", "-")
        self.assert_refused("--summary-file", "-", subcommand="system")

    def test_standard_output_that_is_the_file_is_refused(self) -> None:
        with open(self.dir / "both", "w") as file:
            done = rtrack("run", "-o", "-", "--summary-file", self.dir / "both", "true",
                          stdout=file)
        self.assertEqual(done.returncode, 2)

    def test_devices_that_forget_may_be_shared(self) -> None:
        done = rtrack("run", "-o", "/dev/null", "--processes", "/dev/null", "--summary-file",
                      "/dev/null", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_one_terminal_for_two_outputs_is_refused(self) -> None:
        """It is a character device, too, but keeps what is written."""
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        self.addCleanup(os.close, follower)
        name = os.ttyname(follower)
        for options in (("-o", name, "--processes", name), ("-o", name, "--summary-file", name)):
            self.assertIn(f"cannot both go to '{name}'", self.assert_refused(*options))

    def test_rows_in_a_json_file_are_refused(self) -> None:
        for option in ("-o", "--processes"):
            self.assertIn("jsonl", self.assert_refused(option, "x.json"))
        path = self.dir / "x.json"
        self.assertEqual(rtrack("run", "-q", "-f", "jsonl", "-o", path, "true").returncode, 0)
        self.assertEqual(path.read_text()[0], "{")

    def test_file_for_no_summary_is_refused(self) -> None:
        self.assertIn("--summary none",
                      self.assert_refused("--summary", "none", "--summary-file", "x"))

    def test_choice_for_no_series_is_refused(self) -> None:
        for option, value in (("--format", "csv"), ("--fields", "timestamp"), ("--meta", "x")):
            self.assertIn(f"{option} needs --output", self.assert_refused(option, value))


class Kept(Case):
    """A file keeps its content until the command runs."""

    def test_failed_start_leaves_files_alone(self) -> None:
        for name in ("rows.csv", "list.csv", "summary"):
            (self.dir / name).write_text("old\n")
        words = ("-o", "rows.csv", "--processes", "list.csv", "--summary-file", "summary")
        for command in ("no-such-program-anywhere", str(self.dir)):
            done = rtrack("run", *words, command, cwd=self.dir)
            self.assertIn(done.returncode, (126, 127))
            for path in self.dir.iterdir():
                self.assertEqual(path.read_text(), "old\n", path)

    def test_failed_start_leaves_a_torn_row_alone(self) -> None:
        """The line feed that --append writes behind it comes with the first row."""
        path = self.dir / "rows.jsonl"
        path.write_text('{"type":')
        done = rtrack("run", "-a", "-o", path, "no-such-program-anywhere")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(path.read_text(), '{"type":')

    def test_failed_start_leaves_no_new_files(self) -> None:
        done = rtrack("run", "-o", "rows", "--processes", "list", "--summary-file", "summary",
                      "no-such-program-anywhere", cwd=self.dir)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_failed_attach_and_trace_leave_files_alone(self) -> None:
        path = self.dir / "rows"
        path.write_text("old\n")
        process = subprocess.Popen(["true"])
        process.wait()
        self.assertEqual(rtrack("attach", "-o", path, str(process.pid)).returncode, 125)
        self.assertEqual(rtrack("trace", "-o", path, "no-such-program-anywhere").returncode, 127)
        self.assertEqual(path.read_text(), "old\n")

    def test_start_replaces_content_and_keeps_mode_and_links(self) -> None:
        path, link = self.dir / "rows.csv", self.dir / "link.csv"
        path.write_text("old\n" * 1000)
        path.chmod(0o640)
        os.symlink(path, link)
        self.assertEqual(rtrack("run", "-q", "-o", link, "true").returncode, 0)
        self.assertNotIn("old", path.read_text())
        self.assertTrue(link.is_symlink())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)

    def test_new_file_obeys_umask(self) -> None:
        path = self.dir / "rows.csv"
        rtrack("run", "-q", "-o", path, "true", preexec_fn=lambda: os.umask(0o027) and None)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)

    def test_fifo_gets_rows(self) -> None:
        path = self.dir / "fifo"
        os.mkfifo(path)
        rows: List[str] = []
        reader = threading.Thread(target=lambda: rows.append(path.read_text()))
        reader.start()
        # On a loaded machine the command may take longer than the usual interval.
        self.assertEqual(rtrack("run", "-q", "-i", "1h", "-o", path, "true").returncode, 0)
        reader.join(PATIENCE_S)
        self.assertEqual(len(rows[0].splitlines()), 2)

    def test_dev_stdout_gets_rows(self) -> None:
        done = rtrack("run", "-q", "-i", "1h", "-o", "/dev/stdout", "true")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))


class Quiet(Case):
    def test_quiet_with_summary_file_writes_it(self) -> None:
        path = self.dir / "summary"
        self.assertEqual(rtrack("run", "-q", "--summary-file", path, "true").stderr, "")
        self.assertIn("exit 0", path.read_text())

    def test_quiet_does_not_change_the_form_of_the_summary_file(self) -> None:
        path = self.dir / "summary"
        rtrack("run", "--summary", "json", "-q", "--summary-file", path, "true")
        self.assertTrue(path.read_text().startswith("{"))

    def test_summary_after_quiet_is_written(self) -> None:
        self.assertIn('"summary"', rtrack("run", "-q", "--summary", "json", "true").stderr)
        self.assertEqual(rtrack("run", "--summary", "json", "-q", "true").stderr, "")

    def test_form_of_summary_file_follows_suffix(self) -> None:
        for name, begin in (("a.json", "{"), ("a.md", "**rtrack**"), ("a.txt", "rtrack: ")):
            path = self.dir / name
            rtrack("run", "--summary-file", path, "true")
            self.assertTrue(path.read_text().startswith(begin), name)
        path = self.dir / "a.json"
        rtrack("run", "--summary", "text", "--summary-file", path, "true")
        self.assertTrue(path.read_text().startswith("rtrack: "))


class Scripts(Case):
    def script(self, text: str, name: str = "script") -> str:
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def test_script_without_first_line_is_run_by_sh(self) -> None:
        path = self.script('echo "$0" "$@"\nexit 3\n')
        for method in ("poll", "wait"):
            done = rtrack("run", "-q", "--accounting", method, path, "a b", "c")
            self.assertEqual((done.returncode, done.stdout), (3, f"{path} a b c\n"), method)

    def test_script_without_first_line_is_found_in_path(self) -> None:
        path = self.script("exit 5\n", "scr-in-path")
        env = {**os.environ, "PATH": f"/nowhere:{self.dir}:{os.environ['PATH']}"}
        done = rtrack("run", "--summary", "json", "scr-in-path", env=env)
        self.assertEqual(done.returncode, 5)
        self.assertIn('"command":["scr-in-path"]', done.stderr)
        self.assertEqual(os.path.dirname(path), str(self.dir))

    def test_empty_script_succeeds(self) -> None:
        self.assertEqual(rtrack("run", "-q", self.script("")).returncode, 0)

    def test_missing_interpreter_is_named(self) -> None:
        missing = str(self.dir / "no-interpreter")
        path = self.script(f"#!{missing} -x\n")
        indirect = self.script(f"#! {path}\n", "indirect")
        for script in (path, indirect):
            done = rtrack("run", script)
            self.assertEqual(done.returncode, 127)
            self.assertIn(f"cannot run '{script}': its interpreter '{missing}'", done.stderr)
        env = {**os.environ, "PATH": str(self.dir)}
        done = rtrack("run", "script", env=env)
        self.assertEqual(done.returncode, 127)
        self.assertIn(missing, done.stderr)

    def test_interpreter_that_may_not_be_executed_is_named(self) -> None:
        plain = self.dir / "plain"
        plain.write_text("x")
        done = rtrack("run", self.script(f"#!{plain}\n"))
        self.assertEqual(done.returncode, 126)
        self.assertIn(str(plain), done.stderr)

    def test_missing_loader_of_a_binary_is_named(self) -> None:
        with open("/proc/self/exe", "rb") as file:
            data = file.read()
        start = data.find(b"/lib", 0, 4096)
        if data[:4] != b"\x7fELF" or start < 0:
            self.skipTest("the program of this test names no loader in its first page")
        path = self.dir / "binary"
        path.write_bytes(data[:start] + b"/lix" + data[start + 4:])
        path.chmod(0o755)
        done = rtrack("run", path)
        self.assertEqual(done.returncode, 127)
        self.assertIn("its interpreter '/lix", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
