# SPDX-License-Identifier: MIT
"""Check that Doxygen builds the reference without warnings, and that it has every public name."""
import pathlib
import subprocess
import tempfile
import unittest

import header
from harness import BUILD, HEADER, need, skip

DOXYFILE = BUILD / "docs/Doxyfile"


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.output = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.output.cleanup)
        # Other releases of Doxygen may have other warnings, so only this test makes them errors.
        settings = (f"{DOXYFILE.read_text()}\nOUTPUT_DIRECTORY = {cls.output.name}\n"
                    "WARN_AS_ERROR = FAIL_ON_WARNINGS\n")
        cls.doxygen = subprocess.run(["doxygen", "-"], input=settings, capture_output=True,
                                     text=True, check=False)

    def test_doxygen_prints_no_warnings(self) -> None:
        self.assertEqual(self.doxygen.stderr, "")
        self.assertEqual(self.doxygen.returncode, 0)

    def check_pages(self, pattern: str) -> None:
        public = header.read(HEADER)
        pages = pathlib.Path(self.output.name).glob(pattern)
        text = "".join(page.read_text(errors="replace") for page in pages)
        names = [*public.functions, *public.structs, *public.numbers]
        self.assertEqual([name for name in names if name not in text], [])

    def test_html_names_every_public_symbol(self) -> None:
        self.check_pages("html/*.html")

    def test_man_pages_name_every_public_symbol(self) -> None:
        self.check_pages("man-doxygen/*.3rtrack")


if __name__ == "__main__":
    need("doxygen")
    if not DOXYFILE.exists():
        skip("the documentation is not configured (-Ddocs=disabled)")
    unittest.main(verbosity=2)
