# SPDX-License-Identifier: MIT
"""Check that the layout of structs without pointers is that of LP64 on 32-bit systems, too.

So a sample that is stored or sent by one can be read on the other. The structs are compiled where
uint64_t is aligned to four bytes, as on i386, and where it is aligned to eight, as on 32-bit ARM.
No library for 32 bits is needed."""
import shutil
import subprocess
import unittest

import header
from harness import BUILD, HEADER, SOURCE, run, skip

INCLUDES = ["-I", str(SOURCE / "include"), "-I", str(BUILD / "include")]
COMPILE = ["-m32", "-ffreestanding", "-fsyntax-only", *INCLUDES, "-x", "c", "-"]
ALIGNMENTS = {4: [], 8: ["-malign-double"]}
SCALARS = ("uint64_t", "int64_t", "double")
DECLARED = header.read(HEADER)
WITH_POINTERS = {"rt_opts", "rt_command_opts", "rt_trace_opts"}


def works(compiler: str) -> bool:
    return bool(shutil.which(compiler)) and subprocess.run(
        [compiler, *COMPILE], input="int one;", text=True, stderr=subprocess.DEVNULL
    ).returncode == 0


def assertions(struct: header.Struct) -> str:
    lines = [f"_Static_assert(sizeof(struct {struct.name}) == {struct.size()}, \"size\");"]
    lines += [
        f"_Static_assert(offsetof(struct {struct.name}, {name}) == {offset}, \"{name}\");"
        for name, offset in struct.offsets().items()]
    return "\n".join(lines)


class Layout32(unittest.TestCase):
    def test_structs_without_pointers_have_the_layout_of_64_bits(self) -> None:
        structs = [s for s in DECLARED.structs.values() if s.name not in WITH_POINTERS]
        self.assertGreater(len(structs), 12)
        layouts = "\n".join(map(assertions, structs))
        for compiler in COMPILERS:
            for alignment, flags in ALIGNMENTS.items():
                source = "#include <rtrack/rtrack.h>\nstruct probe { char first; TYPE second; };\n"
                source += f"_Static_assert(offsetof(struct probe, second) == {alignment}, \"\");\n"
                for scalar in SCALARS:
                    with self.subTest(compiler=compiler, alignment=alignment, scalar=scalar):
                        run([compiler, *flags, f"-DTYPE={scalar}", *COMPILE],
                            input=source + layouts)

    def test_complement_of_a_bit_has_64_bits(self) -> None:
        """If RT_HAS_CPU were narrower, `mask & ~RT_HAS_CPU` would clear the upper half, too."""
        bits = [name for name in DECLARED.numbers if name.startswith("RT_HAS_")]
        self.assertGreater(len(bits), 25)
        source = "#include <rtrack/rtrack.h>\n" + "\n".join(
            f'_Static_assert((uint64_t)~{bit} == ~(uint64_t){bit}, "{bit}");' for bit in bits)
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                run([compiler, *COMPILE], input=source)

    def test_inputs_alone_have_pointers(self) -> None:
        found = {
            struct.name
            for struct in DECLARED.structs.values()
            if any("*" in field.type for field in struct.fields)}
        self.assertEqual(found, WITH_POINTERS)


if __name__ == "__main__":
    COMPILERS = list(filter(works, ("gcc", "clang")))
    if not COMPILERS:
        skip("neither gcc nor clang compiles for 32-bit systems here")
    unittest.main(verbosity=2)
