# SPDX-License-Identifier: MIT
"""The public headers compile alone, as pedantic C11 and as C++11, with every compiler that is here."""
import shutil
import unittest

from harness import BUILD, SOURCE, run, skip

STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wundef", "-Werror", "-fsyntax-only"]
LANGUAGES = {
    "c": (["gcc", "clang"], ["-std=c11", "-Wstrict-prototypes"]),
    "c++": (["g++", "clang++"], ["-std=c++11"]),
}
USE = """
#include <rtrack/{name}>
#include <rtrack/{name}>
#if !RT_VERSION_AT_LEAST(0, 1)
#error "these headers are of no release"
#endif
int not_empty;
"""


class HeaderAlone(unittest.TestCase):
    def test_compiles_alone(self) -> None:
        for language, (compilers, flags) in LANGUAGES.items():
            for compiler in filter(shutil.which, compilers):
                for name in ("rtrack.h", "version.h"):
                    with self.subTest(compiler=compiler, name=name):
                        include = ["-I", SOURCE / "include", "-I", BUILD / "include"]
                        run([compiler, *STRICT, *flags, *include, "-x", language, "-"], input=USE.format(name=name))


if __name__ == "__main__":
    if not any(shutil.which(compiler) for compilers, _ in LANGUAGES.values() for compiler in compilers):
        skip("no gcc or clang here")
    unittest.main(verbosity=2)
