# SPDX-License-Identifier: MIT
"""Write layout_lp64.h from the header: one assertion per struct size and per field offset."""
import pathlib
import sys

import header

FROZEN = {"rt_rusage", "rt_fd"}
ABOUT = """/* SPDX-License-Identifier: MIT */
/* The offset of every field of every public struct on LP64 systems. Written by
 * update-baseline.sh. A struct may grow at its end; any other change here breaks the ABI. */
#if defined(__LP64__)
#include <assert.h>
#include <stddef.h>
"""


def assertions(declared: header.Header) -> str:
    text = ABOUT
    for struct in declared.structs.values():
        relation = "==" if struct.name in FROZEN else ">="
        size = f"sizeof(struct {struct.name}) {relation} {struct.size()}"
        text += f'\nstatic_assert({size}, "size");\n'
        for name, offset in struct.offsets().items():
            place = f"offsetof(struct {struct.name}, {name}) == {offset}"
            text += f'static_assert({place}, "offset");\n'
    return text + "\n#endif\n"


if __name__ == "__main__":
    print(assertions(header.read(pathlib.Path(sys.argv[1]))), end="")
