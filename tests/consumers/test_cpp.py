# SPDX-License-Identifier: MIT
"""Build and run a program against the wrapper for C++."""
from __future__ import annotations

import os
import pathlib
import tempfile
import unittest

from harness import BUILD, SOURCE, need, run

LIBRARY = pathlib.Path(os.environ["RTRACK_LIBRARY"])


class Cpp(unittest.TestCase):
    def test_wrapper_has_what_the_header_has(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "wrapper"
            include = [f"-I{SOURCE / 'include'}", f"-I{BUILD / 'include'}",
                       f"-I{SOURCE / 'examples/cpp'}"]
            run(["c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror", *include,
                 SOURCE / "tests/consumers/wrapper.cpp", "-o", program, LIBRARY,
                 f"-Wl,-rpath,{LIBRARY.parent}"])
            run([program])


if __name__ == "__main__":
    need("c++")
    unittest.main(verbosity=2)
