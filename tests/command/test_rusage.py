# SPDX-License-Identifier: MIT
"""The sixteen figures."""
import json
import os
import subprocess
import unittest

from rtrack_command import Case, busy, python, rtrack

NAMES = ("ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock "
         "ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw").split()
UNUSED = ("ru_ixrss", "ru_idrss", "ru_isrss", "ru_nswap", "ru_msgsnd", "ru_msgrcv", "ru_nsignals")


class Rusage(Case):
    def test_has_all_in_order(self) -> None:
        self.assertEqual([line.split()[0] for line in rtrack("rusage").stdout.splitlines()], NAMES)
        got = json.loads(rtrack("rusage", "-f", "json").stdout)
        self.assertEqual(list(got), NAMES)
        self.assertEqual({got[name] for name in UNUSED}, {0})

    def test_of_another_process_is_what_it_says_itself(self) -> None:
        code = (busy(0.2) + "\nimport json, resource, sys\nx = b'x' * (32 << 20)\n"
                "u = resource.getrusage(resource.RUSAGE_SELF)\n"
                "print(json.dumps([getattr(u, n) for n in sys.argv[1:]]), flush=True)\ninput()")
        target = self.start([*python(code), *NAMES], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        told = dict(zip(NAMES, json.loads(target.stdout.readline())))
        got = json.loads(rtrack("rusage", "--pid", str(target.pid), "-f", "json").stdout)
        self.assertAlmostEqual(got["ru_utime"] + got["ru_stime"], told["ru_utime"] + told["ru_stime"], delta=0.02)
        self.assertAlmostEqual(got["ru_maxrss"], told["ru_maxrss"], delta=told["ru_maxrss"] / 20)
        self.assertAlmostEqual(got["ru_minflt"], told["ru_minflt"], delta=50)
        self.assertAlmostEqual(got["ru_nvcsw"], told["ru_nvcsw"], delta=10)

    def test_unknown_is_a_dash_or_null(self) -> None:
        """A process that only waits to be reaped has no memory to ask about."""
        target = self.start(["true"])
        os.waitid(os.P_PID, target.pid, os.WEXITED | os.WNOWAIT)
        got = json.loads(rtrack("rusage", "--pid", str(target.pid), "-f", "json").stdout)
        self.assertIsNone(got["ru_maxrss"])
        lines = dict(line.split()[:2] for line in rtrack("rusage", "--pid", str(target.pid)).stdout.splitlines())
        self.assertEqual(lines["ru_maxrss"], "-")
        self.assertNotEqual(lines["ru_utime"], "-")

    def test_children_and_thread(self) -> None:
        got = json.loads(rtrack("rusage", "--children", "-f", "json").stdout)
        self.assertEqual(set(got.values()), {0})
        self.assertGreater(json.loads(rtrack("rusage", "--thread", "-f", "json").stdout)["ru_maxrss"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
