# SPDX-License-Identifier: MIT
"""Tests of rtrack rusage, which prints the sixteen fields of struct rusage."""
import json
import os
import subprocess
import unittest
from typing import Dict

from rtrack_command import Case, busy, python, rtrack

NAMES = (
    "ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap "
    "ru_inblock ru_oublock ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw").split()
UNUSED = ("ru_ixrss", "ru_idrss", "ru_isrss", "ru_nswap", "ru_msgsnd", "ru_msgrcv", "ru_nsignals")


class Rusage(Case):
    def test_rusage_prints_16_fields_in_order(self) -> None:
        self.assertEqual([line.split()[0] for line in rtrack("rusage").stdout.splitlines()], NAMES)
        got = json.loads(rtrack("rusage", "-f", "json").stdout)
        self.assertEqual(list(got), NAMES)
        self.assertEqual({got[name] for name in UNUSED}, {0})

    def test_rusage_of_pid_matches_its_getrusage(self) -> None:
        """The figures of rtrack lie between two getrusage() calls of the process."""
        code = (busy(0.2) + "\nimport json, resource, sys\nx = b'x' * (32 << 20)\n"
                "for line in sys.stdin:\n"
                "    u = resource.getrusage(resource.RUSAGE_SELF)\n"
                "    print(json.dumps([getattr(u, n) for n in sys.argv[1:]]), flush=True)")
        target = self.start([*python(code), *NAMES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            bufsize=0)

        def read_own() -> Dict[str, float]:
            target.stdin.write(b"\n")
            values = dict(zip(NAMES, json.loads(target.stdout.readline())))
            values["cpu"] = values["ru_utime"] + values["ru_stime"]
            return values

        before = read_own()
        got = json.loads(rtrack("rusage", "--pid", str(target.pid), "-f", "json").stdout)
        after = read_own()
        got["cpu"] = got["ru_utime"] + got["ru_stime"]
        for name in ("cpu", "ru_minflt", "ru_majflt", "ru_nvcsw", "ru_nivcsw", "ru_inblock",
                     "ru_oublock"):
            self.assertTrue(before[name] <= got[name] + 1e-6 and got[name] <= after[name] + 1e-6,
                            (name, before[name], got[name], after[name]))
        self.assertAlmostEqual(got["ru_maxrss"], before["ru_maxrss"],
                               delta=before["ru_maxrss"] / 20)

    def test_unknown_field_is_dash_or_null(self) -> None:
        """A zombie has no memory figures."""
        target = self.start(["true"])
        os.waitid(os.P_PID, target.pid, os.WEXITED | os.WNOWAIT)
        got = json.loads(rtrack("rusage", "--pid", str(target.pid), "-f", "json").stdout)
        self.assertIsNone(got["ru_maxrss"])
        lines = dict(line.split()[:2]
                     for line in rtrack("rusage", "--pid", str(target.pid)).stdout.splitlines())
        self.assertEqual(lines["ru_maxrss"], "-")
        self.assertNotEqual(lines["ru_utime"], "-")

    def test_children_and_thread_options_select_scope(self) -> None:
        got = json.loads(rtrack("rusage", "--children", "-f", "json").stdout)
        self.assertEqual(set(got.values()), {0})
        self.assertGreater(
            json.loads(rtrack("rusage", "--thread", "-f", "json").stdout)["ru_maxrss"], 0)

    def test_only_one_set_can_be_shown(self) -> None:
        for words in (["--children", "--thread"], ["--thread", "--children"],
                      ["--children", "--pid", "1"], ["--thread", "--pid", "1"]):
            done = rtrack("rusage", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("rtrack: only one of --children, --thread and --pid can be given\n",
                          done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
