# SPDX-License-Identifier: MIT
"""Check the manual pages of the calls: man finds one for each, and it says what a caller needs."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from typing import List

import header
from harness import BUILD, HEADER, SOURCE, need, run, skip

DOXYFILE = BUILD / "docs/Doxyfile"
PUBLIC = header.read(HEADER)
# A call has errors if it returns int and no answer such as yes or no without any.
RETURNS_INT = re.compile(r"RT_API int (rt_\w+)\(")


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.root = pathlib.Path(temporary.name)
        settings = f"{DOXYFILE.read_text()}\nOUTPUT_DIRECTORY = {cls.root}\nGENERATE_HTML = NO\n"
        subprocess.run(["doxygen", "-"], input=settings, text=True, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run(["python3", SOURCE / "docs/man_pages.py", cls.root / "man-doxygen", cls.root / "man3",
             "1.2.3"])
        cls.pages = sorted((cls.root / "man3").iterdir())

    def text(self, name: str) -> str:
        """Return the page that man finds, as it shows it."""
        done = subprocess.run(["man", "-M", str(self.root), name], text=True, check=False,
                              capture_output=True,
                              env={**os.environ, "MANWIDTH": "100", "MANPAGER": "cat",
                                   "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(".\b|\x1b\\[[0-9;]*m", "", done.stdout)

    def test_man_finds_a_page_of_every_function_and_struct(self) -> None:
        for name in [*PUBLIC.functions, *PUBLIC.structs, "librtrack"]:
            text = self.text(name)
            self.assertRegex(text, rf"NAME\n +{name} - [A-Z\w]", name)
            self.assertIn("librtrack 1.2.3", text)

    def test_page_of_a_function_has_its_prototype_units_errors_and_since(self) -> None:
        calls: List[str] = RETURNS_INT.findall(header.text_of(HEADER))
        self.assertGreater(len(calls), 20)
        for name in PUBLIC.functions:
            text = " ".join(self.text(name).split())
            self.assertRegex(text, rf"#include <rtrack/rtrack.h> [^;]*\b{name}\([^;]*\);", name)
            for part in ("UNITS", "ERRORS", "HISTORY", "Since", "SEE ALSO librtrack(3rtrack)"):
                self.assertIn(part, text, name)
            if name in calls:
                self.assertRegex(text.partition("UNITS")[0], r"-E[A-Z]+|as rt_\w+\(\)", name)

    def test_page_has_the_text_of_the_header(self) -> None:
        text = " ".join(self.text("rt_sample").split())
        self.assertIn("out receives the sample.", text)
        self.assertIn("-ESRCH everything that the tracker followed has exited", text)
        self.assertIn("librtrack-trackers(3rtrack)", text)

    def test_page_has_what_details_say(self) -> None:
        text = " ".join(self.text("rt_sample").split())
        self.assertIn("DETAILS", text)
        self.assertIn("counted in rt_metrics.members_skipped", text)
        self.assertIn("DETAILS", self.text("rt_delta"))
        self.assertIn("RT_REASON_PAST_UNKNOWN", self.text("librtrack-details"))

    def test_pages_have_names_of_this_library_alone(self) -> None:
        for path in self.pages:
            self.assertRegex(path.name, r"^(rt_\w+|librtrack(-\w+)?)\.3rtrack$")

    def test_no_call_is_missing_in_the_overview(self) -> None:
        text = self.text("librtrack")
        self.assertEqual([name for name in [*PUBLIC.functions, *PUBLIC.structs]
                          if not re.search(rf"\b{name}\(", text)], [])

    def test_mandoc_and_groff_have_no_warnings(self) -> None:
        self.assertEqual(run(["mandoc", "-T", "lint", "-W", "warning", *self.pages]), "")
        for path in self.pages:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "-k", str(path)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "", path.name)


if __name__ == "__main__":
    for program in ("doxygen", "man", "mandoc", "groff"):
        need(program)
    if not DOXYFILE.exists():
        skip("the documentation is not configured (-Ddocs=disabled)")
    unittest.main(verbosity=2)
