# SPDX-License-Identifier: MIT
"""Compare the field tables of the library with the header.

Checks every field, its offset, and the unit, role and validity bit that its comment gives."""
import re
import sys
import unittest
from typing import Dict, List, NamedTuple, Set

import header
import layout
from harness import HEADER, SOURCE, run

DUMP = sys.argv.pop(1)
DECLARED = header.read(HEADER)
NUMBERS = DECLARED.numbers
TYPES = {
    "uint32_t": "U32", "int32_t": "I32", "uint64_t": "U64", "int64_t": "I64", "double": "DOUBLE"}
MASKS = ("valid", "partial", "estimated")
UNITS = {
    "_ns": "ns", "_bytes": "By", "ru_utime": "s", "ru_stime": "s", "ru_maxrss": "KiBy",
    "block": "512By"}
INPUTS = {"rt_opts", "rt_command_opts", "rt_trace_opts"}  # where 0 means the default
# Their fields with a bit are counters, unless they are marked as gauges.
COUNTERS = {"rt_process", "rt_metrics"}
FROZEN = {"rt_rusage", "rt_fd"}  # they never grow, so they have no size
DESCRIPTION = "rt_field"
LARGEST = 4096
# Fields that are later than release 0.2 and have no bit of their own. No other may follow: to an
# older library such a field is 0 under a bit that it sets. docs/abi.md lists them.
WITHOUT_OWN_BIT = {
    # 0 is unknown, from any library.
    "rt_command_process.command_line_bytes", "rt_command_process.cwd_bytes",
    "rt_process.start_realtime_ns", "rt_process.reserved_2",
    "rt_metrics.account_start_realtime_ns",
    # An older library marks no difference by it.
    "rt_metrics.cpu_late_ns", "rt_metrics.since_partial", "rt_metrics.since_valid"}


class Row(NamedTuple):
    name: str
    offset: int
    length: int
    type: int
    role: int
    has: int
    unit: str
    text: str


def tables() -> Dict[int, List[Row]]:
    rows: Dict[int, List[Row]] = {}
    for line in run([DUMP]).splitlines():
        words = line.split(" ")
        if words[0] == "struct":
            current = rows.setdefault(int(words[1]), [])
        else:
            offset, length, type_, role, has = map(int, words[1:6])
            current.append(Row(words[0], offset, length, type_, role, has, words[6],
                               " ".join(words[7:])))
    return rows


TABLES = tables()
SIZES = {int(id): int(size) for id, size in re.findall(r"^struct (\d+) (\d+)$", run([DUMP]), re.M)}
IDS = {
    "rt_" + name[len("RT_STRUCT_"):].lower(): id
    for name, id in NUMBERS.items() if name.startswith("RT_STRUCT_")}


def type_number(field: header.Field) -> int:
    if field.type.startswith("char["):
        return NUMBERS["RT_TYPE_CHARS"]
    if "*" in field.type:
        return NUMBERS["RT_TYPE_POINTER"]
    if field.type == "struct rt_rusage":
        return NUMBERS["RT_TYPE_RUSAGE"]
    return NUMBERS["RT_TYPE_" + TYPES[field.type]]


def documented_role(doc: str) -> int:
    word = re.search(r"\b(Counter|Gauge)\b", doc)
    return NUMBERS["RT_FIELD_" + word[1].upper()] if word else 0


def named_bits(field: header.Field) -> Set[str]:
    return set(re.findall(r"\bRT_HAS_[A-Z_]+[A-Z]\b", field.doc))


def named_flags(field: header.Field) -> Set[str]:
    """Bits of rt_command_process.flags say of some figures that they are known."""
    return set(re.findall(r"\bRT_PROCESS_[A-Z_]+[A-Z]\b", field.doc))


class Layout(unittest.TestCase):
    def test_structs_all_have_field_table(self) -> None:
        self.assertEqual(set(IDS) | {DESCRIPTION, "rt_fd"}, set(DECLARED.structs))
        self.assertEqual(set(IDS.values()), set(TABLES))

    def test_lists_of_constants_have_those_of_header(self) -> None:
        lists = "".join((SOURCE / "lib/api" / name).read_text()
                        for name in ("constants.def", "fields.def"))
        names = re.findall(r"^(?:CONSTANT|DOMAIN|STRUCT)\((?:\w+, )?(RT_\w+)", lists, re.MULTILINE)
        self.assertEqual(sorted([*names, *filter(re.compile("RT_VERSION_").match, NUMBERS)]),
                         sorted(NUMBERS))

    def test_field_table_offsets_and_types_match_header(self) -> None:
        for name, id in IDS.items():
            struct = DECLARED.structs[name]
            offsets = struct.offsets()
            declared = [(f.name, offsets[f.name], f.size, type_number(f)) for f in struct.fields]
            self.assertEqual([row[:4] for row in TABLES[id]], declared, name)
            self.assertEqual(SIZES[id], struct.size(), name)

    def test_structs_have_no_padding(self) -> None:
        for struct in DECLARED.structs.values():
            self.assertEqual(sum(field.size for field in struct.fields), struct.size(), struct.name)
            self.assertLessEqual(struct.size(), LARGEST)
            if struct.name not in FROZEN:
                self.assertEqual((struct.fields[0].name, struct.fields[0].type),
                                 ("size", "uint32_t"), struct.name)

    def test_field_names_units_and_texts_fit_their_arrays(self) -> None:
        for rows in TABLES.values():
            for row in rows:
                self.assertLess(len(row.name), 40)
                self.assertLess(len(row.unit), 16)
                self.assertTrue(0 < len(row.text) < 103, row)  # one more may be cut

    def test_field_texts_are_parts_of_sentences(self) -> None:
        for rows in TABLES.values():
            for row in rows:
                self.assertRegex(row.text, r"^[A-Za-z0-9][^`]*[^. ]$")

    def test_field_unit_matches_name_suffix(self) -> None:
        for name, id in IDS.items():
            for row in TABLES[id]:
                for ending, unit in UNITS.items():
                    if row.name.endswith(ending):
                        self.assertEqual(row.unit, unit, f"{name}.{row.name}")

    def test_field_role_matches_header_comment(self) -> None:
        for name, id in IDS.items():
            for field, row in zip(DECLARED.structs[name].fields, TABLES[id]):
                role = documented_role(field.doc)
                if name in COUNTERS and named_bits(field) and field.name not in MASKS:
                    role = role or NUMBERS["RT_FIELD_COUNTER"]
                if role and name not in ("rt_delta", "rt_outcome"):
                    self.assertEqual(row.role, role, f"{name}.{row.name}: {field.doc}")

    def test_field_validity_bit_matches_header_comment(self) -> None:
        for name, id in IDS.items():
            if name == "rt_rusage":
                self.assertEqual([row.has for row in TABLES[id]], [1 << i for i in range(16)])
                continue
            has_mask = any(field.name == "valid" for field in DECLARED.structs[name].fields)
            for field, row in zip(DECLARED.structs[name].fields, TABLES[id]):
                bits = sum(NUMBERS[word] for word in named_bits(field))
                if has_mask and field.name not in MASKS:
                    self.assertEqual(row.has, bits, f"{name}.{row.name}: {field.doc}")

    def test_later_fields_bring_their_own_bit(self) -> None:
        old = header.read(SOURCE / "tests/abi/headers/0.2/rtrack/rtrack.h")
        without = set()
        for name in set(IDS) & set(old.structs) - INPUTS:
            names = {field.name for field in old.structs[name].fields}
            # An older library sets the bits of the fields that it knows of this struct alone.
            known = {bit for field in old.structs[name].fields for bit in named_bits(field)}
            for field in DECLARED.structs[name].fields:
                bits = named_bits(field) | named_flags(field)
                if field.name not in {*names, *MASKS} and not bits - known:
                    without.add(f"{name}.{field.name}")
        self.assertEqual(without, WITHOUT_OWN_BIT)

    def test_recorded_layout_assertions_still_hold(self) -> None:
        recorded = (SOURCE / "tests/abi/layout_lp64.h").read_text().splitlines()
        now = {re.sub(r">= \d+", ">=", line) for line in layout.assertions(DECLARED).splitlines()}
        self.assertGreater(len(recorded), 300)
        self.assertEqual([line for line in recorded if re.sub(r">= \d+", ">=", line) not in now],
                         [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
