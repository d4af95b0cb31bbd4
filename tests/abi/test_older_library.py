# SPDX-License-Identifier: MIT
"""Run programs of this release with a library that has the functions of release 0.1 alone."""
import errno
import os
import pathlib
import subprocess
import sys
import unittest

from harness import SOURCE

CALLS, LOOKS_UP, CURRENT, OLDER = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(4))
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
    for newer in (command.kill, command.processes):
        try:
            newer()
        except OSError as missing:
            print(missing.errno == {errno.ENOSYS}, missing.strerror.split(",")[0])
"""


def use(program: pathlib.Path, library: pathlib.Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "LD_LIBRARY_PATH": str(library.parent), "LC_ALL": "C"}
    return subprocess.run([str(program)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class OlderLibrary(unittest.TestCase):
    def test_program_that_calls_a_newer_function_does_not_start(self) -> None:
        done = use(CALLS, CURRENT)
        self.assertEqual((done.returncode, done.stdout), (0, "present\n"), done.stderr)
        done = use(CALLS, OLDER)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("version `RTRACK_0.2' not found", done.stderr)

    def test_program_that_looks_a_newer_function_up_starts(self) -> None:
        for library, answer in ((CURRENT, "present\n"), (OLDER, "absent\n")):
            done = use(LOOKS_UP, library)
            self.assertEqual((done.returncode, done.stdout), (0, answer), done.stderr)

    def test_python_binding_works_without_newer_functions(self) -> None:
        env = {**os.environ, "RTRACK_LIBRARY": str(OLDER),
               "PYTHONPATH": str(SOURCE / "examples/python")}
        done = subprocess.run([sys.executable, "-c", BINDING], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "{}", "True", "1", "3",
            "True rt_command_kill() is not in the loaded librtrack",
            "True rt_command_processes() is not in the loaded librtrack"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
