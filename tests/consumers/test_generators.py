# SPDX-License-Identifier: MIT
"""Generators of bindings read every constant of the header: bindgen, cffi and SWIG.

They read plain literals. None of them evaluates a cast such as UINT64_C(1) << 3."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict

import header
from harness import BUILD, HEADER, run

NUMBERS = header.read(HEADER).numbers
DEFINE = re.compile(r"^#define (RT_[A-Z0-9_]+) (\S[^/\n]*?)\s*(?:/\*.*)?$", re.MULTILINE)
LITERAL = re.compile(r"-?(0x[0-9a-f]+|\d+)(ULL|U)?")
INCLUDES = ["-I", HEADER.parents[1], "-I", BUILD / "include"]
DEFINES = {
    name: value for name, value in DEFINE.findall(header.text_of(HEADER)) if not name == "RT_API"}


def value_of(literal: str) -> int:
    return int(literal.rstrip("UL"), 0)


class Generators(unittest.TestCase):
    maxDiff = None

    def test_constants_are_plain_literals(self) -> None:
        odd = {name: text for name, text in DEFINES.items() if not LITERAL.fullmatch(text)}
        self.assertEqual(odd, {})
        self.assertEqual({name: value_of(text) for name, text in DEFINES.items()}, NUMBERS)
        self.assertGreater(len(NUMBERS), 90)

    def test_bits_have_the_width_of_their_mask(self) -> None:
        """So that the complement of a bit clears nothing else, in C and in C++. On 32-bit systems,
        too: `unsigned long` would be too narrow there."""
        types = {"RT_HAS_": "unsigned long long", "RT_OPT_": "unsigned int",
                 "RT_REASON_": "unsigned int", "RT_ITEM_": "unsigned int",
                 "RT_PROCESS_": "unsigned int"}
        kinds = [(name, kind) for name in NUMBERS for start, kind in types.items()
                 if name.startswith(start)]
        self.assertGreater(len(kinds), 50)
        c = [f'_Static_assert(_Generic({n}, {k}: 1, default: 0), "{n}");' for n, k in kinds]
        cpp = [f'static_assert(std::is_same<decltype({n}), {k}>::value, "{n}");' for n, k in kinds]
        for language, start, lines in (("c", "", c), ("c++", "#include <type_traits>", cpp)):
            compiler = {"c": "cc", "c++": "c++"}[language]
            if not shutil.which(compiler):
                continue
            source = "\n".join(["#include <rtrack/rtrack.h>", start, *lines])
            run([compiler, "-fsyntax-only", *INCLUDES, "-x", language, "-"], input=source)

    def test_bindgen_reads_all(self) -> None:
        if not shutil.which("bindgen"):
            self.skipTest("bindgen is not installed")
        made = run(["bindgen", "--allowlist-var", "RT_.*", HEADER, "--", *INCLUDES])
        found = {
            name: int(value)
            for name, value in re.findall(r"^pub const (RT_\w+): \w+ = (-?\d+);", made, re.M)}
        self.assertEqual({name: found.get(name) for name in NUMBERS}, NUMBERS)

    def test_cffi_reads_all(self) -> None:
        try:
            import cffi  # type: ignore[import]
        except ImportError:
            self.skipTest("python3-cffi is not installed")
        ffi = cffi.FFI()
        ffi.cdef("".join(f"#define {name} {value}\n" for name, value in DEFINES.items()))
        library = ffi.dlopen(None)
        self.assertEqual({name: getattr(library, name) for name in NUMBERS}, NUMBERS)

    def test_swig_reads_all(self) -> None:
        if not shutil.which("swig"):
            self.skipTest("swig is not installed")
        with tempfile.TemporaryDirectory() as work:
            interface = pathlib.Path(work, "rtrack.i")
            interface.write_text("%module rtrack\n%include <stdint.i>\n" + "".join(
                f'%include "{path}"\n' for path in header.files(HEADER)))
            made = pathlib.Path(work, "wrap.c")
            subprocess.run(["swig", "-python", "-w451,454", "-o", made, interface], check=True)
            found: Dict[str, int] = {
                name: value_of(value) for name, value in re.findall(
                    r'SetConstant\(d, "(RT_\w+)",\w+\(\(\w[\w ]*\)\((.*?)\)\)\);',
                    made.read_text())}
        self.assertEqual({name: found.get(name) for name in NUMBERS}, NUMBERS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
