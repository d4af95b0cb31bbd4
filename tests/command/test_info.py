# SPDX-License-Identifier: MIT
"""What can be measured here, and why not."""
import json
import os
import re
import unittest

from harness import HEADER, SOURCE
from rtrack_command import Case, rtrack


class Info(Case):
    def test_names_versions_and_kernel(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        self.assertEqual(got["library"], got["headers"])
        self.assertEqual(got["kernel"]["release"], os.uname().release)
        said = rtrack("info").stdout
        for word in (got["library"], os.uname().release, "CPU time", "ZFS pools"):
            self.assertIn(word, said)

    def test_counts_the_fields(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["fields"]
        self.assertEqual(got["rusage"], 16)
        self.assertTrue(all(count > 5 for count in got.values()), got)

    def test_has_every_domain_of_the_header(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        have = {*got["process"]["domains"], *got["system"]["domains"], *got["command"]["domains"]}
        told = {name.lower() for name in re.findall(r"#define RT_HAS_(\w+) ", HEADER.read_text())}
        names = {"ctxsw": "context_switches"}
        self.assertEqual({names.get(name, name) for name in told} - {"rate"}, have)

    def test_domains_of_outcomes_are_those_of_commands_alone(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        said = re.findall(r"/\*\* rt_outcome: [^/]*\*/\n#define RT_HAS_(\w+) ", HEADER.read_text())
        self.assertEqual({name.lower() for name in said}, set(got["command"]["domains"]))

    def test_rungs_are_those_that_can_be_had(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["command"]["accounting"]
        self.assertEqual(set(got), {"poll", "wait", "cgroup", "wait+perf", "bpf"})
        self.assertEqual(got["poll"], {"available": "yes", "why": None})
        for name, rung in got.items():
            done = rtrack("run", "-q", "--accounting", name, "true")
            self.assertEqual(done.returncode, 0 if rung["available"] == "yes" else 125, name)
            self.assertIn(rung["why"] or "", done.stderr)
            self.assertIn(f"accounting by {name}", rtrack("info").stdout)

    def test_process_events_are_heard_where_a_command_is_counted_exactly(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)["command"]
        if got["accounting"]["wait"]["available"] == "no":
            self.skipTest("no supervisor here")
        exact = self.summary("run", "--accounting", "wait", "true")["processes_exact"]
        self.assertEqual(got["process_events"]["available"] == "yes", exact)
        self.assertEqual(got["domains"]["processes_peak"]["available"] == "yes", exact)

    def test_words_are_there_for_every_reason_of_the_header(self) -> None:
        words = (SOURCE / "examples/rtrack/figures.c").read_text()
        for name in re.findall(r"#define (RT_REASON_\w+) ", HEADER.read_text()):
            self.assertIn(f"{{ {name}, ", words)

    def test_says_why_not(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        for kind in ("process", "system", "command"):
            self.assertIsNone(got[kind].get("error"))
            for name, domain in got[kind]["domains"].items():
                self.assertIn(domain["available"], ("yes", "partial", "no"), name)
                self.assertEqual(domain["available"] == "yes", domain["why"] is None, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
