# SPDX-License-Identifier: MIT
"""Tests of rtrack info: what is missing on this system, what can be measured, and why not all."""
import json
import os
import re
import unittest

import header
from harness import HEADER
from rtrack_command import Case, rtrack


class Info(Case):
    def test_info_names_versions_and_kernel(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        self.assertEqual(got["library"], got["headers"])
        self.assertEqual(got["kernel"]["release"], os.uname().release)
        output = rtrack("info", "-v").stdout
        if not os.path.exists("/proc/spl/kstat/zfs"):
            self.assertRegex(output, r"ZFS pools +no: There is no ZFS here\.\n")
        for word in (got["library"], os.uname().release, "CPU time", "ZFS pools"):
            self.assertIn(word, output)

    def test_first_lines_say_what_is_missing_and_what_it_costs(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        methods, back_ends = got["command"]["accounting"], got["trace"]
        lines = rtrack("info").stdout.splitlines()
        self.assertLessEqual(len(lines), 5)
        self.assertEqual([line for line in lines if len(line) > 80], [])
        self.assertRegex(lines[0], "^missing  ")
        self.assertRegex(lines[-2], "^works    run by " + got["command"]["accounting_default"])
        # The end of a long release is left out.
        self.assertRegex(lines[-1], r"^rtrack [\d.]+, Linux \S+; ")
        self.assertTrue(lines[-1].endswith("rtrack info -v"))
        losses = "\n".join(lines)
        more = re.search(r"(\d+) more missing", losses)
        for is_missing, words in (
                (got["command"]["accounting_default"] == "wait", "a cgroup per command: run may"),
                (methods["bpf"]["available"] == "no", "BPF programs: attach may"),
                (got["command"]["process_events"]["available"] == "no", "process events: "),
                (back_ends["bpf"]["available"] == "no" and
                 back_ends["ptrace"]["available"] == "yes", "traces by BPF: ")):
            if is_missing and not more:
                self.assertIn(f"missing  {words}", losses)
            elif not is_missing:
                self.assertNotIn(words, losses)
        every = rtrack("info", "-v").stdout
        self.assertEqual(re.findall("^missing .*", every, re.MULTILINE)[:len(lines) - 2],
                         lines[:-2])
        self.assertEqual(len(re.findall("^missing .*", every, re.MULTILINE)),
                         len(lines) - 2 + int(more[1] if more else 0))
        self.assertIn(f", Linux {os.uname().release}\n", every)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_what_other_users_lack_is_missing(self) -> None:
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            methods = json.loads(rtrack("info", "--json", **user).stdout)["command"]["accounting"]
        except PermissionError:
            self.skipTest("other users cannot access this build directory")
        done = rtrack("info", "-v", **user)
        self.assertEqual(done.returncode, 0)
        line = "missing  BPF programs: attach may miss what no process waited for\n"
        self.assertEqual(line in done.stdout, methods["bpf"]["available"] == "no")

    def test_info_names_no_calls_of_the_library(self) -> None:
        self.assertNotRegex(rtrack("info", "-v").stdout, r"\b(rt_\w+\(|RT_)")

    def test_info_counts_fields(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["fields"]
        self.assertEqual(got["rusage"], 16)
        self.assertTrue(all(count > 5 for count in got.values()), got)

    def test_info_lists_every_domain_of_header(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        have = {*got["process"]["domains"], *got["system"]["domains"], *got["command"]["domains"]}
        declared = {
            name.lower()
            for name in re.findall(r"#define RT_HAS_(\w+) ", header.text_of(HEADER))}
        names = {"ctxsw": "context_switches"}
        # Whether a cgroup has them depends on the cgroup.
        of_cgroups = re.findall(r"/\*\* Cgroup: [^#]*#define RT_HAS_(\w+) ", header.text_of(HEADER))
        self.assertEqual(len(of_cgroups), 8)
        have.update(name.lower() for name in of_cgroups)
        self.assertEqual({names.get(name, name) for name in declared} - {"rate"}, have)

    def test_outcome_domains_are_listed_under_command_only(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        domain = re.compile(r"/\*\* rt_outcome\b[^#]*#define RT_HAS_(\w+) ")
        names = domain.findall(header.text_of(HEADER))
        self.assertEqual({name.lower() for name in names}, set(got["command"]["domains"]))

    def test_reader_that_has_enough_is_no_trouble(self) -> None:
        """Nothing is said: rtrack info --fields | head."""
        for words in (["info", "--fields"], ["info", "--help"]):
            reader, writer = os.pipe()
            os.close(reader)
            self.addCleanup(os.close, writer)
            done = rtrack(*words, stdout=writer)
            self.assertEqual((done.returncode, done.stderr), (1, ""), words)

    def test_available_accounting_methods_work(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["command"]["accounting"]
        self.assertEqual(set(got), {"poll", "wait", "cgroup", "bpf"})
        self.assertEqual(got["poll"], {"available": "yes", "why": None})
        for name, method in got.items():
            done = rtrack("run", "-q", "--accounting", name, "true")
            self.assertEqual(done.returncode, 0 if method["available"] == "yes" else 125, name)
            self.assertIn(method["why"] or "", done.stderr)
            self.assertIn(f"accounting by {name}", rtrack("info", "-v").stdout)

    def test_available_back_ends_trace_and_others_have_a_reason(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["trace"]
        self.assertEqual(set(got), {"bpf", "ptrace"})
        for name, back_end in got.items():
            done = rtrack("trace", "-q", "--back-end", name, "true")
            is_available = back_end["available"] == "yes"
            self.assertEqual(done.returncode, 0 if is_available else 125, done.stderr)
            self.assertEqual(back_end["why"] is None, is_available)
            # Behind "cannot trace: " it begins with a small letter, and has no full stop.
            self.assertIn((back_end["why"] or "")[1:].rstrip("."), done.stderr)
            self.assertIn(f"tracing by {name}", rtrack("info", "-v").stdout)

    def test_cgroup_hierarchies_are_those_of_a_command(self) -> None:
        """A command sees its cgroups in these hierarchies."""
        info = rtrack("info", "-v").stdout
        got = json.loads(rtrack("info", "--json").stdout)["command"]
        is_available = got["accounting"]["cgroup"]["available"] == "yes"
        self.assertEqual(bool(got["cgroup_hierarchies"]), is_available)
        self.assertEqual("hierarchies of the cgroup" in info, is_available)
        if not is_available:
            self.skipTest("cannot create a cgroup here")
        seen = rtrack("run", "-q", "--accounting", "cgroup", "cat", "/proc/self/cgroup").stdout
        own = re.findall(r"^\d+:(.*?):.*/rtrack-\d+-\d+$", seen, re.MULTILINE)
        self.assertEqual(got["cgroup_hierarchies"], [name or "v2" for name in own])
        self.assertIn("; ".join(got["cgroup_hierarchies"]) + "\n", info)

    def test_process_events_availability_matches_exact_count(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["command"]
        if got["accounting"]["wait"]["available"] == "no":
            self.skipTest("the supervisor is not available")
        exact = self.summary("run", "--accounting", "wait", "true")["processes_exact"]
        self.assertEqual(got["process_events"]["available"] == "yes", exact)
        self.assertEqual(got["domains"]["processes_peak"]["available"] == "yes", exact)

    def test_unavailable_domain_has_reason(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        for kind in ("process", "system", "command"):
            self.assertIsNone(got[kind].get("error"))
            for name, domain in got[kind]["domains"].items():
                self.assertIn(
                    domain["available"], ("yes", "partial", "estimated", "no"), name)
                self.assertEqual(domain["available"] == "yes", domain["why"] is None, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
