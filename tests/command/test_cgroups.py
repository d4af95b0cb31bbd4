# SPDX-License-Identifier: MIT
"""Tests of commands in a cgroup, against the files of the kernel: v2, v1, and both (hybrid)."""
from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import unittest
from typing import Any, Dict, List

from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, is_alive, python, read_proc, rtrack,
                            state_of, wait_until)

MIB = 1 << 20
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
CLONE_NEWNS, MNT_DETACH, MS_PRIVATE = 0x20000, 2, 1 << 18
CLONE3 = 435
NOT_ROOT = 65534
LOOP_CTL_GET_FREE, LOOP_SET_FD, LOOP_CLR_FD = 0x4C82, 0x4C00, 0x4C01

# Creates a file, and runs until another one exists, or until the test has removed the first: a test
# that fails leaves nothing behind.
READY = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
while os.path.exists(sys.argv[1]) and not os.path.exists(sys.argv[2]):
    time.sleep(0.005)
"""

# Children that no process waits for, and which are too short for a sample: only a cgroup has them.
UNKNOWN_CHILDREN = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(40):
    if os.fork() == 0:
        while time.process_time() < 0.01: pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
"""


def libc_call(name: str, *args: Any) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args) != 0:
        raise OSError(ctypes.get_errno(), name)


def hide_v2() -> None:
    """Unmount cgroup v2 in a mount namespace of this process: a system with v1 alone."""
    libc_call("unshare", CLONE_NEWNS)
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    points = {line.split()[0]: line.split()[4].encode() for line in lines}
    for line in lines:
        if " - cgroup2 " in line:
            # Of the mount that holds it. The root need not be a mount point. E.g.: in a chroot.
            libc_call("mount", None, points[line.split()[1]], None, MS_PRIVATE, None)
            libc_call("umount2", points[line.split()[0]], MNT_DETACH)


def refuse_clone3() -> None:
    """Have the kernel refuse clone3() with ENOSYS, as one before Linux 5.3 does."""
    code = b"".join(struct.pack("HBBI", *line) for line in (
        (0x20, 0, 0, 0),  # load the number of the call
        (0x15, 0, 1, CLONE3), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7fff0000)))
    program = ctypes.create_string_buffer(code)
    filters = struct.pack("HxxxxxxP", 4, ctypes.addressof(program))
    libc_call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc_call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(filters), 0, 0)


def mounts() -> Dict[str, str]:
    """Return the mount point of each hierarchy. The key is "v2", or a controller."""
    found = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
        if kind == "cgroup2":
            found["v2"] = fields[4]
        if kind == "cgroup":
            found.update({option: fields[4] for option in options})
    return found


def places_of(pid: int) -> Dict[str, pathlib.Path]:
    """Return the directory of a process in each hierarchy. Assumes that roots are mounted."""
    found = {}
    for line in read_proc(pid, "cgroup").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(",") if names else ["v2"]:
            if name in mounts():
                found[name] = pathlib.Path(mounts()[name] + path)
    return found


def try_remove(path: pathlib.Path) -> bool:
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def left_over(pid: int) -> List[pathlib.Path]:
    """Return the cgroups that an rtrack process has made. Others may be removed meanwhile, which
    os.walk() does not mind."""
    return [pathlib.Path(path, name) for top in set(mounts().values())
            for path, names, _ in os.walk(top) for name in names
            if name.startswith(f"rtrack-{pid}-")]


class Group(Case):
    """A command in a cgroup."""

    OPTIONS: List[str] = []

    def setUp(self) -> None:
        super().setUp()
        self.kwargs: Dict[str, Any] = {}
        if rtrack("run", "-q", "--accounting", "cgroup", "true").returncode != 0:
            self.skipTest("cannot create a cgroup here")
        self.ready, self.end_mark = self.dir / "ready", self.dir / "end"
        self.path = self.dir / "summary.json"

    def use_v1_alone(self) -> None:
        if "cpuacct" not in mounts() or os.geteuid() != 0:
            self.skipTest("needs root, and cpuacct of v1")
        self.kwargs = {"preexec_fn": hide_v2}
        done = rtrack("run", "-q", "--accounting", "cgroup", "true", **self.kwargs)
        if done.returncode != 0:
            self.skipTest("cannot create a cgroup in v1: " + done.stderr.strip())

    def start_group(self, code: str, *words: Any) -> "subprocess.Popen[Any]":
        """Start a command that runs until release(), and wait until it is ready."""
        process = self.begin(code, *words)
        wait_until(lambda: self.ready.exists() or process.poll() is not None)
        self.assertIsNone(process.poll(), "the command runs")
        self.find_program(process)
        return process

    def begin(self, code: str, *words: Any) -> "subprocess.Popen[Any]":
        self.ready.unlink(missing_ok=True)
        return self.start([
            RTRACK, "run", "--accounting", "cgroup", "--summary", "json", "--summary-file",
            self.path, *words, *python(code + READY), self.ready, self.end_mark], **self.kwargs)

    def find_program(self, process: "subprocess.Popen[Any]") -> None:
        # The first child is the oldest. Orphans that were adopted come later.
        self.program = self.child_of(process.pid)
        if "rtrack-supervisor" in read_proc(self.program, "cmdline"):
            self.program = self.child_of(self.program)
        self.supervisor = int(read_proc(self.program, "stat").rpartition(")")[2].split()[1])

    @staticmethod
    def child_of(pid: int) -> int:
        return int(read_proc(pid, f"task/{pid}/children").split()[0])

    def own_places(self) -> Dict[str, pathlib.Path]:
        return {name: path for name, path in places_of(self.program).items()
                if path.name.startswith("rtrack-")}

    def finish(self, process: "subprocess.Popen[Any]", code: int = 0) -> Row:
        self.end_mark.touch()
        self.assertEqual(process.wait(timeout=PATIENCE_S), code)
        self.assertEqual(left_over(process.pid), [])
        return json.loads(self.path.read_text())

    def run_group(self, code: str) -> Row:
        return self.summary("run", "--accounting", "cgroup", *python(code), **self.kwargs)


class Figures(Group):
    """The figures of the outcome are those of the kernel's files."""

    def read(self, account: str, *names: str) -> int:
        """Return the number in the first file that exists, or skip."""
        places = self.own_places()
        for name in names:
            for place in (places.get(account), places.get("v2")):
                if place and (place / name).exists():
                    return int((place / name).read_text())
        self.skipTest(f"no {account} controller for new cgroups here")

    def test_memory_peak_is_that_of_the_kernel(self) -> None:
        process = self.start_group("b = bytearray(150 << 20); del b\n")
        kernel = self.read("memory", "memory.peak", "memory.max_usage_in_bytes")
        got = self.finish(process)["cgroup"]["memory_peak_bytes"]
        self.assertGreaterEqual(got, kernel)
        self.assertLess(got, kernel + 4 * MIB)
        self.assertTrue(150 * MIB <= got <= 180 * MIB, got)

    def test_page_cache_is_in_the_peak_of_the_cgroup_but_not_of_the_tree(self) -> None:
        process = self.start_group(
            f"open({str(self.dir / 'file')!r}, 'wb').write(bytes(1 << 20) * 100)\n")
        kernel = self.read("memory", "memory.peak", "memory.max_usage_in_bytes")
        got = self.finish(process)
        self.assertGreaterEqual(got["cgroup"]["memory_peak_bytes"], kernel)
        self.assertGreaterEqual(kernel, 180 * MIB)
        self.assertEqual(got["peak_tree_kind"], "footprint")
        self.assertLess(got["peak_tree_bytes"], 150 * MIB)

    def test_tasks_peak_is_that_of_the_kernel(self) -> None:
        process = self.start_group(
            "import threading\nt = [threading.Thread(target=threading.Event().wait, args=(0.1,))\n"
            "     for i in range(7)]\n[x.start() for x in t]; [x.join() for x in t]\n")
        kernel = self.read("pids", "pids.peak")
        self.assertEqual(self.finish(process)["cgroup"]["tasks_peak"], kernel)
        self.assertGreaterEqual(kernel, 2)

    def test_cpu_of_unknown_children_is_complete(self) -> None:
        got = self.run_group(UNKNOWN_CHILDREN)
        self.assertTrue(got["accounting"]["complete"], got["accounting"])
        self.assertGreaterEqual(got["cpu_seconds"], 0.4)

    def test_cpu_in_v1_alone_is_that_of_the_kernel(self) -> None:
        self.use_v1_alone()
        process = self.start_group(UNKNOWN_CHILDREN)
        self.assertNotIn("v2", self.own_places())
        kernel_s = self.read("cpuacct", "cpuacct.usage") / 1e9
        got = self.finish(process)
        self.assertTrue(got["accounting"]["complete"], got["accounting"])
        self.assertEqual(got["accounting"]["level"], "cgroup")
        self.assertGreaterEqual(kernel_s, 0.4)
        self.assertGreaterEqual(got["cpu_seconds"], kernel_s)

    def test_cpu_in_v1_alone_is_that_of_wait4(self) -> None:
        """All children are waited for: so rtrack and all below it used a bit more."""
        self.use_v1_alone()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        got = self.run_group("import time\nwhile time.process_time() < 0.5: pass")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertTrue(0.5 <= got["cpu_seconds"] <= used, (got["cpu_seconds"], used))

    def test_upper_bound_in_v1_alone_comes_from_cpuacct(self) -> None:
        self.use_v1_alone()
        got = self.summary("run", "--accounting", "wait", "true", **self.kwargs)
        self.assertIsNotNone(got["accounting"]["cpu_seconds_high"])
        self.assertGreaterEqual(got["accounting"]["cpu_seconds_high"], got["cpu_seconds"])


class Placement(Group):
    def test_program_is_in_v1_and_v2_from_its_start(self) -> None:
        """It sees one name in all hierarchies, and no other process of rtrack is there."""
        process = self.start_group("")
        places = self.own_places()
        self.assertEqual(len({path.name for path in places.values()}), 1)
        for path in places.values():
            self.assertEqual((path / "cgroup.procs").read_text().split(), [str(self.program)])
        self.finish(process)

    def test_program_is_placed_without_clone3(self) -> None:
        self.kwargs = {"preexec_fn": refuse_clone3}
        process = self.start_group(UNKNOWN_CHILDREN)
        places = self.own_places()
        self.assertTrue(places)
        got = self.finish(process)
        self.assertTrue(got["accounting"]["complete"], got["accounting"])
        self.assertGreaterEqual(got["cpu_seconds"], 0.4)

    def test_user_that_may_make_but_not_enter_v2_gets_cpuacct(self) -> None:
        self.use_v1_alone()
        places = [pathlib.Path(mounts()[name]) / f"rtrack-test-{os.getpid()}"
                  for name in ("v2", "cpuacct")]
        for place in places:
            place.mkdir()
            self.addCleanup(lambda place=place: wait_until(lambda: try_remove(place)))
            os.chown(place, NOT_ROOT, NOT_ROOT)

        def join() -> None:
            for place in places:
                (place / "cgroup.procs").write_text("0")
            os.setgroups([])
            os.setresgid(NOT_ROOT, NOT_ROOT, NOT_ROOT)
            os.setresuid(NOT_ROOT, NOT_ROOT, NOT_ROOT)

        try:
            done = rtrack("info", "--json", preexec_fn=join)
        except PermissionError:
            self.skipTest("another user cannot run rtrack here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["command"]["cgroup_hierarchies"], ["cpuacct"])

    def test_program_that_cannot_be_executed_leaves_nothing(self) -> None:
        process = self.start([RTRACK, "run", "-q", "--accounting", "cgroup", "/nonexistent"],
                             stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 127)
        self.assertEqual(left_over(process.pid), [])


class Leaving(Group):
    """The program moves itself out of a hierarchy. The figures of that one are lower bounds."""

    # The library looks at running members five times a second: a row of 0.3 s has a look.
    SEE_ROWS = """
import os, time
def see_rows(count):
    def lines():
        return open({series!r}, "rb").read().count(b"\\n") if os.path.exists({series!r}) else 0
    wanted, ends = lines() + count + 1, time.monotonic() + {patience}
    while lines() < wanted and time.monotonic() < ends:
        time.sleep(0.005)
"""

    # Moves to the parent, and runs for longer than the library takes to look.
    MOVE = """
for path in {paths!r}:
    with open(path + "/cgroup.procs", "w") as file:
        file.write("0")
see_rows(2)
"""

    # The same by a child that no process waits for.
    MOVE_UNWAITED = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    for path in {paths!r}:
        with open(path + "/cgroup.procs", "w") as file:
            file.write("0")
    see_rows(2)
    os._exit(0)
see_rows(4)
"""

    def leave(self, *names: str, program: str = MOVE) -> Row:
        missing = [name for name in names if name not in places_of(os.getpid())]
        if missing:
            self.skipTest(f"needs a hierarchy of {missing}")
        paths = [str(places_of(os.getpid())[name]) for name in names]
        return self.finish(self.start_group(self.moving(program, paths), *self.in_rows()))

    def moving(self, program: str, paths: List[str]) -> str:
        return self.SEE_ROWS.format(series=str(self.dir / "series"), patience=PATIENCE_S) + (
            program.format(paths=paths))

    def in_rows(self) -> List[str]:
        return ["-q", "-i", "0.3", "-o", str(self.dir / "series")]

    # A child that no process waits for before the account is set back, and one after that.
    RESET = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def work():
    if os.fork() == 0:
        while time.process_time() < 0.3: pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
[path] = {paths!r}
[name] = [l.split(":")[2].strip() for l in open("/proc/self/cgroup") if "cpuacct" in l]
work()
see_rows(2)
open(path + name + "/cpuacct.usage", "w").write("0")
work()
see_rows(2)
"""

    def test_account_that_is_set_back_goes_on_as_a_lower_bound(self) -> None:
        self.use_v1_alone()
        process = self.start_group(self.moving(self.RESET, [mounts()["cpuacct"]]),
                                   *self.in_rows())
        got = self.finish(process)
        self.assertGreaterEqual(got["cpu_seconds"], 2 * 0.3)
        self.assertIn("cpu", got["partial"])
        self.assertIn("account_reset", got["accounting"]["reasons"])

    def test_program_that_leaves_memory_of_v1_has_partial_memory_alone(self) -> None:
        got = self.leave("memory")
        self.assertIn("cgroup_memory", got["partial"])
        self.assertNotIn("cgroup_tasks", got["partial"])
        self.assertTrue(got["accounting"]["complete"], got["accounting"])

    def test_program_that_leaves_v2_alone_has_whole_memory(self) -> None:
        got = self.leave("v2")
        self.assertNotIn("cgroup_memory", got["partial"])
        self.assertFalse(got["accounting"]["complete"] and
                         got["accounting"]["cpu_seconds_high"] == got["cpu_seconds"])

    def test_unwaited_process_that_leaves_cpuacct_of_v1_is_not_covered(self) -> None:
        self.use_v1_alone()
        got = self.leave("cpuacct", program=self.MOVE_UNWAITED)
        self.assertFalse(got["accounting"]["complete"], got["accounting"])
        self.assertIsNone(got["accounting"]["cpu_seconds_high"])

    def test_upper_bound_is_unknown_once_a_process_left_the_enclosing_cpuacct(self) -> None:
        self.use_v1_alone()
        outer = pathlib.Path(mounts()["cpuacct"]) / f"rtrack-test-{os.getpid()}"
        outer.mkdir()
        self.addCleanup(lambda: wait_until(lambda: try_remove(outer)))

        def join() -> None:
            (outer / "tasks").write_text("0")
            hide_v2()

        for paths, is_known in (([], True), ([mounts()["cpuacct"]], False)):
            got = self.summary("run", "--accounting", "wait", *self.in_rows(),
                               *python(self.moving(self.MOVE_UNWAITED, paths)), preexec_fn=join)
            self.assertEqual(got["accounting"]["cpu_seconds_high"] is not None, is_known)


class Removal(Group):
    def test_nested_cgroups_of_the_program_are_removed(self) -> None:
        process = self.start_group("""
import os
for line in open("/proc/self/cgroup"):
    number, names, path = line.rstrip("\\n").split(":", 2)
    for top in [l.split()[4] for l in open("/proc/self/mountinfo") if " - cgroup" in l and
                (l.split()[-1].split(",")[-1] in names.split(",") if names else "cgroup2" in l)]:
        if "/rtrack-" in path:
            os.makedirs(top + path + "/nested/deep")
""")
        nested = [path / "nested/deep" for path in self.own_places().values()]
        self.assertTrue(nested and all(path.exists() for path in nested), nested)
        self.finish(process)

    def test_process_left_running_keeps_the_cgroup_until_it_ends(self) -> None:
        mark = self.dir / "daemon"
        daemon = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    for fd in (0, 1, 2): os.close(fd)
    while not os.path.exists({str(mark)!r}) and os.path.exists({str(self.dir)!r}):
        time.sleep(0.02)
    os._exit(0)
"""
        process = self.start_group(daemon)
        places = list(self.own_places().values())
        self.addCleanup(mark.touch)
        self.end_mark.touch()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        got = json.loads(self.path.read_text())
        self.assertEqual(got["left_running"], 1)
        self.assertTrue(all(path.exists() for path in places))
        mark.touch()
        wait_until(lambda: not left_over(process.pid))

    def test_cgroup_is_removed_by_the_library_if_the_supervisor_is_killed(self) -> None:
        self.set_supervisor("separate")
        process = self.start_group("")
        self.assertTrue(left_over(process.pid))
        os.kill(self.supervisor, signal.SIGKILL)
        wait_until(lambda: state_of(self.supervisor) in ("", "Z"))
        self.end_mark.touch()
        process.wait(timeout=PATIENCE_S)
        self.assertEqual(left_over(process.pid), [])


class Killing(Group):
    """--timeout kills all in v1, too, where there is no cgroup.kill."""

    ORPHANS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for i in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while os.path.isdir(os.path.dirname(sys.argv[1])):
                time.sleep(1)
        os._exit(0)
    os.wait()
"""

    def start_killed(self, code: str) -> "subprocess.Popen[Any]":
        process = self.start_before_timeout(
            lambda *words: self.begin(code, *words), self.ready.exists)
        self.find_program(process)
        return process

    def test_timeout_in_v1_alone_kills_orphans_that_ignore_sigterm(self) -> None:
        self.use_v1_alone()
        process = self.start_killed(self.ORPHANS)
        place = self.own_places()["cpuacct"]
        pids = [int(pid) for pid in (place / "cgroup.procs").read_text().split()]
        self.addCleanup(self.kill_left, pids)
        self.assertEqual(len(pids), 21)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 124)
        wait_until(lambda: not any(is_alive(pid) and state_of(pid) != "Z" for pid in pids))
        wait_until(lambda: not left_over(process.pid))

    def kill_left(self, pids: List[int]) -> None:
        """Kill processes of this test that a failure has left."""
        for pid in pids:
            if str(self.dir) in read_proc(pid, "cmdline"):
                os.kill(pid, signal.SIGKILL)

    def test_timeout_kills_orphans_that_have_left_every_hierarchy(self) -> None:
        paths = [str(path) for path in places_of(os.getpid()).values()]
        move = f"""
for path in {paths!r}:
    try:
        with open(path + "/cgroup.procs", "w") as file:
            file.write("0")
    except OSError:
        pass
"""
        pids = self.dir / "pids"
        anew = f"open({str(pids)!r}, 'w').close()\n"
        note = f"open({str(pids)!r}, 'a').write(str(os.getpid()) + chr(10))\n"
        indent = 12 * " "
        code = self.ORPHANS.replace(indent + "while", indent + note + indent + "while")
        process = self.start_killed(anew + move + code)
        wait_until(lambda: pids.read_text().count("\n") == 20)
        orphans = [int(pid) for pid in pids.read_text().split()]
        self.addCleanup(self.kill_left, [*orphans, self.program])
        self.assertEqual(self.own_places(), {})
        self.assertEqual(process.wait(timeout=PATIENCE_S), 124)
        wait_until(lambda: not any(is_alive(pid) and state_of(pid) != "Z" for pid in orphans))


class Storage(Group):
    """Direct writes to a loop device, for which blkio counts: it has a limit in another cgroup."""

    def setUp(self) -> None:
        super().setUp()
        if "blkio" not in mounts() or os.geteuid() != 0:
            self.skipTest("needs root, and blkio of v1")
        try:
            self.make_device()
        except OSError as err:
            self.skipTest(f"no loop device here: {err}")
        self.limit_device()

    def make_device(self) -> None:
        """Bind a file to a loop device, as losetup(8) does."""
        image = open(self.dir / "image", "w+b")
        self.addCleanup(image.close)
        image.truncate(64 * MIB)
        with open("/dev/loop-control", "rb") as control:
            self.device = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
        loop = open(self.device, "r+b", buffering=0)
        self.addCleanup(loop.close)
        fcntl.ioctl(loop, LOOP_SET_FD, image.fileno())
        self.addCleanup(fcntl.ioctl, loop, LOOP_CLR_FD)

    def limit_device(self) -> None:
        limited = pathlib.Path(mounts()["blkio"]) / f"rtrack-test-{os.getpid()}"
        limited.mkdir()
        self.addCleanup(limited.rmdir)
        number = os.stat(self.device).st_rdev
        (limited / "blkio.throttle.write_bps_device").write_text(
            f"{os.major(number)}:{os.minor(number)} {1 << 40}\n")

    def test_direct_writes_are_counted_as_a_lower_bound(self) -> None:
        got = self.summary("run", "--accounting", "cgroup", "dd", "if=/dev/zero",
                           f"of={self.device}", "bs=1M", "count=20", "oflag=direct",
                           "status=none")
        if got["cgroup"]["write_bytes"] is None:
            self.skipTest("this kernel does not count for the device")
        self.assertEqual(got["cgroup"]["write_bytes"], 20 * MIB)
        self.assertIn("cgroup_io", got["partial"])

    def test_direct_reads_are_counted(self) -> None:
        got = self.summary("run", "--accounting", "cgroup", "dd", f"if={self.device}",
                           "of=/dev/null", "bs=1M", "count=10", "iflag=direct", "status=none")
        if got["cgroup"]["read_bytes"] is None:
            self.skipTest("this kernel does not count for the device")
        self.assertEqual(got["cgroup"]["read_bytes"], 10 * MIB)


if __name__ == "__main__":
    unittest.main(verbosity=2)
