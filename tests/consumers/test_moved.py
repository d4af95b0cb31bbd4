# SPDX-License-Identifier: MIT
"""Move an installation, give it to other users, and copy single files of it: commands are as exact
as where it was installed, or a message says what is refused."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import unittest
from typing import Any, ClassVar, Dict, Optional

from harness import BUILD, SOURCE, SUPERVISOR, need, run
from staged import Staged, staged

PREFIX = json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())
PREFIX = next(option["value"] for option in PREFIX if option["name"] == "prefix")
ONE_FILE = pathlib.Path(sys.argv.pop(1))
IS_ROOT = os.geteuid() == 0
OTHER_USER, THIRD_USER, GROUP = 61234, 61236, 61235
PATIENCE_S = 100

# Prints the CPU time of a process that is orphaned before it uses any, once that has ended.
ORPHAN = """
import os, time
end, write_end = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 0.1:
            pass
        os.write(write_end, f"{time.process_time()} {os.getpid()}".encode())
    os._exit(0)
os.wait()
os.close(write_end)
seconds, pid = os.read(end, 100).decode().split()
while os.path.exists("/proc/" + pid):
    time.sleep(0.001)
print(seconds, flush=True)
"""
COMMAND = [sys.executable, "-I", "-c", ORPHAN]
# Prints the result of a command by wait.
BY_WAIT = """
#include <stdio.h>
#include <rtrack/rtrack.h>
int main(void)
{
	static const char *const argv[] = { "/bin/true", NULL };
	struct rt_command_opts opts = { .size = sizeof(opts), .argv = argv,
		                        .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command;
	struct rt_outcome outcome = { 0 };
	int err = rt_command_start(&command, &opts);

	if (err == 0) {
		rt_command_wait(command, -1, &outcome, sizeof(outcome));
		rt_command_free(command);
	}
	printf("%d %u\\n", err, outcome.complete);
	return 0;
}
"""


def as_user(user: Optional[int]) -> Dict[str, Any]:
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


class Moved(unittest.TestCase):
    stage: ClassVar[Staged]
    prefix: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.stage = stack.enter_context(staged())
        cls.stage.work.chmod(0o755)

    def setUp(self) -> None:
        self.prefix = self.stage.work / "moved"
        shutil.copytree(self.stage.root / PREFIX.lstrip("/"), self.prefix, symlinks=True)
        self.addCleanup(shutil.rmtree, self.prefix, ignore_errors=True)
        self.helpers = next(self.prefix.rglob(SUPERVISOR)).parent
        self.rtrack = self.prefix / "bin/rtrack"

    def use(self, program: pathlib.Path, *words: str, user: Optional[int] = None,
            **kwargs: Any) -> "subprocess.CompletedProcess[str]":
        env = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        return subprocess.run([program, *words], env=env, cwd="/", text=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **as_user(user),
                              **kwargs)

    def each(self) -> "list[pathlib.Path]":
        return [self.prefix, *self.prefix.rglob("*")]

    def assert_exact(self, program: pathlib.Path, user: Optional[int] = None) -> None:
        """Its CPU time is at least that of the orphan, and at most that of all children here."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.use(program, "run", "--accounting", "wait", "--summary", "json", "--",
                        *COMMAND, user=user)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stderr)
        got = summary["accounting"]
        self.assertEqual((got["level"], got["complete"], got["reasons"]), ("wait", True, []))
        self.assertGreaterEqual(got["cpu_seconds_high"], float(done.stdout))
        self.assertLessEqual(got["cpu_seconds_low"], after.ru_utime - before.ru_utime +
                             after.ru_stime - before.ru_stime)

    def info(self, program: pathlib.Path, user: Optional[int] = None) -> Any:
        return json.loads(self.use(program, "info", "--json", user=user).stdout)

    def answers(self, program: pathlib.Path, user: Optional[int]) -> Any:
        """What works there, and why the rest does not."""
        got = self.info(program, user)
        return {key: got[key] for key in ("command", "trace", "gpus")}

    def test_moved_installation_is_exact(self) -> None:
        self.assert_exact(self.rtrack)

    @unittest.skipUnless(IS_ROOT, "only root can give files away")
    def test_installation_of_a_user_is_exact_for_root(self) -> None:
        for path in self.each():
            os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
        self.assert_exact(self.rtrack)
        self.assert_exact(self.rtrack, OTHER_USER)

    @unittest.skipUnless(IS_ROOT, "only root can choose the group")
    def test_installation_that_a_group_may_write_to_is_exact(self) -> None:
        for path in self.each():
            os.chown(path, OTHER_USER, GROUP, follow_symlinks=False)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o020)
        self.assert_exact(self.rtrack)
        self.assert_exact(self.rtrack, THIRD_USER)

    @unittest.skipUnless(IS_ROOT, "only root can choose the group")
    def test_helpers_that_another_group_may_write_to_are_named(self) -> None:
        os.chown(self.helpers, 0, GROUP)
        self.helpers.chmod(0o2775)
        why = rf"{re.escape(str(self.helpers))} is not used: .*user 0, group {GROUP}\b.*\(2775\)"
        for words in (["run", "--accounting", "wait", "true"],
                      ["trace", "--back-end", "ptrace", "true"]):
            done = self.use(self.rtrack, *words)
            self.assertEqual(done.returncode, 125)
            self.assertRegex(done.stderr, why)
        got = self.info(self.rtrack)
        self.assertRegex(got["command"]["accounting"]["wait"]["why"], why)
        self.assertRegex(got["trace"]["ptrace"]["why"], why)
        # It is its own supervisor, as info says, unless it has a limit.
        for words in ([], ["--timeout", "1000"]):
            done = self.use(self.rtrack, "run", "--summary", "json", *words, "true")
            level = json.loads(done.stderr)["accounting"]["level"]
            self.assertEqual(level, "poll" if words else got["command"]["accounting_default"])
        done = self.use(self.rtrack, "run", "--timeout", "1000", "true")
        self.assertRegex(" ".join(done.stderr.split()), f"accounting is by poll: {why}")

    def compile(self, source: str, name: str, *flags: Any) -> pathlib.Path:
        program = self.stage.work / name
        run(["cc", "-x", "c", "-", "-o", program, "-I", self.prefix / "include", *flags],
            input=source)
        return program

    def test_static_program_is_exact(self) -> None:
        archive = next(self.prefix.rglob("librtrack.a"))
        program = self.compile((SOURCE / "examples/c/command.c").read_text(), "static", "-static",
                               "-x", "none", archive, "-pthread")
        shutil.rmtree(self.prefix)
        done = self.use(program, *COMMAND)
        self.assertEqual(done.returncode, 0, done.stderr)
        cpu = re.search(r"^cpu +(\S+) s user, (\S+) s system(.*)$", done.stderr, re.M)
        assert cpu, done.stderr
        self.assertEqual(cpu[3], "", "it is a lower bound")
        self.assertGreaterEqual(float(cpu[1]) + float(cpu[2]) + 0.004, float(done.stdout))

    def test_one_file_has_every_method_of_the_installation(self) -> None:
        program = self.stage.work / "elsewhere/rt"
        program.parent.mkdir(mode=0o755)
        shutil.copy(ONE_FILE, program)
        users = (None, THIRD_USER) if IS_ROOT else (None,)
        installed = {user: self.answers(self.rtrack, user) for user in users}
        calls = {user: self.calls(self.rtrack, user) for user in users}
        shutil.rmtree(self.prefix)
        for user in users:
            self.assertEqual(self.answers(program, user), installed[user])
            self.assertEqual(self.calls(program, user), calls[user])
            self.assert_exact(program, user)

    def calls(self, program: pathlib.Path, user: Optional[int]) -> Dict[str, Any]:
        """The calls of a command that each back end sees. Those of helpers are not among them."""
        found = {}
        for name in ("bpf", "ptrace"):
            done = self.use(program, "trace", "--back-end", name, "--format", "jsonl", "--output",
                            "-", "bash", "-c", "times", user=user)
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            found[name] = [(row.get("comm"), row.get("call")) for row in rows]
        return found

    @unittest.skipUnless(IS_ROOT, "only root can mount and give programs away")
    def test_set_user_id_program_uses_helpers_of_the_configured_directory_alone(self) -> None:
        library = next(self.prefix.rglob("librtrack.so.0"))
        home = pathlib.Path(PREFIX, library.relative_to(self.prefix)).parent
        results = []
        at_home = f'mount --bind "{self.prefix}" "{PREFIX}" && '
        for name, directory, mount in (("home", home, at_home), ("away", library.parent, "")):
            program = self.compile(BY_WAIT, name, "-x", "none", library, f"-Wl,-rpath,{directory}")
            os.chown(program, OTHER_USER, OTHER_USER)
            program.chmod(0o4755)
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c",
                 f"{mount}exec setpriv --reuid {THIRD_USER} --regid {THIRD_USER} --clear-groups "
                 f'"{program}"'],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S,
                env={"PATH": os.environ["PATH"]})
            if done.returncode != 0 and "mount" in done.stderr:
                self.skipTest(done.stderr)
            results.append(done.stdout.split())
        self.assertEqual(results, [["0", "1"], ["-65", "0"]])  # ENOPKG


if __name__ == "__main__":
    need("cc", "unshare", "setpriv")
    unittest.main(verbosity=2)
