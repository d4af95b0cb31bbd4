# SPDX-License-Identifier: MIT
"""Break the library in many small ways, one at a time, and see whether a test notices.

mutation/run.sh calls this, in a place where a mutant can do little harm.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import mutants
import reach
import report
import tests


class Bench:
    """A copy of the sources with its build, in which one mutant at a time is tried."""

    def __init__(self, root, build, guard, known, seconds):
        self.root, self.build, self.guard = root, build, guard
        self.known, self.seconds = known, seconds

    def compile(self):
        done = subprocess.run(["ninja", "-C", str(self.build), "all", "meson-test-prereq"],
                              capture_output=True, text=True, check=False)
        return done.returncode == 0

    def try_one(self, mutant):
        """Returns the verdict, and what there is to say of it."""
        path = self.root / mutant.file
        source = path.read_bytes()
        candidates = self.known.of_line(mutant.file, mutant.line)
        if not candidates:
            return "not run", "no test runs the line"
        path.write_bytes(mutant.apply(source))
        try:
            if not self.compile():
                return "not built", ""
            return self.run_tests(candidates)
        finally:
            path.write_bytes(source)

    def run_tests(self, candidates):
        """The fastest tests first, as long as there is time."""
        start = time.monotonic()
        for number, name in enumerate(candidates):
            usual = self.known.seconds[name]
            if number and time.monotonic() - start + usual > self.seconds:
                return "survived", f"{number} of {len(candidates)} tests passed"
            failed = tests.run(self.build, self.guard, name, int(10 + 4 * usual))
            if failed:
                return "killed", f"{name}: {failed}"
        return "survived", f"all {len(candidates)} tests passed"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/mutation/run.sh")
    parser.add_argument("--count", type=int, default=300, help="mutants (300)")
    parser.add_argument("--seed", default="1", help="another seed draws others")
    parser.add_argument("--seconds", type=int, default=240, help="tests for each mutant (240)")
    parser.add_argument("--report", type=Path, help="Markdown file to write the result to")
    parser.add_argument("--work", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--guard", required=True, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help="sources, such as lib/parse/stat.c; all of lib/")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    work = arguments.work
    root = work / "source"
    known = reach.find(work / "counting", root, arguments.guard, work / "reach")
    found = mutants.find_mutants(work / "build", root, arguments.seed, arguments.files)
    drawn = mutants.draw(found, arguments.count, arguments.seed)
    bench = Bench(root, work / "build", arguments.guard, known, arguments.seconds)
    results = []
    for number, mutant in enumerate(drawn, 1):
        change = mutant.describe((root / mutant.file).read_bytes())
        verdict, detail = bench.try_one(mutant)
        results.append({"file": mutant.file, "line": mutant.line, "rule": mutant.rule,
                        "change": change, "verdict": verdict, "detail": detail})
        print(f"[{number} of {len(drawn)}] {mutant.file}:{mutant.line} {mutant.rule}: "
              f"{change}: {verdict} ({detail})", flush=True)
        (work / "results.json").write_text(json.dumps(results, indent=1))
    text = report.of(results, sum(map(len, found.values())), arguments.seed)
    if arguments.report:
        arguments.report.write_text(text)
    print(text)


main()
