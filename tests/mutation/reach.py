# SPDX-License-Identifier: MIT
"""Which tests run which lines of lib/, by a build that counts lines (gcov)."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import tests


class Reach:
    """What each test reached. Kept in files, since it takes long to find out."""

    def __init__(self):
        self.seconds = {}  # by test: how long it took
        self.lines = {}  # by file and line: the tests that ran it

    def of_line(self, file, line):
        """The tests that run a line, fastest first."""
        found = self.lines.get((file, line), [])
        return sorted(found, key=lambda test: self.seconds[test])

    def add(self, name, result):
        if result["failed"]:
            print(f"left out: {name} fails without a mutant ({result['failed']})", flush=True)
            return
        self.seconds[name] = result["seconds"]
        for file, lines in result["lines"].items():
            for line in lines:
                self.lines.setdefault((file, line), []).append(name)


def find(build, root, guard, kept):
    """Run each test that has no result in the folder `kept` yet."""
    known = Reach()
    names = tests.names(build)
    kept.mkdir(exist_ok=True)
    for number, name in enumerate(names, 1):
        path = kept / (name.replace("/", "-") + ".json")
        if not path.exists():
            path.write_text(json.dumps(run_one(build, root, guard, name)))
            print(f"[{number} of {len(names)}] {name}", flush=True)
        known.add(name, json.loads(path.read_text()))
    return known


def run_one(build, root, guard, name):
    with tempfile.TemporaryDirectory(dir=build.parent) as counts:
        Path(counts).chmod(0o777)  # some tests run programs as another user
        start = time.monotonic()
        failed = tests.run(build, guard, name, 1000, {"GCOV_PREFIX": counts})
        seconds = round(time.monotonic() - start, 2)
        lines = {} if failed else reached(Path(counts), root)
        return {"failed": failed, "seconds": seconds, "lines": lines}


def reached(counts, root):
    """The lines of lib/ that have run, by the counts of one test."""
    found = {}
    data = []
    for counted in counts.rglob("*.gcda"):
        notes = Path("/") / counted.relative_to(counts).with_suffix(".gcno")
        if notes.exists() and "/lib/" in str(notes):
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
