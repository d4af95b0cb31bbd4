# SPDX-License-Identifier: MIT
"""Writes layout_lp64.h from the header: an assertion for the size of each struct and the offset of each field."""
import pathlib
import sys

import header

FROZEN = {"rt_rusage"}
ABOUT = """/* SPDX-License-Identifier: MIT */
/* Where every field of every public struct lies on LP64 machines. Written by update-baseline.sh: structs may grow at
 * their end; whatever else changes here breaks the ABI. */
#if defined(__LP64__)
#include <assert.h>
#include <stddef.h>
"""


def assertions(declared: header.Header) -> str:
    text = ABOUT
    for struct in declared.structs.values():
        relation = "==" if struct.name in FROZEN else ">="
        text += f'\nstatic_assert(sizeof(struct {struct.name}) {relation} {struct.size()}, "size");\n'
        for name, offset in struct.offsets().items():
            text += f'static_assert(offsetof(struct {struct.name}, {name}) == {offset}, "offset");\n'
    return text + "\n#endif\n"


if __name__ == "__main__":
    print(assertions(header.read(pathlib.Path(sys.argv[1]))), end="")
