# SPDX-License-Identifier: MIT
"""Tests of rtrack rusage, which prints the sixteen fields of struct rusage."""
import json
import os
import re
import resource
import signal
import subprocess
import unittest
from typing import Dict

from rtrack_command import PATIENCE_S, RTRACK, Case, busy, python, rtrack

NAMES = (
    "ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap "
    "ru_inblock ru_oublock ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw").split()
UNUSED = ("ru_ixrss", "ru_idrss", "ru_isrss", "ru_nswap", "ru_msgsnd", "ru_msgrcv", "ru_nsignals")


class Rusage(Case):
    def test_rusage_prints_16_fields_in_order(self) -> None:
        self.assertEqual([line.split()[0] for line in rtrack("rusage").stdout.splitlines()], NAMES)
        got = json.loads(rtrack("rusage", "--json").stdout)
        self.assertEqual(list(got), NAMES)
        self.assertEqual({got[name] for name in UNUSED}, {0})

    def test_suffix_of_the_file_selects_json(self) -> None:
        for name, words, is_json in (("u.json", [], True), ("u.ndjson", [], True),
                                     ("u.txt", [], False), ("u.txt", ["--json"], True),
                                     ("u.json", ["-f", "text"], False)):
            self.assertEqual(rtrack("rusage", "-o", self.dir / name, *words).returncode, 0)
            self.assertEqual((self.dir / name).read_text()[0] == "{", is_json, (name, words))

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
        got = json.loads(rtrack("rusage", "--json", str(target.pid)).stdout)
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
        got = json.loads(rtrack("rusage", "--json", str(target.pid)).stdout)
        self.assertIsNone(got["ru_maxrss"])
        lines = dict(line.split()[:2]
                     for line in rtrack("rusage", str(target.pid)).stdout.splitlines())
        self.assertEqual(lines["ru_maxrss"], "-")
        self.assertNotEqual(lines["ru_utime"], "-")

    def test_children_and_thread_options_select_scope(self) -> None:
        got = json.loads(rtrack("rusage", "--children", "--json").stdout)
        self.assertEqual(set(got.values()), {0})
        self.assertGreater(
            json.loads(rtrack("rusage", "--thread", "--json").stdout)["ru_maxrss"], 0)

    def test_only_one_set_can_be_shown(self) -> None:
        for words in (["--children", "--thread"], ["--thread", "--children"],
                      ["--children", "1"], ["--thread", "--pid", "1"], ["--thread", "--", "true"],
                      ["1", "--", "true"], ["--pid", "1", "--", "true"]):
            done = rtrack("rusage", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("rtrack: only one of a process, a command, --children and --thread can "
                          "be shown\n", done.stderr)
        self.assertIn("one process is shown at a time", rtrack("rusage", "1", "2").stderr)

    def test_every_line_has_unit_and_meaning(self) -> None:
        lines = [re.split(" {2,}", line) for line in rtrack("rusage", "1").stdout.splitlines()]
        self.assertEqual({len(line) for line in lines}, {3})
        meanings = {line[0].split()[0]: line[2] for line in lines}
        self.assertEqual({name for name in NAMES if meanings[name] == "always 0"}, set(UNUSED))

    def test_word_that_is_no_process_leads_to_a_command(self) -> None:
        for words in (["make"], ["make", "-j8"]):
            done = rtrack("rusage", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("write 'rtrack rusage -- make'", done.stderr)

    def test_options_may_stand_behind_the_process(self) -> None:
        self.assertEqual(list(json.loads(rtrack("rusage", "1", "--json").stdout)), NAMES)


class OfCommand(Case):
    # Prints what the kernel has of itself and of its child, at its end.
    CODE = (busy(0.2) + "\nimport json, os, resource, subprocess, sys\n"
            "x = b'x' * (48 << 20)\nopen(sys.argv[1], 'wb').write(x[:1 << 20])\n"
            "subprocess.run([sys.executable, '-c', 'y = bytearray(64 << 20)'])\n"
            "both = [resource.getrusage(i) for i in (resource.RUSAGE_SELF, "
            "resource.RUSAGE_CHILDREN)]\n"
            "print(json.dumps([[getattr(u, n) for n in sys.argv[2:]] for u in both]))\n"
            "sys.exit(3)")

    def test_figures_are_those_that_the_kernel_has(self) -> None:
        """They lie between what the command sees at its end and what wait4() has of rtrack."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = rtrack("rusage", "--json", "-o", self.dir / "usage", "--", *python(self.CODE),
                      self.dir / "file", *NAMES)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        got = json.loads((self.dir / "usage").read_text())
        self.assertEqual(list(got), NAMES)
        own, child = (dict(zip(NAMES, values)) for values in json.loads(done.stdout))
        for name in NAMES:
            if name == "ru_maxrss":
                least, most = max(own[name], child[name]), after.ru_maxrss
                self.assertGreaterEqual(got[name], 64 << 10)
            else:
                least = own[name] + child[name]
                most = getattr(after, name) - getattr(before, name)
            self.assertTrue(least - 1e-6 <= got[name] <= most + 1e-6,
                            (name, least, got[name], most))
        self.assertGreaterEqual(got["ru_utime"] + got["ru_stime"], 0.2)

    def test_exit_code_is_that_of_the_command(self) -> None:
        (self.dir / "script").write_text("exit 5\n")
        (self.dir / "script").chmod(0o755)
        for words, code in ((["true"], 0), (["sh", "-c", "exit 3"], 3),
                            (["sh", "-c", "kill -9 $$"], 128 + signal.SIGKILL),
                            ([self.dir / "script"], 5), (["no-such-program"], 127),
                            ([self.dir], 126)):
            self.assertEqual(rtrack("rusage", "--", *words).returncode, code, words)

    def test_standard_output_is_the_command_s(self) -> None:
        done = rtrack("rusage", "--", "echo", "-n", "--json", "1")
        self.assertEqual(done.stdout, "--json 1")
        self.assertEqual([line.split()[0] for line in done.stderr.splitlines()], NAMES)

    def test_interrupt_is_left_to_the_command(self) -> None:
        """As by Ctrl-C: both get the signal, and the figures come when the command has ended."""
        code = ("import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n"
                "print('ready', flush=True)\n"
                f"sys.exit(7 if signal.sigtimedwait({{signal.SIGINT}}, {PATIENCE_S}) else 1)")
        process = self.start([RTRACK, "rusage", "--", *python(code)], start_new_session=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.killpg(process.pid, signal.SIGINT)
        _, output = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 7)
        self.assertIn("ru_utime", output)

    def test_signals_are_ignored_by_the_command_only_if_they_were_before(self) -> None:
        bit = 1 << signal.SIGINT - 1
        for before in (signal.SIG_DFL, signal.SIG_IGN):
            done = rtrack("rusage", "--", "grep", "SigIgn", "/proc/self/status",
                          preexec_fn=lambda: signal.signal(signal.SIGINT, before))
            self.assertEqual(int(done.stdout.split()[1], 16) & bit,
                             bit if before == signal.SIG_IGN else 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
