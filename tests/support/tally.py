#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Count the tests of several runs, and list the failed tests and why others were skipped.

Usage: tally.py LABEL=FILE..., where FILE is a testlog.json of Meson or a TAP file. A program that
reports tests as TAP or through Python's unittest counts once per test; any other program counts
once. A test that runs for several inputs counts once, and fails or is skipped if one of them is. A
failed test is listed with the comments before it (TAP), or with the last line of its traceback
(unittest). The last line is "N passed, N failed, N skipped". The exit status is 1 if any test
failed or none passed.
"""
import json
import re
import sys
from typing import Any, Dict, List, Tuple

TAP_TEST = re.compile(r"^(not )?ok\b *\d* *-? *(.*?)(?: *# *(skip|todo)\S* *(.*))?$", re.IGNORECASE)
# libcheck names file, case and test, and how it ended. The test has one line for each input.
LIBCHECK_TEST = re.compile(r"^(\S*\.c:[^:]*:\w+):")
TAP_PLAN = re.compile(r"^1\.\.(\d+)(?: *# *skip\S* *(.*))?$", re.IGNORECASE)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
# The test, and the text of its failure up to the next one.
UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (.*)\n((?:(?!=====).*\n)*)", re.MULTILINE)
# The type of an exception and the first line of its text.
EXCEPTION = re.compile(r"^(\w[\w.]*(?:Error|Exception|Expired|Interrupt)\b(?:: *\n.*|.*))$",
                       re.MULTILINE)
UNITTEST_SKIPPED = re.compile(r"^(.*?) \.\.\. skipped (['\"])(.*)\2$", re.MULTILINE)
NO_REASON = "no reason given"


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed: List[str] = []
        self.skipped: List[Tuple[str, str]] = []  # test, reason

    def add_tap(self, name: str, text: str) -> int:
        """Add the tests of a TAP output. Returns the number of failed tests.

        Planned tests without a report count as one that failed. E.g.: the program crashed."""
        planned = seen = 0
        failed: Dict[str, str] = {}
        skipped: Dict[str, Tuple[str, str]] = {}
        passed = set()
        comments: List[str] = []
        for line in text.splitlines():
            plan, test = TAP_PLAN.match(line), TAP_TEST.match(line)
            if plan:
                planned = int(plan[1])
                if planned == 0:
                    skipped[""] = (name, plan[2] or NO_REASON)
            elif test:
                seen += 1
                is_not_ok, label, directive, reason = test.groups(default="")
                of_inputs = LIBCHECK_TEST.match(label)
                key = of_inputs[1] if of_inputs else f"{seen}"
                if directive.lower() == "skip":
                    test_name = key if of_inputs else label
                    skipped.setdefault(key, (f"{name}: {test_name}", reason or NO_REASON))
                elif is_not_ok and directive.lower() != "todo":
                    failed.setdefault(key, ": ".join([f"{name}: {label}", *comments]))
                else:
                    passed.add(key)
                comments = []
            elif line.startswith("#"):
                comments.append(line[1:].strip())
        if seen < planned:
            failed[""] = f"{name}: a test did not report"
        self.failed += failed.values()
        self.skipped += [reason for key, reason in skipped.items() if key not in failed]
        self.passed += len(passed - failed.keys() - skipped.keys())
        return len(failed)

    def add_unittest(self, name: str, text: str) -> int:
        failed = UNITTEST_FAILED.findall(text)
        skipped = UNITTEST_SKIPPED.findall(text)
        ran = int(UNITTEST_RAN.search(text)[1])
        for test, report in failed:
            exceptions = [" ".join(text.split()) for text in EXCEPTION.findall(report)]
            self.failed.append(": ".join([name, test, *exceptions[-1:]]))
        self.skipped += [(f"{name}: {test.strip()}", reason) for test, _, reason in skipped]
        self.passed += max(ran - len(failed) - len(skipped), 0)
        return len(failed)

    def add_meson_test(self, label: str, record: Dict[str, Any]) -> None:
        name = f"{label}: {record['name']}"
        stdout, stderr = record.get("stdout", ""), record.get("stderr", "")
        is_good = record["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
        if any(map(TAP_PLAN.match, stdout.splitlines())):
            failed = self.add_tap(name, stdout)
        elif UNITTEST_RAN.search(stderr):
            failed = self.add_unittest(name, stderr)
        elif record["result"] == "SKIP":
            self.skipped.append((name, ((stdout + stderr).strip() or NO_REASON).splitlines()[-1]))
            return
        elif is_good:
            self.passed += 1
            return
        else:
            failed = 0
        if not is_good and not failed:
            self.failed.append(f"{name}: {record['result']}, exit status {record['returncode']}")

    def add_file(self, label: str, path: str) -> None:
        with open(path, encoding="utf-8", errors="replace") as file:
            if path.endswith(".json"):
                for line in file:
                    self.add_meson_test(label, json.loads(line))
            else:
                self.add_tap(label, file.read())


def main(arguments: List[str]) -> int:
    tally = Tally()
    for argument in arguments:
        tally.add_file(*argument.split("=", 1))
    by_reason: Dict[str, List[str]] = {}
    for test, reason in tally.skipped:
        by_reason.setdefault(reason, []).append(test)
    for reason, tests in by_reason.items():
        more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
        print(f"SKIP {tests[0]}{more}: {reason}")
    for reason in tally.failed:
        print("FAIL", reason)
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
