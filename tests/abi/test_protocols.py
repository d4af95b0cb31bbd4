# SPDX-License-Identifier: MIT
"""Compare the protocols with the supervisor and with the BPF plug-in with what is recorded of them.

Files of another release are recognized by the number of the protocol alone, so it has to change
with whatever the two sides agree on."""
import ctypes
import pathlib
import platform
import re
import unittest

import protocol
from harness import SOURCE, need, skip

RECORDS = SOURCE / "tests/abi/protocols"
HEADERS = {
    "supervisor": ("lib/os/protocol/supervisor_protocol.h", r'RTI_PROTOCOL "(\d+)"'),
    "batch": ("lib/bpf/batch/batch.h", r"RTI_BATCH_PLUGIN (\d+)u"),
}


def is_recorded_platform() -> bool:
    """Other C libraries have another struct rusage."""
    return platform.libc_ver()[0] == "glibc" and ctypes.sizeof(ctypes.c_long) == 8


class Protocols(unittest.TestCase):
    def check(self, name: str) -> None:
        place, pattern = HEADERS[name]
        now = protocol.dump(SOURCE / place)
        number = re.search(pattern, now)
        assert number, now
        record = RECORDS / f"{name}-{number[1]}.txt"
        how = f"python3 tests/abi/protocol.py {place} >tests/abi/protocols/{name}-NUMBER.txt"
        if not record.exists():
            self.fail(f"{record.name} is missing. If the number is new, record it: {how}")
        self.assertEqual(now.splitlines(), record.read_text().splitlines(),
                         f"{place} differs from {record.name}: give it a new number, and {how}")

    def test_supervisor_protocol_of_a_number_is_unchanged(self) -> None:
        self.check("supervisor")

    def test_batch_protocol_of_a_number_is_unchanged(self) -> None:
        self.check("batch")

    def test_record_has_every_struct_and_enum(self) -> None:
        for place, _ in HEADERS.values():
            text = pathlib.Path(SOURCE, place).read_text()
            dumped = protocol.dump(SOURCE / place)
            for struct in re.findall(r"^struct (\w+) \{", text, re.M):
                self.assertIn(f"struct {struct} ", dumped)
            for value in re.findall(r"^\t(RTI_[A-Z_]+)[ ,]", text, re.M):
                self.assertRegex(dumped, rf"(?m)^{value} \d+$")


if __name__ == "__main__":
    need("cc")
    if not is_recorded_platform():
        skip("the layouts are recorded for 64-bit systems with glibc")
    unittest.main(verbosity=2)
