# SPDX-License-Identifier: MIT
"""Run programs of this release with libraries that have the functions of an older release alone."""
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import ClassVar, Dict, Tuple

from harness import SOURCE

CALLS_02, LOOKS_UP_02, CALLS_03, LOOKS_UP_03, CURRENT, OLDER_01, OLDER_02 = (
    pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(7))
LIBRARIES = {(0, 1): OLDER_01, (0, 2): OLDER_02, (0, 3): CURRENT}
CALLS = {(0, 2): CALLS_02, (0, 3): CALLS_03}
LOOKS_UP = {(0, 2): LOOKS_UP_02, (0, 3): LOOKS_UP_03}
Release = Tuple[int, int]
UNKNOWN_STRUCT = 99
BINDING = f"""
import rtrack
@rtrack._record({UNKNOWN_STRUCT})
class Later(rtrack.Record):
    pass
print(Later().as_dict())
print(rtrack.getrusage(rtrack.RUSAGE_SELF).ru_maxrss > 0)
with rtrack.PidTracker() as tracker:
    print(tracker.sample().processes)
with rtrack.Command(["sh", "-c", "exit 3"], list_processes=True) as command:
    print(command.wait().exit_code)
    for newer in (command.kill, command.processes, command.fileno):
        try:
            newer()
            print("present")
        except OSError as missing:
            print(missing.errno == {errno.ENOSYS}, missing.strerror.split(",")[0])
"""


class OlderLibrary(unittest.TestCase):
    directories: ClassVar[Dict[Release, str]] = {}

    @classmethod
    def setUpClass(cls) -> None:
        for release, library in LIBRARIES.items():
            directory = tempfile.TemporaryDirectory(prefix="rtrack-older-")
            cls.addClassCleanup(directory.cleanup)
            shutil.copy(library, pathlib.Path(directory.name, "librtrack.so.0"))
            cls.directories[release] = directory.name

    def use(self, program: pathlib.Path, release: Release) -> "subprocess.CompletedProcess[str]":
        env = {**os.environ, "LD_LIBRARY_PATH": self.directories[release], "LC_ALL": "C"}
        return subprocess.run([str(program)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def test_program_that_calls_a_newer_function_does_not_start(self) -> None:
        for library in LIBRARIES:
            for newer, program in CALLS.items():
                done = self.use(program, library)
                if library >= newer:
                    self.assertEqual((done.returncode, done.stdout), (0, "present\n"), done.stderr)
                else:
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertIn("version `RTRACK_%d.%d' not found" % newer, done.stderr)

    def test_program_that_looks_a_newer_function_up_starts(self) -> None:
        for library in LIBRARIES:
            for newer, program in LOOKS_UP.items():
                done = self.use(program, library)
                answer = "present\n" if library >= newer else "absent\n"
                self.assertEqual((done.returncode, done.stdout), (0, answer), done.stderr)

    def test_python_binding_works_without_newer_functions(self) -> None:
        missing = [
            "True rt_command_kill() is not in the loaded librtrack",
            "True rt_command_processes() is not in the loaded librtrack",
            "True rt_command_fd() is not in the loaded librtrack"]
        answers = {(0, 1): missing, (0, 2): ["present", "present", missing[2]],
                   (0, 3): ["present"] * 3}
        for release, answer in answers.items():
            library = pathlib.Path(self.directories[release], "librtrack.so.0")
            env = {**os.environ, "RTRACK_LIBRARY": str(library),
                   "PYTHONPATH": str(SOURCE / "examples/python")}
            done = subprocess.run([sys.executable, "-c", BINDING], env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines(), ["{}", "True", "1", "3", *answer])


if __name__ == "__main__":
    unittest.main(verbosity=2)
