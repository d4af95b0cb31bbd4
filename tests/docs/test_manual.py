# SPDX-License-Identifier: MIT
"""Check the manual pages of rtrack: no warnings, examples at their top, references that lead on."""
import os
import pathlib
import re
import subprocess
import unittest

from harness import SOURCE, need

PAGES = sorted((SOURCE / "docs").glob("rtrack*.[15]"))
# Examples come first, so that they are on the first screen.
ON_PURPOSE = "sections out of conventional order: Sh DESCRIPTION"
SCREEN = 30  # lines


def shown(page: pathlib.Path) -> str:
    done = subprocess.run(["man", "-l", page], text=True, check=True, capture_output=True,
                          env={**os.environ, "MANWIDTH": "80", "MANPAGER": "cat",
                               "LC_ALL": "C.UTF-8"})
    return re.sub(".\b|\x1b\\[[0-9;]*m", "", done.stdout)


class Manual(unittest.TestCase):
    def test_pages_are_those_that_are_installed(self) -> None:
        listed = re.findall(r"'(rtrack[a-z-]*\.[15])'", (SOURCE / "docs/meson.build").read_text())
        self.assertEqual(sorted(listed), [page.name for page in PAGES])

    def test_pages_have_no_mandoc_warnings(self) -> None:
        for page in PAGES:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], text=True,
                                  check=False, capture_output=True)
            warnings = (done.stdout + done.stderr).splitlines()
            self.assertEqual([line for line in warnings if ON_PURPOSE not in line], [])

    def test_groff_has_no_warnings(self) -> None:
        for page in PAGES:
            done = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", "-z", "-k", page], text=True,
                                  check=False, capture_output=True)
            self.assertEqual(done.stderr, "", page.name)

    def test_examples_are_on_first_screen(self) -> None:
        for page in PAGES:
            lines = shown(page).splitlines()
            self.assertLess(max(map(len, lines)), 81, page.name)
            first = lines[lines.index("EXAMPLES"):SCREEN]
            self.assertGreaterEqual(sum("$ rtrack " in line for line in first), 4, page.name)
            headings = [line for line in lines if re.match("[A-Z]", line)][1:5]
            self.assertEqual(headings, ["NAME", "SYNOPSIS", "EXAMPLES", "DESCRIPTION"], page.name)

    def test_references_lead_to_pages_and_sections(self) -> None:
        names = {page.name for page in PAGES}
        for page in PAGES:
            text = page.read_text()
            references = re.findall(r"^\.Xr (rtrack\S*) (\d)", text, re.MULTILINE)
            self.assertGreater(len(references), 1)
            self.assertEqual({f"{name}.{section}" for name, section in references} - names, set())
            sections = set(re.findall(r"^\.Sh (.*)", text, re.MULTILINE))
            linked = set(re.findall(r"^\.Sx (.*?)(?: [.,])?$", text, re.MULTILINE))
            self.assertEqual(linked - sections, set(), page.name)


if __name__ == "__main__":
    for program in ("mandoc", "man", "groff"):
        need(program)
    unittest.main(verbosity=2)
