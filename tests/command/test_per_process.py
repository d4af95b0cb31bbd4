# SPDX-License-Identifier: MIT
"""Tests of series with a row for each process (--per-process), against what the processes know of
themselves."""
import json
import os
import shutil
import subprocess
import unittest
from typing import Any, Dict, List, Set, Tuple

from harness import SOURCE
from rtrack_command import (
    PATIENCE_S, PYTHON, RTRACK, Case, Row, python, read_csv, read_jsonl, rtrack, until_rows)

try:
    import pandas
except ImportError:
    pandas = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

# Forks processes that use a known CPU time each. Each one notes its own account: when it has used
# it, and at its end, which comes after two samples more at least.
WORKERS = """
import os, resource, sys
directory, *seconds = sys.argv[1:]
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
def note(name):
    with open(f"{directory}/{name}-{os.getpid()}", "w") as file:
        file.write(repr(used()))
for amount in seconds:
    if os.fork() == 0:
        while used() < float(amount): pass
        note("least")
        wait_for_rows()
        note("most")
        os._exit(0)
for _ in seconds:
    os.wait()
"""
# Becomes another process of the same pid: ends and lets a new one begin.
REUSE = """
import os, sys, time
def live():
    if (pid := os.fork()) == 0:
        end = time.process_time() + 0.1
        while time.process_time() < end: pass
        wait_for_rows()
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
first = live()
for _ in range(20):
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(first - 1))
    if live() == first:
        sys.exit(0)
sys.exit(9)
"""


def until(path: Any, rows: int) -> str:
    """Return Python code of a function that waits until the series has so many rows more.

    The head may come with the first row, so it counts as there. The last one of two rows of a
    process was sampled after the call."""
    code = until_rows(path, f"max(lines_of_series(), 1) + {rows}").strip().splitlines()
    return "def wait_for_rows():\n" + "\n".join("    " + line for line in code)


class PerProcess(Case):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.dir / "rows.csv"
        self.jsonl = self.dir / "rows.jsonl"

    def series(self, *words: Any, path: Any = None, code: int = 0) -> List[Row]:
        """Run rtrack quietly and return the rows."""
        path = path or self.path
        done = rtrack(words[0], "--per-process", "-q", "-i", "0.05", "-o", path, *words[1:])
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return read_csv(path) if path == self.path else read_jsonl(path)

    def run_workers(self, path: Any, *seconds: str) -> None:
        # The command, its workers: a sample has at most so many rows.
        code = until(path, 3 * (len(seconds) + 1)) + WORKERS
        self.series("run", *python(code), self.dir, *seconds, path=path)

    def bounds(self) -> Dict[int, Tuple[float, float]]:
        """Return what each worker had used: at least, and at its end."""
        return {int(file.name.split("-")[1]):
                (float(file.read_text()),
                 float((self.dir / file.name.replace("least", "most")).read_text()))
                for file in self.dir.glob("least-*")}

    def check(self, used: Dict[int, float]) -> None:
        bounds = self.bounds()
        self.assertEqual(len(bounds), 3)
        for pid, (least, most) in bounds.items():
            # getrusage(2) rounds to microseconds. A sample may see the process write that down
            # and exit.
            self.assertGreaterEqual(used[pid], least - 1e-5)
            self.assertLessEqual(used[pid], most + 0.02)

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_pandas_sums_are_what_each_process_says_of_itself(self) -> None:
        self.run_workers(self.path, "0.1", "0.2", "0.3")
        rows = pandas.read_csv(self.path)
        groups = rows.groupby("pid")
        self.check((groups.d_cpu_user_seconds.sum() + groups.d_cpu_system_seconds.sum()).to_dict())
        self.check(groups.cpu_seconds.last().to_dict())
        self.assertTrue((groups.start_timestamp.nunique() == 1).all())
        for pid in self.bounds():
            self.assertGreater(groups.rss_bytes.max()[pid], 1 << 20)
        parents = groups.ppid.first()
        root = rows.root_pid.iloc[0]
        self.assertEqual({parents[pid] for pid in self.bounds()}, {root})
        for name in rows.columns.drop(["name", "state", "partial", "estimated"]):
            self.assertTrue(pandas.api.types.is_numeric_dtype(rows[name]), name)

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed")
    def test_jq_sums_are_what_each_process_says_of_itself(self) -> None:
        self.run_workers(self.jsonl, "0.1", "0.2", "0.3")
        program = "group_by(.pid) | map({key: .[0].pid | tostring, " \
                  "value: map(.d_cpu_seconds) | add}) | from_entries"
        output = subprocess.run(["jq", "-s", program, self.jsonl], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        self.check({int(pid): used for pid, used in json.loads(output).items()})

    def test_a_pid_that_is_used_again_is_another_process(self) -> None:
        words = ["unshare", "--pid", "--fork", "--mount-proc"]
        if not shutil.which("unshare"):
            self.skipTest("unshare is not installed")
        probe = subprocess.run([*words, "sh", "-c", "echo 100 > /proc/sys/kernel/ns_last_pid"],
                               stderr=subprocess.PIPE, text=True)
        if probe.returncode:
            self.skipTest("cannot choose pids: " + probe.stderr)
        done = subprocess.run([*words, RTRACK, "run", "--per-process", "-q", "-i", "0.05", "-o",
                               self.path, "--", *python(until(self.path, 6) + REUSE)],
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        if done.returncode == 9:
            self.skipTest("the kernel has not used the pid again")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        starts: Dict[int, Set[float]] = {}
        used: Dict[Any, float] = {}
        for row in read_csv(self.path):
            key = (row["pid"], row["start_timestamp"])
            starts.setdefault(row["pid"], set()).add(row["start_timestamp"])
            used[key] = used.get(key, 0) + row["d_cpu_user_seconds"] + row["d_cpu_system_seconds"]
        again = [pid for pid, found in starts.items() if len(found) > 1]
        self.assertTrue(again, starts)
        for start in starts[again[0]]:
            self.assertGreaterEqual(used[again[0], start], 0.1, "all since its own start")

    def test_what_was_used_before_attach_is_no_difference(self) -> None:
        process = self.start(python("import sys, time\nwhile time.process_time() < 0.2: pass\n"
                                    "print(flush=True)\nsys.stdin.read()"),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        rows = self.series("attach", "--count", "3", str(process.pid))
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertEqual(row["pid"], process.pid)
            self.assertGreaterEqual(row["cpu_seconds"], 0.2)
            self.assertLess(row["d_cpu_user_seconds"] + row["d_cpu_system_seconds"], 0.2)

    def test_rows_of_several_targets_name_their_root(self) -> None:
        processes = [self.start(["sleep", str(PATIENCE_S)]) for _ in range(2)]
        rows = self.series("attach", "--count", "2", *(str(p.pid) for p in processes))
        self.assertEqual([(row["root_pid"], row["pid"]) for row in rows[:2]],
                         [(p.pid, p.pid) for p in processes])
        self.assertEqual(len(rows), 4)

    def test_command_line_is_that_of_the_program_that_runs(self) -> None:
        # Both programs have one name. A second is the time between two reads.
        then = until(self.path, 2) + "\nimport time\ntime.sleep(1.1)\nwait_for_rows()"
        code = (until(self.path, 2) + "\nwait_for_rows()\nimport os, sys\n"
                "os.execv(sys.executable, [sys.executable, '-I', '-c', sys.argv[1], 'second'])")
        rows = self.series("run", "--fields", "pid,name,command_line", *python(code), then)
        self.assertTrue(rows[0]["command_line"].endswith(then.replace("\\", "\\\\")
                                                         .replace("\n", "\\n")), rows[0])
        self.assertTrue(rows[-1]["command_line"].endswith(" second"), rows[-1])
        self.assertEqual({row["name"] for row in rows}, {os.path.basename(PYTHON)[:15]})

    def test_any_name_is_read_back(self) -> None:
        names = [b'a,"b', b"x\ny\\", b"\xff\xfe", "ünï€".encode()]
        code = "import ctypes, sys\nctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1]))\n"
        for name in names:
            for path in (self.path, self.jsonl):
                rows = self.series("run", *python(code + until(path, 2) + "\nwait_for_rows()"),
                                   name.hex(), path=path)
                got = rows[-1]["name"]
                if path == self.jsonl:
                    self.assertEqual(got, name.decode(errors="replace"))
                else:
                    self.assertEqual(got.encode().decode("unicode_escape").encode("latin-1")
                                     if name[0] == 0xff else
                                     got.replace("\\n", "\n").replace("\\\\", "\\").encode(), name)

    def test_processes_without_a_row_are_counted(self) -> None:
        words = ["run", "--per-process", "--summary", "none", "-i", "60", "-o", self.path, "--",
                 "sh", "-c", "sleep 0.01; sleep 0.01"]
        done = rtrack(*words)
        # Where the kernel reports no forks, rtrack cannot count what it has not seen.
        self.assertRegex(done.stderr, r"\Artrack: (3 of 3 processes ended between two samples and "
                         r"have no row|processes that ended between two samples have no row, and "
                         r"are not counted)\n\Z")
        self.assertEqual(read_csv(self.path), [])
        words.insert(1, "-q")
        self.assertEqual(rtrack(*words).stderr, "")

    def test_fields_are_those_of_a_process(self) -> None:
        rows = self.series("run", "--fields", "state,pid,d_read_chars", *python(
            until(self.path, 2) + "\nwait_for_rows()"))
        self.assertEqual(list(rows[0]), ["state", "pid", "d_read_chars"])
        for name in ("children", "peak_tree_bytes", "memory_total_bytes"):
            done = rtrack("run", "--per-process", "-o", self.path, "--fields", name, "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"unknown field '{name}': it is one of ", done.stderr)

    def test_what_has_no_rows_of_processes_is_refused(self) -> None:
        for words, problem in (
                (["run", "-o", self.path, "-f", "csv-v1", "true"], "csv-v1 has fixed columns"),
                (["attach", "-o", self.path, "-f", "csv-v5", "1"], "csv-v5 has fixed columns"),
                (["run", "true"], "--per-process needs --output"),
                (["system"], "unknown option '--per-process'")):
            done = rtrack(words[0], "--per-process", *words[1:])
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(problem, done.stderr)
            self.assertFalse(self.path.exists())

    def test_default_that_cannot_be_used_is_left_alone(self) -> None:
        environment = {**os.environ, "RTRACK_OPTIONS": "--per-process"}
        for words in (["run", "-q", "true"], ["system", "-q", "--count", "1", "-i", "0.01"],
                      ["run", "-q", "-f", "csv-v1", "-o", self.path, "true"]):
            done = rtrack(*words, env=environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertIn('"children"', self.path.read_text())

    @unittest.skipUnless(jsonschema, "jsonschema is not installed")
    def test_rows_fit_their_schemas(self) -> None:
        for path, form in ((self.path, "csv"), (self.jsonl, "jsonl")):
            schema = json.loads(
                (SOURCE / f"docs/schema/series-per-process-{form}.schema.json").read_text())
            jsonschema.Draft7Validator.check_schema(schema)
            validator = jsonschema.Draft7Validator(schema)
            code = until(path, 4) + "\nwait_for_rows()"
            for more in ([], ["--pss", "off"], ["--time-format", "iso"]):
                path.unlink(missing_ok=True)
                rows = self.series("run", *more, "sh", "-c", 'exec "$@" &\nwait', "sh",
                                   *python(code), path=path)
                self.assertTrue(rows)
                for row in rows:
                    validator.validate(row)
                self.assertFalse(validator.is_valid({**rows[0], "pid": 0}))
                self.assertFalse(validator.is_valid({**rows[0], "rss_bytes": -1}))
                self.assertFalse(validator.is_valid(
                    {key: value for key, value in rows[0].items() if key != "start_timestamp"}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
