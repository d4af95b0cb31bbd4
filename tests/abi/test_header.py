# SPDX-License-Identifier: MIT
"""Compile the public headers alone, as pedantic C11 and C++11, with every installed compiler."""
import pathlib
import shutil
import unittest

import header
from harness import BUILD, HEADER, SOURCE, run, skip

STRICT = [
    "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wundef", "-Werror", "-fsyntax-only"]
LANGUAGES = {
    "c": (["gcc", "clang"], ["-std=c11", "-Wstrict-prototypes"]),
    "c++": (["g++", "clang++"], ["-std=c++11"]),
}
USE = """
#include <rtrack/{name}>
#include <rtrack/{name}>
#if !RT_VERSION_AT_LEAST(0, 1)
#error "the version macros of the headers are missing"
#endif
int not_empty;
"""

KNOWN = """
#include <rtrack/rtrack.h>
int is_known(const struct rt_outcome *o, const struct rt_metrics *m);
int is_known(const struct rt_outcome *o, const struct rt_metrics *m)
{
	return RT_HAS_FIELD(o, rt_outcome, peak_needed_bytes) &&
	       RT_HAS_FIELD(m, rt_metrics, rusage) && RT_IS_KNOWN(o, RT_HAS_CPU) &&
	       RT_QUALITY(m, RT_HAS_CPU | RT_HAS_IO) == RT_QUALITY_EXACT &&
	       *RT_QUALITY_TEXT(m, RT_HAS_CPU | RT_HAS_IO) == 'e';
}
"""


MAX_LINES = 900  # of one header
MAX_WORDS = 12000  # of all together, as wc -w counts: docs/ has the rest
PUBLIC = header.files(HEADER)


class HeaderAlone(unittest.TestCase):
    def test_headers_can_be_read(self) -> None:
        for path in PUBLIC:
            self.assertLessEqual(len(path.read_text().splitlines()), MAX_LINES, path.name)
        template = HEADER.with_name("version.h.in").read_text()
        words = sum(len(text.split()) for text in [*map(pathlib.Path.read_text, PUBLIC), template])
        self.assertLessEqual(words, MAX_WORDS)

    def test_rtrack_h_includes_all(self) -> None:
        self.assertEqual(sorted(PUBLIC), sorted(HEADER.parent.glob("*.h")))

    def test_header_included_alone_compiles(self) -> None:
        for language, (compilers, flags) in LANGUAGES.items():
            for compiler in filter(shutil.which, compilers):
                for name in [*(path.name for path in PUBLIC), "version.h"]:
                    with self.subTest(compiler=compiler, name=name):
                        include = ["-I", SOURCE / "include", "-I", BUILD / "include"]
                        run([compiler, *STRICT, *flags, *include, "-x", language, "-"],
                            input=USE.format(name=name))
                with self.subTest(compiler=compiler):
                    run([compiler, *STRICT, *flags, *include, "-x", language, "-"], input=KNOWN)


if __name__ == "__main__":
    known = [compiler for compilers, _ in LANGUAGES.values() for compiler in compilers]
    if not any(map(shutil.which, known)):
        skip("neither gcc nor clang is installed")
    unittest.main(verbosity=2)
