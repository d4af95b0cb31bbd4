# SPDX-License-Identifier: MIT
"""Tests of rtrack attach by what people know: a cgroup, a unit, a container, a name."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest
from typing import Any, Dict, List, Optional

from harness import SOURCE
from rtrack_command import (
    PATIENCE_S, PYTHON, RTRACK, Case, Row, python, read_csv, read_jsonl, read_proc, rtrack,
    voluntary_switches, wait_until)

try:
    import jsonschema
except ImportError:
    jsonschema = None

ID = "0123456789abcdef" * 4
# Uses CPU time and stays.
BUSY = """
import sys, time
while time.process_time() < 0.3: pass
print(flush=True)
sys.stdin.read()
"""
# A line begins another process, which is in its cgroup from the start.
STARTER = """
import os, sys
print(flush=True)
sys.stdin.readline()
pid = os.fork()
if pid:
    print(pid, flush=True)
    os.waitpid(pid, 0)
    sys.exit()
"""


# Runs a command where the v2 hierarchy is mounted at $1 alone.
ONE_MOUNT = """
tac /proc/self/mountinfo | while read -r id parent device root point more; do
  case $more in
    *' - cgroup '*|*' - cgroup2 '*) umount "$point" || echo rtrack-test: "$point" >&2 ;;
  esac
done
mount -t cgroup2 none "$1" || echo rtrack-test: mount >&2
shift
exec "$@"
"""


def v2_mount() -> Optional[pathlib.Path]:
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        if " - cgroup2 " in line and words[3] == "/":
            return pathlib.Path(words[4])
    return None


def read_csv_of(case: Case, *words: str) -> Row:
    """Return the last row of a short attach with these words."""
    path = case.dir / "row.csv"
    done = rtrack("attach", "-q", "--count", "2", "-i", "0.05", "-o", path, *words)
    case.assertEqual((done.returncode, done.stderr), (0, ""))
    return read_csv(path)[-1]


class Groups(Case):
    def make(self, *names: str) -> pathlib.Path:
        """Make a cgroup of a fresh name, and others below it. Returns its path below the mount."""
        mount = v2_mount()
        if not mount:
            raise unittest.SkipTest("cgroup v2 is not mounted")
        self.mount = mount
        top = pathlib.Path(f"/rtrack-named-{os.getpid()}-{time.monotonic_ns()}")
        for path in (top, *(top / name for name in names)):
            try:
                self.directory(path).mkdir()
            except OSError as error:
                raise unittest.SkipTest(f"cannot make a cgroup: {error}") from None
            self.addCleanup(self.remove, self.directory(path))
        return top

    def directory(self, path: pathlib.Path) -> pathlib.Path:
        return self.mount / str(path)[1:]

    @staticmethod
    def remove(directory: pathlib.Path) -> None:
        """Wait for the last process of a cgroup, which may take a moment to leave it."""
        def is_removed() -> bool:
            try:
                directory.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return False
            return True
        wait_until(is_removed)

    def run_in(self, path: pathlib.Path, code: str = BUSY) -> "subprocess.Popen[Any]":
        """Start a process in a cgroup, and wait for its first line."""
        procs = self.directory(path) / "cgroup.procs"
        process = self.start(python(code), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, preexec_fn=lambda: procs.write_text("0"))
        process.stdout.readline()
        return process

    def memory_directory(self, path: pathlib.Path) -> pathlib.Path:
        """Return the directory of a cgroup that has the files of its memory. Makes it in v1."""
        if (self.directory(path) / "memory.current").exists():
            return self.directory(path)
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            if " - cgroup " in line and "memory" in line.rpartition(" ")[2].split(","):
                directory = pathlib.Path(line.split()[4]) / str(path)[1:]
                directory.mkdir()
                self.addCleanup(self.remove, directory)
                return directory
        raise unittest.SkipTest("no hierarchy has the controller memory")

    def rows(self, form: str, *words: str) -> List[Row]:
        """Return the rows of a short attach, which must fit their schema."""
        path = self.dir / f"rows.{form}"
        done = rtrack("attach", "-q", "--count", "2", "-i", "0.05", "-o", path, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = read_csv(path) if form == "csv" else read_jsonl(path)
        if jsonschema:
            name = f"docs/schema/series-{form}.schema.json"
            validator = jsonschema.Draft7Validator(json.loads((SOURCE / name).read_text()))
            for row in found:
                validator.validate(row)
        return found

    def target(self, *words: str) -> Dict[str, Any]:
        """The only target of a short attach."""
        done = rtrack("attach", "--summary", "json", "-o", "/dev/null", "--count", "1",
                      "-i", "0.01", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stderr)
        return dict(found)

    def used_seconds(self, path: pathlib.Path) -> float:
        text = (self.directory(path) / "cpu.stat").read_text()
        return int(text.split()[1]) / 1e6

    def test_cgroup_has_the_cpu_time_of_its_account(self) -> None:
        top = self.make("below")
        self.run_in(top / "below")
        before = self.used_seconds(top)
        target = self.target("--cgroup", str(top))
        self.assertEqual(target["cgroup_path"], str(top))
        self.assertGreaterEqual(target["cpu_seconds_before"] + 1e-6, before)
        self.assertLessEqual(target["cpu_seconds_before"], self.used_seconds(top) + 1e-6)
        self.assertEqual(target["accounting"]["level"], "cgroup")
        self.assertTrue(target["accounting"]["complete"])
        self.assertEqual(target["left_running"], 1)

    def test_pss_of_a_cgroup_is_read_as_asked(self) -> None:
        top = self.make()
        self.run_in(top)
        for how, sources in (("exact", ("read",)), ("off", ("estimated",))):
            done = rtrack("attach", "-q", "--count", "1", "-i", "0.01", "--pss", how, "-f", "jsonl",
                          "--cgroup", top)
            self.assertIn(json.loads(done.stdout)["pss_source"], sources, how)

    def test_words_of_a_cgroup_agree(self) -> None:
        """Its processes are a lower bound, so that what is complete is the CPU time alone."""
        top = self.make()
        self.run_in(top)
        done = rtrack("attach", "-o", "/dev/null", "--count", "1", "-i", "0.01", "--cgroup", top)
        self.assertRegex(done.stderr, r"(?m)^  processes +at least 1 ")
        self.assertRegex(done.stderr, r"(?m)^  accounting +cgroup, complete for CPU time$")
        self.assertNotRegex(done.stderr, "(about|at least) 0 B")

    def test_empty_cgroup_has_no_processes(self) -> None:
        done = rtrack("attach", "-o", "/dev/null", "--count", "1", "-i", "0.01", "--cgroup",
                      self.make())
        self.assertRegex(done.stderr, r"(?m)^  processes +0 +seen$")

    def test_path_of_a_cgroup_is_code_in_markdown(self) -> None:
        top = self.make("a_b_c*")
        done = rtrack("attach", "--summary", "markdown", "-o", "/dev/null", "--count", "1", "-i",
                      "0.01", "--cgroup", str(top / "a_b_c*"))
        self.assertIn(f"**rtrack**: cgroup `{top}/a_b_c*`, still running", done.stderr)

    def test_series_has_the_account_of_the_kernel(self) -> None:
        top = self.make()
        memory = self.memory_directory(top)
        limit = memory / ("memory.max" if memory == self.directory(top) else
                          "memory.limit_in_bytes")
        limit.write_text(str(200 << 20))
        process = self.start(python("import sys\nx = b'x' * (30 << 20)\nprint(flush=True)\n"
                                    "sys.stdin.read()"),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             preexec_fn=lambda: [(d / "cgroup.procs").write_text("0")
                                                 for d in {memory, self.directory(top)}])
        process.stdout.readline()
        for form in ("csv", "jsonl"):
            row = self.rows(form, "--cgroup", str(top))[-1]
            usage = memory / ("memory.current" if (memory / "memory.current").exists() else
                              "memory.usage_in_bytes")
            self.assertAlmostEqual(row["cgroup_memory_bytes"], int(usage.read_text()),
                                   delta=4 << 20)
            self.assertGreater(row["cgroup_memory_anon_bytes"], 30 << 20)
            self.assertGreaterEqual(row["cgroup_memory_bytes"], row["cgroup_memory_anon_bytes"])
            self.assertEqual(row["cgroup_memory_limit_bytes"], 200 << 20)
            self.assertIsNone(row["cgroup_memory_high_bytes"], "there is no such limit")
            self.assertEqual(row["d_cgroup_oom_kills"], 0)
            self.assertEqual(row["cgroup"], str(top))
            self.assertEqual(row["processes"], 1)

    def test_rows_of_a_cgroup_have_no_pid(self) -> None:
        top = self.make()
        group = ["--cgroup", str(top)]
        self.assertNotIn("pid", self.rows("csv", *group)[0])
        self.assertIsNone(self.rows("jsonl", *group)[0]["pid"])

    def test_what_a_process_used_before_it_was_moved_here_is_unknown(self) -> None:
        top = self.make()
        outside = self.start(python(BUSY), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        outside.stdout.readline()
        starter = self.run_in(top, STARTER + BUSY)
        path = self.dir / "rows.csv"
        follower = self.start([RTRACK, "attach", "--per-process", "-q", "-i", "0.05", "--cgroup",
                               str(top), "-o", path])
        wait_until(lambda: path.exists() and path.read_text())
        time.sleep(0.1)  # it began a tick of the clock before a sample, at least
        (self.directory(top) / "cgroup.procs").write_text(str(outside.pid))
        starter.stdin.write(b"\n")
        starter.stdin.flush()
        inside = int(starter.stdout.readline())
        starter.stdout.readline()
        wait_until(lambda: len([row for row in read_csv(path) if row["pid"] == inside]) > 1)
        follower.send_signal(signal.SIGINT)
        follower.wait(timeout=PATIENCE_S)
        for pid, parent, is_known in ((outside.pid, os.getpid(), False),
                                      (inside, starter.pid, True)):
            rows = [row for row in read_csv(path) if row["pid"] == pid]
            self.assertEqual(rows[0]["d_cpu_user_seconds"] is not None, is_known)
            self.assertIsNotNone(rows[1]["d_cpu_user_seconds"])
            self.assertEqual((rows[0]["cgroup"], rows[0]["ppid"]), (str(top), parent))
            if not is_known:
                self.assertGreaterEqual(rows[0]["cpu_seconds"], 0.3)

    def test_io_of_members_is_an_estimate(self) -> None:
        top = self.make()
        self.run_in(top)
        for row in self.rows("csv", "--cgroup", str(top)):
            self.assertEqual(row["d_read_bytes"], 0)
            self.assertLessEqual({"d_read_bytes", "d_write_bytes"}, set(row["estimated"].split()))

    def test_fields_of_cgroups_are_of_cgroups_alone(self) -> None:
        top = self.make()
        rows = read_csv_of(self, "--fields", "cgroup,cgroup_tasks_limit", "--cgroup", str(top))
        self.assertEqual(rows["cgroup"], str(top))
        done = rtrack("attach", "-o", "-", "--fields", "cgroup_memory_bytes", str(os.getpid()))
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown field 'cgroup_memory_bytes'", done.stderr)

    def test_attach_ends_when_the_cgroup_is_removed(self) -> None:
        top = self.make()
        rows = self.dir / "rows.jsonl"
        process = self.start([RTRACK, "attach", "--summary", "json", "--cgroup", str(top),
                              "-o", rows, "-i", "0.05"], stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 1)
        self.remove(self.directory(top))
        _, output = process.communicate(timeout=PATIENCE_S)
        target = json.loads(output)
        self.assertTrue(target["ended"])
        self.assertNotIn("cpu", target["valid"])

    def test_time_of_the_last_process_is_known_if_its_cgroup_is_removed_at_once(self) -> None:
        """A manager of containers removes the cgroup as soon as it is empty."""
        top, rows = self.make(), self.dir / "rows.csv"
        worker = self.run_in(top, BUSY + "end = time.process_time() + 0.2\n"
                                         "while time.process_time() < end: pass")
        # A template names no processes, so that nothing samples the members in between.
        process = self.start([RTRACK, "attach", "--cgroup", str(top), "-o", rows, "--template",
                              "{cpu_seconds} {ended} {partial}", "-i", str(PATIENCE_S)],
                             stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 0)
        before = self.used_seconds(top)
        worker.stdin.close()
        worker.wait()
        events = self.directory(top) / "cgroup.events"
        wait_until(lambda: "populated 0" in events.read_text())
        # It waits for events and polls for peaks: after two waits it has seen the event.
        waits = voluntary_switches(process.pid)
        wait_until(lambda: voluntary_switches(process.pid) >= waits + 3)
        used = self.used_seconds(top) - before
        self.remove(self.directory(top))
        words = process.communicate(timeout=PATIENCE_S / 2)[1].decode().split()
        self.assertEqual(words[1], "true")
        self.assertIn("cpu", words[2].split(","))
        self.assertGreaterEqual(float(words[0]), 0.2)
        self.assertGreaterEqual(float(words[0]) + 1e-6, used)

    def test_cgroup_without_an_account_has_used_what_its_processes_have(self) -> None:
        self.make()
        name = pathlib.Path(f"/rtrack-memory-{os.getpid()}-{time.monotonic_ns()}")
        procs = self.memory_directory(name) / "cgroup.procs"
        rows = self.dir / "rows.csv"
        worker = self.start(
            python(BUSY + "end = time.process_time() + 0.3\n"
                          "while time.process_time() < end: pass\n"
                          "print(flush=True)\nimport signal; signal.pause()"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: procs.write_text("0"))
        worker.stdout.readline()
        process = self.start([RTRACK, "attach", "--cgroup", str(name), "-o", rows, "--summary",
                              "json", "-i", "0.05"], stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 1)
        worker.stdin.close()
        worker.stdout.readline()
        count = len(rows.read_text().splitlines())
        wait_until(lambda: len(rows.read_text().splitlines()) > count + 10)
        process.send_signal(signal.SIGINT)
        target = json.loads(process.communicate(timeout=PATIENCE_S)[1])
        self.assertIn("cpu", target["partial"])
        shown = sum(one["cpu_seconds"] for one in target["top_cpu"])
        self.assertGreater(shown, 0)
        self.assertAlmostEqual(target["cpu_seconds"], shown, places=4)
        self.assertAlmostEqual(target["accounting"]["cpu_seconds_low"], shown, places=4)

    def test_peaks_of_a_cgroup_that_was_empty_at_first_are_lower_bounds(self) -> None:
        top = self.make()
        rows = self.dir / "rows.csv"
        process = self.start([RTRACK, "attach", "--cgroup", str(top), "-o", rows, "--summary",
                              "json", "-i", "0.05"], stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 1)
        self.run_in(top)
        wait_until(lambda: any(row["peak_tree_bytes"] for row in read_csv(rows)[:-1]))
        process.send_signal(signal.SIGINT)
        target = json.loads(process.communicate(timeout=PATIENCE_S)[1])
        most = max(row["peak_tree_bytes"] or 0 for row in read_csv(rows))
        self.assertEqual(target["peak_tree_bytes"], most)
        self.assertGreater(target["peak_rss_bytes"], 0)
        self.assertLessEqual({"peak_footprint", "peak_rss"},
                             {*target["partial"], *target["estimated"]})

    def test_removed_cgroup_ends_long_interval_and_makes_account_incomplete(self) -> None:
        top = self.make()
        rows = self.dir / "rows.csv"
        process = self.start([RTRACK, "attach", "--cgroup", str(top), "-o", rows,
                              "-i", str(PATIENCE_S)], stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 0)
        time.sleep(0.3)
        self.remove(self.directory(top))
        _, output = process.communicate(timeout=PATIENCE_S / 2)
        said = " ".join(output.decode().split())
        self.assertIn("accounting cgroup, perhaps incomplete CPU time since the last sample is "
                      "missing: the cgroup was removed", said)

    def test_unit_is_found_with_and_without_its_suffix(self) -> None:
        name = f"rtrack-{time.monotonic_ns()}"
        top = self.make(f"{name}.service")
        for word in (name, f"{name}.service"):
            self.assertEqual(self.target("--unit", word)["cgroup_path"],
                             str(top / f"{name}.service"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount")
    @unittest.skipUnless(shutil.which("unshare"), "unshare is not installed")
    def test_mount_point_with_blanks_is_read(self) -> None:
        """mountinfo writes a space as \\040. The process of the unit bounds nothing without it."""
        name = f"rtrack-{time.monotonic_ns()}"
        process = self.run_in(self.make(f"{name}.service") / f"{name}.service")
        point = self.dir / "a b\t\\c"
        point.mkdir()
        summary = self.dir / "summary.json"
        for words in (["--unit", name], [str(process.pid)]):
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", ONE_MOUNT, "sh", point, RTRACK, "attach", "-o",
                 "/dev/null", "--count", "1", "-i", "0.01", "--summary-file", summary, *words],
                stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
            if "rtrack-test: " in done.stderr or "unshare: " in done.stderr:
                self.skipTest("cannot mount cgroup v2 anew: " + done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            target = json.loads(summary.read_text())
            self.assertIsNotNone(target["accounting"]["cpu_seconds_high"], words)

    def test_container_is_found_by_the_beginning_of_its_id(self) -> None:
        top = self.make(f"docker-{ID}.scope", f"libpod-conmon-{ID}.scope")
        self.assertEqual(self.target("--container", ID[:20])["cgroup_path"],
                         str(top / f"docker-{ID}.scope"))

    def engine(self, name: str, code: str) -> Dict[str, str]:
        """Make an engine of containers. Returns an environment that has it."""
        (self.dir / name).write_text(f"#!/bin/sh\n{code}\n")
        (self.dir / name).chmod(0o755)
        return {**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}"}

    def container(self, word: str, env: Dict[str, str]) -> str:
        """The cgroup of a short attach."""
        done = rtrack("attach", "--summary", "json", "-o", "/dev/null", "--count", "1", "-i",
                      "0.01", "--container", word, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(json.loads(done.stderr)["cgroup_path"])

    def test_container_is_found_by_its_name(self) -> None:
        """The engine that is installed knows it: docker is asked before podman."""
        top = self.make(f"docker-{ID}.scope")
        for engine in ("docker", "podman"):
            for name in ("docker", "podman"):
                code = f"exit {int(name != engine)}"
                if name == engine:
                    code = (f'[ "$*" = "container inspect --format {{{{.Id}}}} web_1" ] && '
                            f"echo {ID}")
                env = self.engine(name, code)
            self.assertEqual(self.container("web_1", env), str(top / f"docker-{ID}.scope"))

    def test_name_of_a_container_comes_before_the_beginning_of_an_id(self) -> None:
        other = "db" * 32
        top = self.make(f"docker-{ID}.scope", f"docker-{other}.scope")
        self.engine("podman", "exit 1")
        env = self.engine("docker", f'[ "$5" = db ] && echo {ID}')
        self.assertEqual(self.container("db", env), str(top / f"docker-{ID}.scope"))
        self.assertEqual(self.container("dbd", env), str(top / f"docker-{other}.scope"))
        self.assertEqual(self.container(other, env), str(top / f"docker-{other}.scope"))

    def test_engine_that_does_not_answer_is_not_waited_for(self) -> None:
        """By a signal the wait ends at once, else by a deadline."""
        self.engine("podman", "exit 1")
        env = self.engine("docker", f"echo $$ >{self.dir}/pid; exec sleep {10 * PATIENCE_S}")
        for number in (None, signal.SIGINT):
            process = self.start([RTRACK, "attach", "--container", "web_1"], env=env,
                                 stderr=subprocess.PIPE, text=True)
            wait_until(lambda: (self.dir / "pid").exists() and (self.dir / "pid").read_text())
            pid = int((self.dir / "pid").read_text())
            if number:
                process.send_signal(number)
            process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 125)
            self.assertFalse(os.path.exists(f"/proc/{pid}"))
            (self.dir / "pid").unlink()

    @staticmethod
    def watches(pid: int, inode: str) -> bool:
        try:
            return any(line.startswith("inotify ") and inode in line
                       for file in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir()
                       for line in file.read_text().splitlines())
        except FileNotFoundError:
            return False  # a descriptor was closed meanwhile

    def test_wait_watches_where_a_cgroup_may_be_made(self) -> None:
        top = self.make()
        name = f"docker-{ID}.scope"
        parent = self.directory(top)
        inode = f"ino:{parent.stat().st_ino:x} "
        for words in (["--cgroup", f"{top}/{name}"], ["--unit", name], ["--container", ID]):
            process = self.start([RTRACK, "attach", "--wait", "-q", "-o", "/dev/null",
                                  "--count", "1", "-i", "0.01", *words])
            wait_until(lambda: self.watches(process.pid, inode))
            (parent / name).mkdir()
            self.addCleanup(self.remove, parent / name)
            self.assertEqual(process.wait(timeout=PATIENCE_S), 0, words)
            self.remove(parent / name)

    def test_several_matches_are_listed(self) -> None:
        other = ID[1:] + "f"
        top = self.make(f"docker-{ID}.scope", ID, other)
        done = rtrack("attach", "--container", ID[:20])
        self.assertEqual(done.returncode, 125)
        for name in (f"docker-{ID}.scope", f"{top}/{ID}"):
            self.assertIn(name, done.stderr)
        self.assertNotIn(other, done.stderr)


class Names(Case):
    @staticmethod
    def has_pidfd(pid: int) -> bool:
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                if "pidfd" in os.readlink(link):
                    return True
            except FileNotFoundError:
                pass  # it was closed meanwhile
        return False

    @staticmethod
    def catches(pid: int, number: int) -> bool:
        caught = re.search(r"^SigCgt:\s*(\w+)", read_proc(pid, "status"), re.MULTILINE)
        return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)

    def test_process_is_found_by_its_name(self) -> None:
        name = f"rt{os.getpid()}"
        program = self.dir / name
        program.symlink_to("/bin/cat")
        process = self.start([program], stdin=subprocess.PIPE)
        wait_until(lambda: name in pathlib.Path(f"/proc/{process.pid}/comm").read_text())
        done = rtrack("attach", "--summary", "json", "-o", "/dev/null", "--count", "1",
                      "-i", "0.01", "--name", f"{name[:-1]}[0-9]")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stderr)["pid"], process.pid)
        self.start([program], stdin=subprocess.PIPE)
        wait_until(lambda: rtrack("attach", "--name", name, "--count", "1", "-i", "0.01",
                                  "-q").returncode == 125)
        done = rtrack("attach", "--name", name)
        self.assertIn(f"process '{name}' has 2 matches: ", done.stderr)
        self.assertIn(f"{process.pid} ({program})", done.stderr)

    def test_name_that_is_missing_is_explained(self) -> None:
        name, argument = f"rt{os.getpid()}", f"ra{os.getpid()}.py"
        (self.dir / name).symlink_to("/bin/sleep")
        first = self.start([self.dir / name, "1000"])
        second = self.start([PYTHON, "-c", "import sys; sys.stdin.read()", argument],
                            stdin=subprocess.PIPE)
        for process in (first, second):  # between fork and exec it has the name of the test
            wait_until(lambda: process.args[-1] in read_proc(process.pid, "cmdline"))
        for word, process in ((name[:-1], first), (argument[1:], second)):
            done = rtrack("attach", "--name", word)
            self.assertEqual(done.returncode, 125)
            lines = done.stderr.splitlines()
            self.assertEqual(lines[0], f"rtrack: there is no process '{word}'")
            self.assertIn("match the whole name in /proc/PID/comm", lines[1])
            self.assertRegex(lines[2], f"^rtrack: --full finds '{word}' in the command line of "
                                       f"{process.pid} \\(.+\\)$")

    def test_name_of_script_is_its_own_if_it_was_executed(self) -> None:
        """What the explanation says of scripts: the kernel has the name of the script."""
        script = self.dir / f"rs{os.getpid()}.py"
        script.write_text(f"#!{PYTHON}\nimport sys; sys.stdin.read()\n")
        script.chmod(0o755)
        self.start([script], stdin=subprocess.PIPE)
        words = ["attach", "--count", "1", "-i", "0.01", "-q", "-o", "/dev/null", "--name"]
        wait_until(lambda: rtrack(*words, script.name).returncode == 0)
        self.start([PYTHON, script.with_name(script.name)], stdin=subprocess.PIPE)
        self.assertEqual(rtrack(*words, script.name).returncode, 0)

    def test_wait_follows_a_process_that_comes_later(self) -> None:
        name = f"rw{os.getpid()}"
        program = self.dir / name
        rtrack_process = self.start([RTRACK, "attach", "--summary", "json", "-o", "/dev/null",
                                     "--wait", "--name", name], stderr=subprocess.PIPE)
        program.symlink_to("/bin/cat")
        process = self.start([program], stdin=subprocess.PIPE)
        # It has attached once its row is due: until then it only looks for names.
        wait_until(lambda: self.has_pidfd(rtrack_process.pid))
        process.stdin.close()
        _, output = rtrack_process.communicate(timeout=PATIENCE_S)
        self.assertEqual(json.loads(output)["pid"], process.pid)

    def test_outputs_are_refused_before_the_wait(self) -> None:
        for words, code in ((["-o", self.dir / "no/file"], 125),
                            (["--summary-file", self.dir / "no/file"], 125),
                            (["-o", self.dir / "x", "--summary-file", self.dir / "x"], 2)):
            done = rtrack("attach", "--wait", "--name", "no such name", *words)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_wait_that_is_interrupted_leaves_no_file(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            rows = self.dir / "rows"
            process = self.start([RTRACK, "attach", "--wait", "--name", "no such name", "-o", rows],
                                 stderr=subprocess.PIPE, text=True)
            wait_until(lambda: self.catches(process.pid, number))
            self.assertTrue(rows.exists())
            process.send_signal(number)
            _, output = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 125)
            self.assertIn("no process 'no such name' has appeared", output)
            self.assertFalse(rows.exists())

    def test_wrong_words_are_refused(self) -> None:
        for words, code, text in (
                (["--name", "["], 2, "invalid name"),
                (["--name", "no such name"], 125, "no process 'no such name'"),
                (["--name", "no such name", "--wait=0.1"], 124, "has appeared"),
                (["--name", "no such name", "--wait=soon"], 2, "invalid wait 'soon': a number"),
                (["--timeout", "1", "1"], 2, "--timeout needs --wait"),
                (["--container", "x/z"], 2, "an id or a name has letters"),
                (["--container", "no-such"], 125, "known to docker and podman"),
                (["--full", "1"], 2, "--full needs --name"),
                (["--all", "1"], 2, "--all needs --name"),
                (["--container", "f" * 63], 125, "no container"),
                (["--unit", "no-such.unit"], 125, "no unit"),
                (["--cgroup", "/no/such"], 125, "there is no cgroup '/no/such'"),
                (["--cgroup", "relative"], 125, "below the mounts"),
                (["--cgroup", ""], 2, "invalid cgroup"),
                (["--cgroup", "/a", "--cgroup", "/b"], 2, "'/b': '/a' was given before"),
                (["--unit", "a", "--unit=b"], 2, "one unit is followed"),
                (["--container", "a1", "--container", "b2"], 2, "one container"),
                (["--name", "a", "--name", "b"], 2, "one name is followed at a time")):
            done = rtrack("attach", *words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)


    def test_default_name_is_replaced(self) -> None:
        done = rtrack("attach", "--name", "no such name",
                      env={**os.environ, "RTRACK_OPTIONS": "--name another"})
        self.assertIn("no process 'no such name'", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
