# SPDX-License-Identifier: MIT
"""Tests of rtrack trace on real calls, by each back end that works here."""
from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from typing import Any, Callable, Dict, List

from rtrack_command import (PATIENCE_S, RTRACK, Case, commands_of, is_alive, python, read_jsonl,
                            read_proc, rtrack, state_of, wait_until)

BACK_ENDS = json.loads(rtrack("info", "--json").stdout)["trace"]
SELF, CHILDREN, THREAD = 0, -1, 1

# Calls getrusage(2) with each argument, and with one that it refuses. Then prints what it got.
CALLS = """
import ctypes, json, resource
libc = ctypes.CDLL(None, use_errno=True)
got = [list(resource.getrusage(scope)) for scope in (0, -1, 1) * 10]
assert libc.getrusage(7, None) == -1
assert libc.getrusage(0, ctypes.c_void_p(8)) == -1
print(json.dumps(got))
"""
FIGURES = [
    "ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss", "ru_minflt",
    "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals",
    "ru_nvcsw", "ru_nivcsw"]

# Calls getrusage(2) before and after it has got a filter that refuses it with EIO.
REFUSED = """
import ctypes, platform, resource, struct
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 98, "aarch64": 165}[platform.machine()]
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50005), (6, 0, 0, 0x7fff0000)]
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))
resource.getrusage(0)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
usage = ctypes.create_string_buffer(b"\\x11" * 144)
assert libc.getrusage(-1, usage) == -1 and ctypes.get_errno() == 5
"""

# Finds its tracer.
TRACER = r"""
import os, re, resource
tracer = int(re.search(r"TracerPid:\t(\d+)", open("/proc/self/status").read())[1])
"""

Row = Dict[str, Any]


def each_back_end(test: Callable[["Live", str], None]) -> Callable[["Live"], None]:
    """Run a test with each back end. Skip it if there is none."""

    def run(self: "Live") -> None:
        names = [name for name, back_end in BACK_ENDS.items() if back_end["available"] == "yes"]
        if not names:
            self.skipTest("; ".join(back_end["why"] for back_end in BACK_ENDS.values()))
        for name in names:
            with self.subTest(back_end=name):
                test(self, name)

    return run


class Live(Case):
    def trace(self, back_end: str, *words: str, options: List[str] = [], code: int = 0,
              **kwargs: Any) -> List[Row]:
        """Trace a command, and return its calls."""
        path = self.dir / "calls.jsonl"
        done = rtrack("trace", "-q", "--back-end", back_end, *options, "-o", path, *words, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        self.output = done.stdout
        rows = read_jsonl(path)
        self.assertEqual((rows[-1]["type"], rows[-1]["calls"]), ("totals", len(rows) - 1))
        return rows[:-1]

    @each_back_end
    def test_figures_are_those_that_the_program_got(self, back_end: str) -> None:
        rows = self.trace(back_end, *python(CALLS))[-32:]
        self.assertEqual([row["who"] for row in rows], [0, -1, 1] * 10 + [7, 0])
        self.assertEqual([row["result"] for row in rows],
                         [0] * 30 + [-errno.EINVAL, -errno.EFAULT])
        for row, got in zip(rows, json.loads(self.output)):
            self.assertEqual([row[name] for name in FIGURES], got)
        for row in rows[30:]:
            self.assertEqual({row[name] for name in FIGURES}, {None})

    @each_back_end
    def test_events_say_where_and_when(self, back_end: str) -> None:
        before = time.time_ns()
        # The path of a program is known if it is there when its first call is read.
        code = f"""
import resource, time
resource.getrusage(resource.RUSAGE_SELF)
end = time.monotonic() + {PATIENCE_S / 2}
while not open({str(self.dir / "calls.jsonl")!r}).read() and time.monotonic() < end:
    time.sleep(0.01)
"""
        rows = self.trace(back_end, *python(code))
        for row in rows:
            self.assertTrue(before - 10**9 < row["realtime_ns"] < time.time_ns() + 10**9)
            self.assertLess(row["duration_ns"], 10**9)
            self.assertEqual((row["tid"], row["uid"], row["lost"]), (row["pid"], os.getuid(), 0))
        self.assertEqual([row["sequence"] for row in rows], list(range(len(rows))))
        self.assertEqual(os.path.realpath(rows[-1]["exe"]), os.path.realpath(sys.executable))

    @each_back_end
    def test_exit_code_and_signal_of_command_are_kept(self, back_end: str) -> None:
        self.trace(back_end, "sh", "-c", "exit 7", code=7)
        self.trace(back_end, "sh", "-c", "kill -9 $$", code=128 + signal.SIGKILL)

    @each_back_end
    def test_wait4_of_children_has_their_figures(self, back_end: str) -> None:
        code = """
import os, json
def child():
    pid = os.fork()
    if pid == 0:
        sum(range(10 ** 6)); os._exit(3)
    return pid
pids = [child() for _ in range(3)]
print(json.dumps([[pid, list(os.wait4(pid, 0)[2])] for pid in pids]))
"""
        rows = self.trace(back_end, *python(code), options=["--calls", "wait4"])
        got = json.loads(self.output)
        rows = [row for row in rows if row["result"] in [pid for pid, _ in got]]
        self.assertEqual([[row["result"], [row[name] for name in FIGURES]] for row in rows], got)
        self.assertEqual([row["who"] for row in rows], [pid for pid, _ in got])

    @each_back_end
    def test_wait4_of_gnu_time_has_what_it_prints(self, back_end: str) -> None:
        if not os.access("/usr/bin/time", os.X_OK):
            self.skipTest("GNU time is not installed")
        printed = self.dir / "printed"
        rows = self.trace(back_end, "/usr/bin/time", "-o", printed, "-f", "%M %F %R %w %c", "true",
                          options=["--calls", "wait4"])
        row, = (row for row in rows if row["comm"] == "time")
        names = ("ru_maxrss", "ru_majflt", "ru_minflt", "ru_nvcsw", "ru_nivcsw")
        self.assertEqual([row[name] for name in names],
                         list(map(int, printed.read_text().split())))

    @each_back_end
    def test_short_processes_and_threads_are_traced(self, back_end: str) -> None:
        code = """
import os, resource, threading
def call(): resource.getrusage(resource.RUSAGE_THREAD)
for _ in range(50):
    if os.fork() == 0:
        call(); os._exit(0)
    os.wait()
for _ in range(50):
    thread = threading.Thread(target=call)
    thread.start(); thread.join()
"""
        rows = [row for row in self.trace(back_end, *python(code)) if row["who"] == THREAD]
        self.assertEqual(len(rows), 100)
        pids = {row["pid"] for row in rows}
        self.assertEqual(len(pids), 51)
        self.assertGreater(len({row["tid"] for row in rows} - pids), 0)

    @each_back_end
    def test_signals_are_forwarded_to_command(self, back_end: str) -> None:
        process = self.start([RTRACK, "trace", "-q", "--back-end", back_end, "sleep", "60"],
                             stderr=subprocess.PIPE)
        wait_until(lambda: any("sleep" in open(f"/proc/{pid}/comm").read()
                               for pid in commands_of(process.pid)) or state_of(process.pid) == "Z")
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 128 + signal.SIGTERM)

    @each_back_end
    def test_live_children_count_what_was_not_waited_for(self, back_end: str) -> None:
        # The child is there until the call is written.
        code = f"""
import os, resource, time
path, end = {str(self.dir / "calls.jsonl")!r}, time.monotonic() + {PATIENCE_S / 2}
pid = os.fork()
if pid == 0:
    while time.process_time() < 0.5: pass
    time.sleep(60)
while True:
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rpartition(")")[2].split()
    if int(fields[11]) + int(fields[12]) >= 40 and fields[0] == "S": break
    time.sleep(0.05)
resource.getrusage(resource.RUSAGE_CHILDREN)
while '"who":-1' not in open(path).read() and time.monotonic() < end: time.sleep(0.01)
os.kill(pid, 9); os.wait()
"""
        rows = self.trace(back_end, *python(code), options=["--live-children"])
        row = [row for row in rows if row["who"] == CHILDREN][-1]
        self.assertLess(row["ru_utime"], 0.3)
        used = row["live_children_ru_utime"] + row["live_children_ru_stime"]
        self.assertTrue(0.4 <= used < 5, used)
        self.assertGreater(row["live_children_ru_maxrss"], 1000)
        self.assertGreaterEqual(row["live_children_at_ns"], row["monotonic_ns"])

    @each_back_end
    def test_call_that_a_filter_refuses_is_no_event(self, back_end: str) -> None:
        """It was never made. What is in the program's memory is not the kernel's answer."""
        rows = self.trace(back_end, *python(REFUSED))
        self.assertEqual({row["who"] for row in rows}, {SELF})

    @each_back_end
    def test_program_in_the_place_of_a_removed_one_has_its_own_path(self, back_end: str) -> None:
        """Many file systems give the inode of a removed file to the next one."""
        script = 'for name in one two; do cp "$BASH" $name; ./$name -c times; rm $name; done'
        rows = self.trace(back_end, "bash", "-c", script, cwd=self.dir)
        for name in ("one", "two"):
            found = {row["exe"] for row in rows if row["comm"] == name}
            self.assertLessEqual(found, {str(self.dir / name), str(self.dir / name) + " (deleted)",
                                         None})
            self.assertTrue(found)

    @each_back_end
    def test_starts_are_those_that_proc_shows(self, back_end: str) -> None:
        """Of a second thread, its process, and the parent of that, in ticks of 10 ms."""
        code = """
import json, os, resource, threading, time
def start_of(path):
    return int(open(path + "/stat").read().rpartition(")")[2].split()[19])
def call():
    resource.getrusage(1)
    me = threading.get_native_id()
    print(json.dumps([start_of(path) for path in (
        f"/proc/self/task/{me}", "/proc/self", f"/proc/{os.getppid()}")]))
time.sleep(0.02)
thread = threading.Thread(target=call)
thread.start()
thread.join()
"""
        row = self.trace(back_end, *python(code))[-1]
        names = ("thread_start_ns", "process_start_ns", "parent_start_ns")
        self.assertEqual([row[name] // 10_000_000 for name in names], json.loads(self.output))
        self.assertNotEqual(row["tid"], row["pid"])
        self.assertGreater(row["thread_start_ns"], row["process_start_ns"])

    @each_back_end
    def test_numbers_and_host_name_are_those_of_the_namespaces_of_the_caller(
            self, back_end: str) -> None:
        own = os.uname().nodename
        row = self.trace(back_end, *python("import resource; resource.getrusage(1)"))[-1]
        self.assertEqual(row["host_name"], own[:15])
        words = ["unshare", "--uts", "--pid", "--fork", *python("""
import resource, socket, subprocess, sys
socket.sethostname("a-name-of-20-letters")
code = "import resource; resource.getrusage(1)"
subprocess.run([sys.executable, "-c", code], check=True)
resource.getrusage(-1)
""")]
        if not shutil.which("unshare") or subprocess.run(words, stderr=subprocess.DEVNULL,
                                                         check=False).returncode != 0:
            self.skipTest("new namespaces need root here")
        rows = [row for row in self.trace(back_end, *words) if row["ns_pid"] != row["pid"]]
        child, = [row for row in rows if row["who"] == THREAD]
        first = [row for row in rows if row["who"] == CHILDREN][-1]
        self.assertEqual((first["ns_pid"], first["ns_tid"], first["ns_ppid"]), (1, 1, None))
        self.assertEqual((child["ns_pid"], child["ns_ppid"]), (2, 1))
        self.assertEqual((child["host_name"], first["host_name"]), ("a-name-of-20-le",) * 2)
        self.assertEqual(child["ppid"], first["pid"])
        self.assertEqual(os.uname().nodename, own)

    @each_back_end
    def test_hostile_name_of_a_program_breaks_no_line(self, back_end: str) -> None:
        """The name is in /proc/PID/stat, between parentheses, and may have those of its own."""
        name = 'a) R 1\n"{}\x1b[2J'
        program, path = self.dir / name, self.dir / "calls"
        shutil.copy(shutil.which("bash") or "", program)
        lines = {}
        for form in ("text", "jsonl", "tracee", "tracee-v1beta1"):
            done = rtrack("trace", "-q", "--back-end", back_end, "-f", form, "-o", path, program,
                          "-c", "times >/dev/null")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines[form] = path.read_bytes().decode().splitlines()
            if form == "jsonl":
                lines[form].pop()  # the totals
            self.assertEqual(len(lines[form]), 2, lines[form])
        for line in lines["text"]:
            self.assertRegex(line, r"\] getrusage\(RUSAGE_\w+\) = 0 \{")
            self.assertFalse(re.search("[\x00-\x1f\x7f-\x9f]", line), repr(line))
        for row in map(json.loads, lines["jsonl"]):
            self.assertEqual(row["comm"], name)
            self.assertIn(row["exe"], (str(program), None))
        for row in map(json.loads, lines["tracee"]):
            self.assertEqual(row["processName"], name)
            self.assertIn(row["executable"]["path"], (str(program), ""))
        for row in map(json.loads, lines["tracee-v1beta1"]):
            process = row["workload"]["process"]
            self.assertEqual(process["thread"]["name"], name)
            self.assertIn(process.get("executable"), ({"path": str(program)}, None))

    def test_burst_of_calls_loses_none_by_bpf(self) -> None:
        """Six processes with two threads each call as fast as they can, 60,000 times in all."""
        if BACK_ENDS["bpf"]["available"] != "yes":
            self.skipTest(BACK_ENDS["bpf"]["why"])
        code = """
import os, resource, threading
def call():
    for _ in range(5000): resource.getrusage(0)
for _ in range(6):
    if os.fork() == 0:
        thread = threading.Thread(target=call)
        thread.start(); call(); thread.join(); os._exit(0)
for _ in range(6): os.wait()
"""
        rows = self.trace("bpf", *python(code))
        self.assertGreaterEqual(len(rows), 60_000)
        self.assertEqual(rows[-1]["lost"], 0)

    def test_running_process_is_traced_by_bpf(self) -> None:
        if BACK_ENDS["bpf"]["available"] != "yes":
            self.skipTest(BACK_ENDS["bpf"]["why"])
        code = "import resource, time\nwhile True: resource.getrusage(0); time.sleep(0.01)"
        target = self.start(python(code))
        for words in (["--pid", str(target.pid)], ["--all"]):
            path = self.dir / f"calls{len(words)}.jsonl"
            path.write_text("")
            process = self.start([RTRACK, "trace", "-q", "-o", path, *words])
            wait_until(lambda: path.read_text().count(f'"pid":{target.pid},') > 5)
            process.terminate()
            self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
            pids = {row["pid"] for row in read_jsonl(path) if row["type"] == "call"}
            self.assertTrue(target.pid in pids and (words == ["--all"] or len(pids) == 1), pids)

    def need_ptrace(self) -> None:
        if BACK_ENDS["ptrace"]["available"] != "yes":
            self.skipTest(BACK_ENDS["ptrace"]["why"])

    def test_tracer_that_the_program_stops_is_continued(self) -> None:
        self.need_ptrace()
        code = f"{TRACER}\nos.kill(tracer, 19)\nresource.getrusage(0)\nraise SystemExit(7)"
        self.assertEqual(len(self.trace("ptrace", *python(code), code=7)), 1)

    def test_killed_rtrack_takes_tracer_and_program_with_it(self) -> None:
        self.need_ptrace()
        for is_stopped in (False, True):
            path = self.dir / f"pids-{is_stopped}"
            code = (f"{TRACER}\nopen({str(path)!r}, 'w').write(f'{{tracer}} {{os.getpid()}} ')\n"
                    "while True: resource.getrusage(0)")
            process = self.start([RTRACK, "trace", "-q", "--back-end", "ptrace", "-o", os.devnull,
                                  *python(code)])
            wait_until(lambda: path.exists() and path.read_text().endswith(" "))
            pids = [int(pid) for pid in path.read_text().split()]
            # Once there is a guard, besides supervisor and tracer.
            wait_until(lambda: len(read_proc(
                process.pid, f"task/{process.pid}/children").split()) == 3)
            if is_stopped:
                os.kill(pids[0], signal.SIGSTOP)
            process.kill()
            wait_until(lambda: not any(is_alive(pid) for pid in pids))

    @each_back_end
    def test_daemon_does_not_hold_up_the_end(self, back_end: str) -> None:
        path = self.dir / "pid"
        self.trace(back_end, "sh", "-c", f"sleep 1000 >&- 2>&- & echo $! >{path}; exit 5", code=5)
        daemon = int(path.read_text())
        self.assertTrue(is_alive(daemon))
        os.kill(daemon, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
