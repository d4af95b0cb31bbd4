# SPDX-License-Identifier: MIT
"""Print what two programs of one release agree on: constants, enum values, and layouts of structs.

    python3 tests/abi/protocol.py lib/os/protocol/supervisor_protocol.h \\
      >tests/abi/protocols/supervisor-7.txt

The compiler says the sizes and offsets."""
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Iterator, List, Tuple

LIB = pathlib.Path(__file__).resolve().parents[2] / "lib"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
PROGRAM = """
#include <stddef.h>
#include <stdio.h>
#include "%s"
int main(void)
{
%s
}
"""


def _defines(text: str) -> Iterator[Tuple[str, str]]:
    for name, value in re.findall(r"^#define (\w+) (.+)$", text, re.M):
        yield name, " ".join(value.split())


def _enums(text: str) -> Iterator[str]:
    for body in re.findall(r"^enum \w+ \{(.*?)^\};", text, re.M | re.S):
        yield from re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())


def _structs(text: str) -> Iterator[Tuple[str, List[str]]]:
    for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.M | re.S):
        fields = []
        for declaration in filter(str.strip, body.split(";")):
            pointer = re.search(r"\(\*(\w+)\)", declaration)
            names = [pointer[0]] if pointer else declaration.split(",")
            fields += [re.findall(r"\w+", re.sub(r"\[.*", "", part))[-1] for part in names]
        yield name, fields


def dump(path: pathlib.Path) -> str:
    text = COMMENT.sub(" ", path.read_text())
    lines = [f"{name} {value}" for name, value in _defines(text)]
    prints = [f'printf("{name} %d\\n", {name});' for name in _enums(text)]
    for struct, fields in _structs(text):
        prints.append(f'printf("struct {struct} %zu\\n", sizeof(struct {struct}));')
        for field in fields:
            member = f"((struct {struct} *)NULL)->{field}"
            prints.append(f'printf("  {field} at %zu, %zu bytes\\n", '
                          f"offsetof(struct {struct}, {field}), sizeof({member}));")
    with tempfile.TemporaryDirectory() as work:
        program = pathlib.Path(work, "print")
        source = PROGRAM % (path, "\n".join(prints))
        subprocess.run(["cc", "-I", str(LIB), "-x", "c", "-", "-o", str(program)], input=source,
                       text=True, check=True)
        printed = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True)
    return "\n".join(lines) + "\n" + printed.stdout


if __name__ == "__main__":
    print(dump(pathlib.Path(sys.argv[1]).resolve()), end="")
