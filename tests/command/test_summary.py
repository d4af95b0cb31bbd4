# SPDX-License-Identifier: MIT
"""Tests of the summary, as JSON and as text."""
import csv
import json
import os
import pty
import re
import subprocess
import unittest
from typing import Any, Dict, List

from rtrack_command import (PATIENCE_S, RTRACK, Case, Word, busy, in_locale, python, read_terminal,
                            rtrack, until_rows)

KEYS = {
    "command": list,
    "exit_code": int,
    "signal": type(None),
    "wall_seconds": float,
    "cpu_user_seconds": float,
    "cpu_system_seconds": float,
    "cpu_seconds": float,
    "peak_rss_bytes": int,
    "peak_footprint_bytes": int,
    "peak_needed_bytes": int,
    "peak_tree_bytes": int,
    "peak_tree_kind": str,
    "read_bytes": int,
    "write_bytes": int,
    "processes": int,
    "left_running": int,
    "samples": int,
    "samples_missed": int,
    "processes_exact": bool,
    "cgroup": dict,
    "accounting": dict,
    "overhead_cpu_seconds": float,
    "timed_out": bool,
    "partial": list,
    "schema": int,
    "cores_used": float,
    "peak_cores_exact": bool,
    "label": type(None),
    "top_cpu": list,
    "top_memory": list,
    "meta": dict,
}
ACCOUNTING = {
    "level": str, "complete": bool, "reasons": list, "cpu_seconds_low": float,
    "cpu_seconds_estimate": float, "error_bound_seconds": (float, int, type(None)),
    "members_skipped": int}
CGROUP = {"memory_peak_bytes", "read_bytes", "write_bytes", "tasks_peak", "oom_kills"}
HOLD = "x = b'x' * (64 << 20)\n"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")


def text(*words: Word, **kwargs: Any) -> str:
    return rtrack("run", *words, **kwargs).stderr


class Json(Case):
    def test_json_summary_has_documented_keys(self) -> None:
        got = self.summary("run", "-i", "0.05", *python(HOLD + busy(0.2)))
        for key, kind in KEYS.items():
            self.assertIsInstance(got[key], kind, key)
        for key, kind in ACCOUNTING.items():
            self.assertIsInstance(got["accounting"][key], kind, key)
        self.assertIn("cpu_seconds_high", got["accounting"])
        self.assertEqual(set(got["cgroup"]), CGROUP)

    def test_process_count_marked_exact_is_complete(self) -> None:
        got = self.summary("run", "sh", "-c", "(true) & (true) & (true) & wait")
        if not got["processes_exact"]:
            self.skipTest("process events are not available here")
        self.assertEqual(got["processes"], 4)
        self.assertTrue(2 <= got["processes_peak"] <= 4, got["processes_peak"])
        self.assertNotIn("processes", got["partial"])

    def test_tree_peak_lies_within_bounds(self) -> None:
        got = self.summary("run", "--accounting", "wait", *python(HOLD))
        self.assertGreaterEqual(got["peak_tree_bytes"], 64 << 20)
        self.assertLessEqual(got["peak_tree_low_bytes"], got["peak_tree_bytes"])
        self.assertEqual(got["peak_tree_kind"], "footprint")
        self.assertEqual(got["peak_tree_bytes"], got["peak_footprint_bytes"])
        self.assertGreaterEqual(got["peak_footprint_bytes"], got["peak_rss_bytes"])
        self.assertNotIn("peak_footprint", got["valid"])
        self.assertIn("peak_footprint", got["partial"] + got["estimated"])
        high = got["peak_tree_high_bytes"]
        self.assertTrue(
            high is None or high >= max(got["peak_tree_bytes"], got["peak_tree_low_bytes"]), got)

    def test_memory_of_command_that_ends_at_once_is_known_or_null(self) -> None:
        for _ in range(10):
            got = self.summary("run", "true")
            rss = got["peak_rss_bytes"]
            self.assertGreaterEqual(got["peak_footprint_bytes"] or rss or 0, rss or 0)
            parts = set(got["footprint"].values())
            self.assertTrue(got["footprint"]["anon_bytes"] or parts == {None}, parts)

    def test_cpu_estimate_is_the_lower_bound(self) -> None:
        got = self.summary("run", "--accounting", "wait", *python(busy(0.2)))["accounting"]
        self.assertEqual(got["level"], "wait")
        self.assertEqual(got["cpu_seconds_estimate"], got["cpu_seconds_low"])
        self.assertGreater(got["cpu_seconds_low"], 0)

    def test_cgroup_figures_without_cgroup_are_null(self) -> None:
        got = self.summary("run", "--accounting", "wait", "true")["cgroup"]
        self.assertEqual(set(got.values()), {None})

    def test_cpu_bounds_contain_cpu_seconds(self) -> None:
        got = self.summary("run", *python(busy(0.1)))
        low, high = got["accounting"]["cpu_seconds_low"], got["accounting"]["cpu_seconds_high"]
        self.assertLessEqual(low, got["cpu_seconds"] + 1e-9)
        self.assertTrue(high is None or high >= got["cpu_seconds"])
        self.assertTrue(got["accounting"]["complete"] or got["accounting"]["reasons"],
                        "an incomplete result needs a reason")

    def test_unknown_upper_bound_is_null(self) -> None:
        got = self.summary("run", "--accounting", "poll", "true")["accounting"]
        self.assertEqual(got["complete"], not got["reasons"])
        high = got["cpu_seconds_high"]  # the CPU time of the caller's cgroup, if there is one
        self.assertTrue(high is None or high >= got["cpu_seconds_low"], high)

    def test_level_is_requested_accounting_method(self) -> None:
        for method in ("poll", "wait"):
            self.assertEqual(
                self.summary("run", "--accounting", method, "true")["accounting"]["level"], method)
        self.assertIn(self.summary("run", "true")["accounting"]["level"], ("wait", "cgroup"))

    def test_json_summary_goes_to_stderr_by_default(self) -> None:
        done = rtrack("run", "--summary", "json", "echo", "mine")
        self.assertEqual(done.stdout, "mine\n")
        self.assertEqual(json.loads(done.stderr)["exit_code"], 0)

    def test_hostile_words_are_escaped_in_json(self) -> None:
        words = ['"', "\\", "\n\x1b[31m", "ü", "\x7f"]
        self.assertEqual(self.summary("run", "echo", *words)["command"], ["echo", *words])
        done = rtrack("run", "--summary", "json", "true", b"\xff\xfe")
        self.assertEqual(json.loads(done.stderr)["command"], ["true", "\ufffd\ufffd"])


class Text(Case):
    def test_text_summary_has_main_figures(self) -> None:
        output = text("-i", "0.05", *python(HOLD + busy(0.2) + "\nraise SystemExit(4)"))
        self.assertRegex(output, r"^rtrack: .*   exit 4\n")
        seconds, size = r"(at least )?\d+\.\d\d+ s", r"(about |at least )?\d+\.\d [KM]iB"
        for line in (r"wall time   \d+\.\d\d+ s", rf"CPU time    {seconds} +0\.\d{{3}} s user, ",
                     r"cores       (at least )?\d\.\d\d +of \d+, on average",
                     rf"peak memory {size} +all processes, ",
                     rf"            {size} +largest process",
                     r"read        .* from storage", r"written     .* to storage",
                     r"processes   (at least 1 +seen|1 +in all)", r"accounting  (wait|cgroup), "):
            self.assertRegex(output, rf"(?m)^  {line}")

    def test_what_a_value_means_is_in_line_behind_the_longest_one(self) -> None:
        """What a poll saw of nearly 1 MiB that was written is a lower bound."""
        written, rows = self.dir / "written", self.dir / "rows"
        code = (f"file = open({str(written)!r}, 'wb', 0)\nfile.write(bytes(1004 << 10))\n"
                + until_rows(rows))
        output = text("--accounting", "poll", "-i", "0.05", "-o", rows, *python(code))
        lines = list(re.finditer(r"(?m)^  .{12}(\S+(?: \S+)*)  +"
                                 r"(?=\S.*(?:user,|average$|storage$|in all$|seen$))", output))
        self.assertGreater(len(lines), 3, output)
        columns = {line.end() - line.start() for line in lines}
        self.assertEqual(len(columns), 1, output)
        if not any(re.match(r"at least 10\d\d\.\d KiB$", line[1]) for line in lines):
            self.skipTest("what is written here goes to no storage, or is known for sure")

    def test_lines_have_no_trailing_blanks(self) -> None:
        output = text("-v", "--label", "x", "sh", "-c", "sleep 0.1 | cat")
        self.assertEqual([line for line in output.splitlines() if line != line.rstrip()], [])

    def test_verbose_summary_has_more_lines(self) -> None:
        self.assertNotIn("overhead", text("true"))
        output = text("-v", "true")
        for word in ("overhead", "faults", "switches"):
            self.assertIn(word, output)
        self.assertNotIn("at once", text("true"))
        if "at least" not in output.partition("processes")[2].splitlines()[0]:
            self.assertRegex(output, r"processes +1 +in all\n +1 +at once, at most")

    def test_cores_are_never_more_than_the_machine_has(self) -> None:
        """A child is accounted when it is waited for, so an interval can seem to have more."""
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        code = f"""
import os, time
children = [os.fork() for _ in range({3 * cpus})]
if 0 in children:
    while time.process_time() < 0.1: pass
    os._exit(0)
for child in children: os.waitpid(child, 0)
"""
        got = self.summary("run", "--accounting", "wait", "-i", "0.005", *python(code))
        self.assertLessEqual(got["peak_cores"], cpus)
        self.assertLessEqual(got["cores_used"], got["peak_cores"])
        self.assertEqual(got["cpus_online"], cpus)

    def rows_of_late_time(self, form: str, *words: Word, **kwargs: Any) -> List[Dict[str, str]]:
        """Clock ticks hide up to 10 ms of children until their parent is reaped: 50 at once."""
        code = """
import os, time
starters = []
for _ in range(50):
    starters.append(os.fork())
    if starters[-1] == 0:
        for _ in range(4):
            if os.fork() == 0:
                end = time.process_time() + 0.001
                while time.process_time() < end: pass
                os._exit(0)
            os.wait()
        os._exit(0)
for pid in starters:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
time.sleep(0.1)
for pid in starters:
    os.wait()
"""
        done = rtrack("run", "-q", "--accounting", "poll", "-i", "0.02", "-f", form, "-o",
                      self.dir / "rows", *words, *python(code), **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.dir / "rows") as file:
            return list(csv.DictReader(file))

    def test_row_with_more_time_than_all_cores_have_is_an_estimate(self) -> None:
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        if cpus > 4:
            self.skipTest("too many CPUs: no row has so much time")
        for _ in range(20):
            rows = self.rows_of_late_time("csv")
            over = [row for row in rows
                    if float(row["d_cpu_user_seconds"]) + float(row["d_cpu_system_seconds"])
                    > 1.02 * cpus * float(row["interval_seconds"])]
            for row in rows:
                self.assertLessEqual(float(row["cores_used"]), cpus)
            for row in over:
                self.assertIn("cores_used", row["estimated"].split())
            if over:
                break
        self.assertTrue(over, "no row ended soon enough after the one before")
        for row in self.rows_of_late_time("csv-v1"):
            self.assertLessEqual(float(row["cpu_usage"]), cpus)

    def test_job_on_one_cpu_has_a_peak_of_one_core_at_most(self) -> None:
        cpu = min(os.sched_getaffinity(0))
        file = self.dir / "summary"
        rows = self.rows_of_late_time("csv", "--summary", "json", "--summary-file", file,
                                      preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        got = json.loads(file.read_text())
        self.assertLessEqual(got["peak_cores"], 1)
        self.assertFalse(got["peak_cores_exact"])
        for row in rows:
            time = float(row["d_cpu_user_seconds"]) + float(row["d_cpu_system_seconds"])
            self.assertLessEqual(float(row["cores_used"]), 1)
            if time > 1.01 * float(row["interval_seconds"]):
                self.assertIn("cores_used", row["estimated"].split())

    def test_peak_of_one_process_is_exact(self) -> None:
        got = self.summary("run", "--accounting", "poll", "-i", "0.05", *python(busy(0.2)))
        self.assertTrue(got["peak_cores_exact"])
        self.assertGreaterEqual(got["peak_cores"], got["cores_used"])

    def test_missing_cpu_time_is_bounded_in_words_with_its_reason(self) -> None:
        code = ("import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "if os.fork() == 0:\n    while time.process_time() < 0.2: pass\n    os._exit(0)\n"
                "try: os.wait()\nexcept ChildProcessError: pass\n")
        output = " ".join(text("--accounting", "wait", *python(code)).split())
        self.assertRegex(
            output, r"accounting wait, perhaps incomplete (up to \d+\.\d+ s of CPU may be missing|"
            r"CPU time may be missing, and it is not known how much): .*"
            r"a process (ignores SIGCHLD|exited and no parent)")
        self.assertRegex(output, r"CPU time at least \d")

    def test_incomplete_summary_says_how_much_and_complete_one_nothing(self) -> None:
        for words in (["true"], ["sleep", "0.1"], ["sh", "-c", "true | cat"]):
            for method in ("poll", "wait"):
                output = text("--accounting", method, *words)
                self.assertRegex(output, r"(perhaps in|, )complete")
                self.assertEqual("perhaps incomplete" in output, "may be missing: " in output
                                 or "not known how much: " in output, output)

    def test_label_is_shown(self) -> None:
        self.assertRegex(text("--label", "nightly \x1b[1m", "true"),
                         r"(?m)^  label +nightly \?\[1m$")
        self.assertEqual(self.summary("run", "--label", "a b", "true")["label"], "a b")
        self.assertNotIn("label", text("true"))

    def test_quiet_or_none_prints_no_summary(self) -> None:
        for option in ("-q", "--quiet", "--summary=none"):
            self.assertEqual(text(option, "true"), "")

    def test_graphs_match_locale_and_terminal(self) -> None:
        rows = self.dir / "rows"
        words = ("-i", "0.03", "-o", rows, *python(HOLD + until_rows(rows, "6")))
        self.assertRegex(text(*words, env=in_locale("C.UTF-8", TERM="xterm")), "[▁▂▃▄▅▆▇█]{3}")
        for env in (in_locale("C", TERM="xterm"), in_locale("C.UTF-8", TERM="dumb")):
            output = text(*words, env=env)
            self.assertTrue(output.isascii(), output)
            self.assertRegex(output, r"[_.:\-=+*#]{3}")

    def test_graphs_of_long_run_keep_width(self) -> None:
        output = text("-i", "0.002", "sleep", "0.6", env=in_locale("C.UTF-8", TERM="xterm"))
        for graph in re.findall("[▁▂▃▄▅▆▇█]+", output):
            self.assertLessEqual(len(graph), 48)

    def test_hostile_words_are_escaped_in_text(self) -> None:
        output = text("true", b"\x1b[31m", b"a\nb", b"\xff", "\x9b5m".encode(), b"\r",
                      env=in_locale("C.UTF-8"))
        self.assertEqual(len([line for line in output.splitlines() if line.startswith("rtrack: ")]),
                         1)
        self.assertIn("true ?[31m a\\nb ? ?5m ?", output)
        self.assertNotIn("\x1b", output)

    def test_long_command_line_is_shortened(self) -> None:
        first = text("echo", "ü" * 200, stdout=subprocess.DEVNULL,
                     env=in_locale("C.UTF-8")).splitlines()[0]
        self.assertLess(len(first), 90)
        self.assertIn("...", first)

    def test_lower_bound_is_marked(self) -> None:
        self.assertRegex(text("sh", "-c", "true | cat"), "at least|complete")

    def test_summary_file_gets_text(self) -> None:
        path = self.dir / "summary.txt"
        self.assertEqual(text("--summary-file", str(path), "true"), "")
        self.assertIn("exit 0", path.read_text())


class Color(Case):
    def on_terminal(self, *words: str, **env: str) -> str:
        """Run rtrack with a terminal as standard error. Returns the output on the terminal."""
        leader, follower = pty.openpty()
        full: Dict[str, str] = {**os.environ, "TERM": "xterm", **env}
        if "NO_COLOR" not in env:
            full.pop("NO_COLOR", None)
        process = self.start([RTRACK, "run", "--live", "never", *words, "true"], stderr=follower,
                             env=full)
        os.close(follower)
        output = read_terminal(leader)
        os.close(leader)
        process.wait(timeout=PATIENCE_S)
        return output.decode()

    def test_color_without_terminal_is_off(self) -> None:
        self.assertRegex(self.on_terminal(), ESCAPES)
        self.assertNotRegex(text("true"), ESCAPES)

    def test_color_with_no_color_dumb_or_never_is_off(self) -> None:
        self.assertNotRegex(self.on_terminal(NO_COLOR="1"), ESCAPES)
        self.assertNotRegex(self.on_terminal(TERM="dumb"), ESCAPES)
        self.assertNotRegex(self.on_terminal("--color", "never"), ESCAPES)
        self.assertRegex(self.on_terminal(NO_COLOR=""), ESCAPES)

    def test_color_always_overrides_defaults(self) -> None:
        self.assertRegex(text("--color", "always", "true"), ESCAPES)
        self.assertRegex(self.on_terminal("--color=always", NO_COLOR="1"), ESCAPES)

    def test_color_adds_only_escapes(self) -> None:
        words = ("--accounting", "poll", "-i", "0.1", "sleep", "0.25")
        plain, colored = text(*words), text("--color", "always", *words)
        figures = re.compile(
            r" *(about|at least)? *[\d.]+( [KM]i?B\b| B\b| s\b)? *| *unknown\b *"
            r"|[_.:\-=+*#▁▂▃▄▅▆▇█]+")
        # The two runs may differ in their verdict: other processes may use CPU time in one of them.
        # In one of them a poll may see the peak before memory is read, and a part of the CPU time
        # may be 0, which is unknown as a lower bound.
        plain, colored = (
            figures.sub("0", ESCAPES.sub("", output).partition("accounting")[0])
            for output in (plain, colored))
        self.assertEqual(colored, plain)


class ShortCommand(Case):
    """true(1) mostly ends before a sample can read its memory."""

    def peaks(self, *words: str) -> str:
        output = rtrack("run", *words, "true").stderr
        return re.search(r"(?ms)^  peak memory +(.*?)(?=^  read )", output)[1]

    def test_memory_of_all_is_not_below_that_of_one_process(self) -> None:
        """Most of what sleep has in memory is the C library, which other programs use, too."""
        with open("/proc/self/maps", encoding="ascii") as own:
            self.assertIn("libc.so", own.read())
        done = rtrack("run", "sleep", "0.5")
        self.assertRegex(done.stderr, "(?m)^  peak memory .* all processes, each page once$")
        done = rtrack("run", "--template", "{peak_footprint_bytes} {peak_rss_bytes}", "sleep",
                      "0.5")
        of_all, of_one = map(int, done.stderr.split())
        self.assertGreaterEqual(of_all, of_one)

    def test_unknown_peak_is_one_line_with_its_reason(self) -> None:
        for words in (["--accounting", "poll"], ["--accounting", "wait"], []) * 5:
            peaks = self.peaks(*words)
            if peaks.startswith("unknown"):
                self.assertRegex(peaks, r"^unknown +the command ended before its memory was read\n")
                self.assertEqual(peaks.count("unknown"), 1)
            elif "unknown" in peaks:
                self.assertRegex(peaks, r"unknown +largest process, resident: it ended before")

    def test_peak_that_a_sample_saw_is_not_exact(self) -> None:
        """Below what it inherits from rtrack, the kernel's figure says nothing of its own peak.

        On Linux, true(1) has more than 300 KiB: its loader and libc."""
        for method in ("poll", "wait", "auto") * 10:
            got = self.summary("run", "--accounting", method, "true")
            if "peak_rss" in got["valid"]:
                self.assertGreater(got["peak_rss_bytes"], 300 << 10, got)


if __name__ == "__main__":
    unittest.main(verbosity=2)
