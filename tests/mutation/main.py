# SPDX-License-Identifier: MIT
"""Break the library in many small ways, one at a time, and see whether a test notices.

mutation/run.sh calls this for each step, in a place where a mutant can do little harm.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import mutants
import reach
import report
import tests
from bench import Bench
from results import Results


class Run:
    """What the steps share: folders, results and the mutants drawn."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.work = arguments.work
        self.place = self.work / f"worker-{arguments.worker}"
        self.counting = self.work / "counting"
        self.reached = Results(self.work / "reach")
        self.results = Results(self.work / f"seed-{arguments.seed}")

    def reach(self):
        reach.run_all(self.reached, self.counting, self.work / "source", self.arguments.guard)

    def find(self):
        """Returns those drawn, and the number of possible ones."""
        found = mutants.find_mutants(self.place / "build", self.place / "source",
                                     self.arguments.seed, self.arguments.files)
        drawn = mutants.draw(found, self.arguments.count, self.arguments.seed)
        return drawn, sum(map(len, found.values()))

    def restore(self):
        """An earlier run may have been killed while a file was changed."""
        for path in (self.place / "source" / "lib").rglob("*.c"):
            source = path.relative_to(self.place / "source").read_bytes()
            if path.read_bytes() != source:
                path.write_bytes(source)

    def bench(self):
        self.restore()
        known = reach.Reach(self.reached, tests.of_build(self.counting))
        bench = Bench(self.place / "source", self.place / "build", self.arguments.guard, known,
                      self.arguments.seconds)
        bench.use_reference(self.counting)
        return bench

    def mutants(self):
        """Those without a result, and survivors that there are more tests or seconds for now."""
        bench = self.bench()
        for mutant in self.find()[0]:
            result = self.results.get(mutant.name()) or new_result(bench.root, mutant)
            more = result["verdict"] in ("survived", "not run") \
                and result["seconds"] < bench.seconds and bench.candidates(mutant, result)
            if (more or not result["verdict"]) and self.results.claim(mutant.name()):
                self.try_one(bench, mutant, result)

    def alone(self):
        """Try again what hung while other workers ran: it may have been slow alone."""
        bench = self.bench()
        for mutant in self.find()[0]:
            result = self.results.get(mutant.name())
            if result and result["how"] == "it hangs" and not result["alone"]:
                result.update(how="", alone=True)
                self.try_one(bench, mutant, result)

    def try_one(self, bench, mutant, result):
        bench.try_one(mutant, result)
        self.results.put(mutant.name(), result)
        print(f"{mutant.file}:{mutant.line} {mutant.rule}: {result['change']}: "
              f"{report.describe(result)}", flush=True)

    def report(self):
        drawn, possible = self.find()
        results = [self.results.get(mutant.name()) for mutant in drawn]
        text = report.of([result for result in results if result], len(drawn), possible,
                         self.arguments.seed)
        if self.arguments.report:
            self.arguments.report.write_text(text)
        print(text)


def new_result(root, mutant):
    return {"file": mutant.file, "line": mutant.line, "rule": mutant.rule,
            "change": mutant.describe((root / mutant.file).read_bytes()), "verdict": "",
            "test": "", "how": "", "passed": [], "left": 0, "seconds": 0, "alone": False}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/mutation/run.sh")
    parser.add_argument("--count", type=int, default=300, help="mutants (300)")
    parser.add_argument("--seed", default="1", help="another seed draws others")
    parser.add_argument("--seconds", type=int, default=40, help="tests for each mutant (40)")
    parser.add_argument("--report", type=Path, help="Markdown file to write the result to")
    parser.add_argument("--step", choices=("reach", "mutants", "alone", "report"), required=True,
                        help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--guard", required=True, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help="sources, such as lib/parse/stat.c; all of lib/")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    getattr(Run(arguments), arguments.step)()


main()
