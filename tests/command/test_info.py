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
        have = {*got["process"]["domains"], *got["system"]["domains"]}
        told = {name.lower() for name in re.findall(r"#define RT_HAS_(\w+) ", HEADER.read_text())}
        names = {"ctxsw": "context_switches"}
        self.assertEqual({names.get(name, name) for name in told} - {"rate"}, have)

    def test_words_are_there_for_every_reason_of_the_header(self) -> None:
        words = (SOURCE / "examples/rtrack/figures.c").read_text()
        for name in re.findall(r"#define (RT_REASON_\w+) ", HEADER.read_text()):
            self.assertIn(f"{{ {name}, ", words)

    def test_says_why_not(self) -> None:
        got = json.loads(rtrack("info", "--json").stdout)
        for kind in ("process", "system"):
            self.assertIsNone(got[kind]["error"])
            for name, domain in got[kind]["domains"].items():
                self.assertIn(domain["available"], ("yes", "partial", "no"), name)
                self.assertEqual(domain["available"] == "yes", domain["why"] is None, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
