#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write what repeats lib/api/fields.def and the header: the first columns of docs/units.md, and the
names of the bindings for Python and Rust. With --check, write nothing, and say what differs.

What people have written stays: the last column of docs/units.md, and the order of its tables. A
field that has no row yet gets one behind the field before it, defined as in the header."""
import difflib
import pathlib
import re
import sys
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

import header

SOURCE = pathlib.Path(__file__).parents[2]
HEADER = SOURCE / "include/rtrack/rtrack.h"
RUN = "Written by tests/abi/update_fields.py"
PUBLIC = header.read(HEADER)

WORDS_OF_UNIT = {
    "": "-", "By": "bytes", "KiBy": "KiB", "512By": "512 bytes", "{tick}": "ticks"}
# Inputs of the caller and the descriptions of fields and constants have no figures.
NO_FIGURES = {"rt_opts", "rt_command_opts", "rt_trace_opts", "rt_recorder_opts", "rt_fd",
              "rt_field", "rt_constant"}
COLUMNS = ["Field", "Unit", "What it is", "Definition and source"]
RUST_TYPES = {"uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64", "int64_t": "i64",
              "double": "f64", "struct rt_rusage": "rt_rusage"}


class Entry(NamedTuple):
    """A field, as fields.def describes it."""
    name: str
    type: str  # U32, CHARS ...
    role: str  # META, COUNTER or GAUGE
    bits: List[str]
    unit: str
    text: str  # empty for a DIFFERENCE(): that of struct rt_metrics


def arguments(call: str) -> List[str]:
    """The arguments of a call of a macro, without the quotes of strings."""
    words = re.findall(r'((?:[^,"]|"(?:\\.|[^"\\])*")+)', call)
    return [re.sub(r'^"|"$|"\s+"', "", word.strip()).replace('\\"', '"') for word in words]


def entry(macro: str, args: List[str]) -> Entry:
    if macro == "DIFFERENCE":
        args = [args[0], "U64", "COUNTER", args[1], "", ""]
    elif macro == "META":
        args = [args[0], args[1], "META", "0", *args[2:]]
    elif macro in ("COUNTER", "GAUGE"):
        args = [args[0], "U64", macro, *args[1:]]
    name, kind, role, bits, unit, text = args
    return Entry(name, kind, role, re.findall(r"RT_HAS_\w+", bits), unit, text)


def read_fields(text: str) -> Dict[str, List[Entry]]:
    """The fields of each struct, by its name in the header."""
    structs: Dict[str, List[Entry]] = {}
    calls = re.findall(r'^([A-Z]+)\(((?:[^()"]|"(?:\\.|[^"\\])*")*)\)$', text, re.MULTILINE)
    for macro, inner in calls:
        args = arguments(inner)
        if macro == "STRUCT":
            current = structs.setdefault("rt_" + args[0], [])
        elif macro in ("COUNTER", "GAUGE", "META", "FIELD", "DIFFERENCE"):
            current.append(entry(macro, args))
    units = {field.name: field.unit for field in structs["rt_metrics"]}
    structs["rt_delta"] = [field._replace(unit=field.unit or units.get(field.name, ""))
                           for field in structs["rt_delta"]]
    return structs


FIELDS = read_fields((SOURCE / "lib/api/fields.def").read_text())


# docs/units.md


def meaning(struct: str, field: Entry) -> str:
    """E.g.: "Counter, `RT_HAS_IO_CALLS`. Calls of read(2) and the like. Since 0.3"."""
    role = [field.role.capitalize()] if field.role != "META" and field.text else []
    marks = ", ".join([*role, " with ".join(f"`{bit}`" for bit in field.bits)]).strip(", ")
    text = re.sub(r"\b(RT_[A-Z_]+)\b", r"`\1`", field.text)
    release = PUBLIC.since[f"{struct}.{field.name}"]
    since = f"Since {release}" if release != PUBLIC.since[struct] else ""
    return ". ".join(filter(None, [marks, text[:1].upper() + text[1:], since]))


def definition_in_header(struct: str, name: str) -> str:
    """What the comment of the header says more than fields.def."""
    doc = next(field.doc for field in PUBLIC.structs[struct].fields if field.name == name)
    doc = re.sub(r"^/\*\*<?|\*/$|@since .*", "", doc.replace(" * ", " "))
    marks = r"^\s*(?:Counter|Gauge)?[, ]*(?:RT_HAS_\w+)?[.:]\s*"
    return re.sub(marks, "", doc.strip()).rstrip(" .")


def row(struct: str, field: Entry, definitions: Dict[str, str]) -> str:
    unit = "text" if field.type == "CHARS" else WORDS_OF_UNIT.get(field.unit, field.unit)
    last = definitions.get(field.name)
    if last is None:
        last = definition_in_header(struct, field.name)
    return f"| `{field.name}` | {unit} | {meaning(struct, field)} | {last} |".replace("|  |", "| |")


def table(struct: str, names: List[str], definitions: Dict[str, str]) -> str:
    """A table that has rows of these names, and of the fields that have no row and come next."""
    fields = FIELDS[struct]
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for at, field in enumerate(fields):
        is_next = at > 0 and fields[at - 1].name in names and field.name not in definitions
        if field.name in names or is_next:
            names = [*names, field.name]
            lines.append(row(struct, field, definitions))
    return "\n".join(lines) + "\n"


def section(text: str) -> str:
    struct = re.match(r"## struct (rt_\w+)", text)
    if not struct or struct[1] in NO_FIGURES:
        return text
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*?) ?\|$", text, re.MULTILINE)
    definitions = dict(rows)

    def replace(match: "re.Match[str]") -> str:
        names = re.findall(r"^\| `(\w+)` \|", match[0], re.MULTILINE)
        return table(struct[1], names, definitions)  # type: ignore[index]

    return re.sub(r"^\| Field \|.*\n(?:\|.*\n)+", replace, text, flags=re.MULTILINE)


def units(text: str) -> str:
    return "".join(map(section, re.split(r"^(?=## )", text, flags=re.MULTILINE)))


# The bindings


def constants() -> Iterator[Tuple[str, int, bool]]:
    """Each constant of the header: name, value, and whether it is a bit."""
    text = header.text_of(HEADER)
    for name, value in PUBLIC.numbers.items():
        literal = re.search(rf"^#define {name} (\S+)", text, re.MULTILINE)
        assert literal, name
        yield name, value, literal[1].startswith("0x")


def literal_of(value: int, is_bit: bool) -> str:
    return f"1 << {value.bit_length() - 1}" if is_bit else str(value)


def between(text: str, comment: str, lines: List[str]) -> str:
    """Replace what stands between the two comments that the script leaves."""
    first, last = f"{comment} {RUN}.\n", f"{comment} End of what is written.\n"
    before, _, rest = text.partition(first)
    _, _, after = rest.partition(last)
    assert last in rest, f"no {first}"
    return before + first + "\n".join(lines) + "\n" + last + after


def group_of(name: str) -> str:
    words = name.split("_")
    return "_".join(words[: 2 if words[0] == "TRACE" else 1])


def python(text: str) -> str:
    lines: List[str] = []
    before = ""
    for full_name, value, is_bit in constants():
        name = full_name[len("RT_"):]
        # The module knows these by the tables of the library.
        if group_of(name) in ("VERSION", "STRUCT", "TYPE", "FIELD", "CONSTANTS"):
            continue
        if before and group_of(name) != before:
            lines.append("")
        before = group_of(name)
        lines.append(f"{name} = {literal_of(value, is_bit)}")
    return between(text, "#", lines)


def is_by_hand(name: str) -> bool:
    """bindgen would give these the smallest type that fits: see update-bindings.sh."""
    return name.startswith(("RT_RUSAGE_", "RT_HAS_"))


def rust(text: str) -> str:
    return between(text, "//", [
        f"pub const {name}: {'u64' if is_bit else 'i32'} = {literal_of(value, is_bit)};"
        for name, value, is_bit in constants() if is_by_hand(name)])


def rust_field(field: header.Field) -> str:
    chars = re.fullmatch(r"char\[(\d+)\]", field.type)
    kind = (f"[::std::os::raw::c_char; {chars[1]}usize]" if chars
            else RUST_TYPES.get(field.type, "?"))
    return f"    pub {field.name + ('_' if field.name == 'type' else '')}: {kind},"


def bindgen(text: str) -> str:
    """What bindgen makes of constants and structs. A new struct or function needs bindgen."""
    lines = [f"pub const {name}: u32 = {value};\n" for name, value, _ in constants()
             if not is_by_hand(name) and not name.startswith("RT_VERSION_")]
    text = re.sub(r"(?:^pub const RT_\w+: u32 = \d+;\n)+", "".join(lines), text, count=1,
                  flags=re.MULTILINE)
    for struct in PUBLIC.structs.values():
        if not any("*" in field.type for field in struct.fields):
            fields = "\n".join(map(rust_field, struct.fields))
            text = re.sub(rf"(?<=pub struct {struct.name} {{\n).*?(?=\n}})",
                          lambda _, fields=fields: fields, text, count=1, flags=re.DOTALL)
    return text


WRITTEN: Dict[str, Callable[[str], str]] = {
    "docs/units.md": units,
    "examples/python/rtrack.py": python,
    "examples/rust/rtrack-sys/src/bindings.rs": bindgen,
    "examples/rust/rtrack-sys/src/lib.rs": rust,
}


def main(is_check: bool) -> int:
    is_same = True
    for name, update in WRITTEN.items():
        path = SOURCE / name
        old = path.read_text()
        new = update(old)
        if new != old and is_check:
            is_same = False
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), name, f"{name} that would be written"))
        elif new != old:
            path.write_text(new)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
