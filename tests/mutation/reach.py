# SPDX-License-Identifier: MIT
"""Which tests run which lines of lib/, by a build that counts lines (gcov)."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import tests

PATIENCE_S = 200
STARTED_BY = {"supervisor": "lib/command/supervisor_client.c",
              "tracer": "lib/trace/tracer_client.c"}


class Reach:
    """What each test reached, of those that pass without a mutant."""

    def __init__(self, results, known_tests):
        self.seconds = {}  # by test: how long it took
        self.lines = {}  # by file and line: the tests that ran it
        self.files = {}  # by file: the tests that ran some of it
        for name in known_tests:
            result = results.get(name)
            if result and not result["failed"]:
                self.add(name, result)

    def add(self, name, result):
        self.seconds[name] = result["seconds"]
        for file, lines in result["lines"].items():
            if lines:
                self.files.setdefault(file, []).append(name)
            for line in lines:
                self.lines.setdefault((file, line), []).append(name)

    def of_line(self, file, line):
        """The tests that run a line: first those of the file, then of its folder, fastest first.

        A statement of several lines counts for one of them. A process that ends by _exit() does not
        count: for a line that seems to run nowhere those that run the file have to do, or the file
        of the library that starts the program.
        """
        path = Path(file).relative_to("lib").with_suffix("")
        found = self.files.get(file) or self.files.get(STARTED_BY.get(path.parent.name), [])
        for near in (line + 1, line - 2, line - 1, line):
            found = self.lines.get((file, near), found)
        return sorted(found, key=lambda test: (path.name not in test,
                                               not test.startswith(f"{path.parent.name}/"),
                                               self.seconds[test]))


def run_all(results, build, root, guard):
    """Run each test that has no result yet."""
    for name, test in tests.of_build(build).items():
        if results.get(name) or not results.claim(name):
            continue
        result = run_one(build, root, guard, test)
        results.put(name, result)
        failed = f": left out ({result['failed']})" if result["failed"] else ""
        print(f"{name}: {result['seconds']} s{failed}", flush=True)


def run_one(build, root, guard, test):
    with tempfile.TemporaryDirectory(dir=build.parent) as counts:
        Path(counts).chmod(0o777)  # some tests run programs as another user
        failed, seconds = tests.run(build, guard, test, PATIENCE_S, {"GCOV_PREFIX": counts})
        lines = {} if failed else reached(Path(counts), root)
        return {"failed": failed, "seconds": seconds, "lines": lines}


def reached(counts, root):
    """The lines of lib/ that have run, by the counts of one test."""
    found = {}
    data = []
    for counted in counts.rglob("*.gcda"):
        notes = Path("/") / counted.relative_to(counts).with_suffix(".gcno")
        if notes.exists() and re.search("/lib/|_lib_", str(notes)):
            counted.with_suffix(".gcno").symlink_to(notes)
            data.append(str(counted))
    if not data:
        return found
    text = subprocess.run(["gcov", "--json-format", "--stdout", *data], cwd=counts,
                          capture_output=True, text=True, check=True).stdout
    for one in filter(str.strip, text.splitlines()):
        report = json.loads(one)
        for file in report["files"]:
            path = (Path(report["current_working_directory"]) / file["file"]).resolve()
            path = absolute(path, file["file"], root)
            if path and path.suffix == ".c":
                name = str(path.relative_to(root))
                found.setdefault(name, set()).update(
                    line["line_number"] for line in file["lines"] if line["count"] > 0)
    return {name: sorted(lines) for name, lines in found.items()}


# gcov names a file as the compiler was called with it: relative to the build directory.
def absolute(path, name, root):
    if root / "lib" in path.parents:
        return path
    at = name.find("lib/")
    path = root / name[at:] if at >= 0 else None
    return path if path and path.exists() else None
