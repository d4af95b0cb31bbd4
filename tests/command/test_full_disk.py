# SPDX-License-Identifier: MIT
"""Output that cannot be written: told once, no torn row, and the command goes on."""
import os
import resource
import signal
import subprocess
import time
import unittest

from rtrack_command import PATIENCE_S, RTRACK, Case, read_csv, read_jsonl, rtrack

DONE = "sleep 0.3; echo done; exit 3"
# Goes on until the file named first has something in it: until rtrack has complained there.
AFTER_COMPLAINT = 'for i in $(seq 10000); do [ -s "$0" ] && break; sleep 0.01; done; echo done; exit 3'


class FullDevice(Case):
    def test_run_keeps_the_code_of_the_command(self) -> None:
        for form in ("csv", "csv-v5", "jsonl"):
            done = rtrack("run", "-q", "-i", "0.05", "-f", form, "-o", "/dev/full", "sh", "-c", DONE)
            self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("/dev/full", done.stderr)

    def test_the_others_end_with_1(self) -> None:
        for words in (["system"], ["attach", str(os.getpid())]):
            done = rtrack(words[0], "-q", "-i", "0.05", "-o", "/dev/full", *words[1:])
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_summary(self) -> None:
        done = rtrack("run", "--summary-file", "/dev/full", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("summary", done.stderr)

    def test_list_of_processes(self) -> None:
        done = rtrack("run", "-q", "--processes", "/dev/full", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("/dev/full", done.stderr)

    def test_summary_on_standard_error(self) -> None:
        with open("/dev/full", "w") as full:
            self.assertEqual(rtrack("run", "sh", "-c", "exit 3", stderr=full).returncode, 3)

    def test_text_on_standard_output(self) -> None:
        with open("/dev/full", "w") as full:
            for words in (["info"], ["rusage"], ["--help"], ["run", "--help"]):
                self.assertEqual(rtrack(*words, stdout=full).returncode, 1, words)


class FullFile(Case):
    """A limit on the size of files stands in for a full disk: the last write is a short one."""

    def fill(self, form: str, limit: int) -> str:
        path = self.dir / "rows"

        def limit_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

        said = self.dir / "said"
        with open(said, "w") as stderr:
            done = rtrack("run", "-q", "-i", "0.01", "-f", form, "-o", path, "sh", "-c", AFTER_COMPLAINT, said,
                          stderr=stderr, preexec_fn=limit_files)
        self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
        self.assertEqual(len(said.read_text().splitlines()), 1, said.read_text())
        return str(path)

    def test_has_whole_rows_only(self) -> None:
        for limit in (300, 601, 702, 803):
            path = self.fill("csv", limit)
            with open(path) as file:
                text = file.read()
            self.assertTrue(text.endswith("\n"))
            self.assertGreater(len(read_csv(path)), 0)
            self.assertEqual({line.count(",") for line in text.splitlines()}, {11})

    def test_list_of_processes_has_whole_rows_only(self) -> None:
        """The limit leaves room for the supervisor's own list, which is half as long as the text."""
        path = self.dir / "processes.jsonl"

        def limit_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, resource.RLIM_INFINITY))

        code = "for i in 1 2 3 4 5 6; do for j in $(seq 100); do (:); done; done; exit 3"
        done = rtrack("run", "-q", "--processes", path, "sh", "-c", code, preexec_fn=limit_files)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
        self.assertIn(str(path), done.stderr)
        self.assertTrue(path.read_text().endswith("\n"))
        self.assertTrue(90000 < path.stat().st_size <= 100000)
        self.assertEqual({row["type"] for row in read_jsonl(path)}, {"process"})

    def test_has_whole_records_only(self) -> None:
        self.assertEqual([row["type"] for row in read_jsonl(self.fill("jsonl", 5000))][:2], ["meta", "sample"])

    def test_a_head_that_does_not_fit_leaves_nothing(self) -> None:
        self.assertEqual(os.path.getsize(self.fill("csv", 10)), 0)

    def test_a_file_that_was_there_keeps_what_it_had(self) -> None:
        path = self.dir / "rows"
        rtrack("run", "-q", "-i", "60", "-o", path, "true")
        before = path.read_text()
        rtrack("run", "-q", "-a", "-i", "0.01", "-o", path, "sh", "-c", DONE,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, resource.RLIM_INFINITY)))
        self.assertEqual(path.read_text(), before)


class ClosedPipe(Case):
    def test_run_goes_on(self) -> None:
        mark, is_closed = self.dir / "mark", self.dir / "closed"
        code = f"for i in $(seq 10000); do [ -e {is_closed} ] && break; sleep 0.01; done; touch {mark}; exit 3"
        process = self.start([RTRACK, "run", "-q", "-i", "0.02", "-o", "-", "sh", "-c", code],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        is_closed.touch()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 3)
        self.assertTrue(mark.exists())
        self.assertEqual(len(process.stderr.read().splitlines()), 1)

    def test_system_ends(self) -> None:
        process = self.start([RTRACK, "system", "-q", "-i", "0.02"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 1)

    def test_the_command_is_not_protected_from_it(self) -> None:
        """It gets the default action for SIGPIPE back."""
        code = f"{RTRACK} run -q sh -c 'while echo y; do :; done; exit 9' | head -1; echo ${{PIPESTATUS[0]}}"
        said = subprocess.run(["bash", "-c", code], stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S).stdout
        self.assertEqual(said.split(), ["y", str(128 + signal.SIGPIPE)])


class SlowPipe(Case):
    def test_rows_wait_for_a_pipe_that_does_not_block(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start([RTRACK, "system", "-q", "-f", "jsonl", "-i", "0.005", "--count", "60"], stdout=writer)
        os.close(writer)
        with open(reader) as pipe:
            time.sleep(0.8)  # more than the pipe holds
            lines = pipe.read().splitlines()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        self.assertEqual(len(lines), 61)
        self.assertTrue(all(line.startswith("{") and line.endswith("}") for line in lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
