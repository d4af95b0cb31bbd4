# SPDX-License-Identifier: MIT
"""Tries one mutant at a time, in a copy of the sources with its build."""

import json
import subprocess
import tempfile
import time

import tests


class Bench:
    def __init__(self, root, build, guard, known, seconds):
        self.root, self.build, self.guard = root, build, guard
        self.known, self.seconds = known, seconds
        self.tests = tests.of_build(build)
        self.objects = objects_by_source(root, build)
        self.reference = None  # a build without mutants, and its tests

    def use_reference(self, build):
        self.reference = build, tests.of_build(build)

    def compile(self, targets):
        done = subprocess.run(["ninja", "-C", str(self.build), *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    def read_objects(self, file):
        return [(self.build / name).read_bytes() for name in self.objects[file]]

    def candidates(self, mutant, result):
        """Tests that run the mutant's line and have not been tried in an earlier run."""
        found = self.known.of_line(mutant.file, mutant.line)
        return [name for name in found if name not in result["passed"]]

    def try_one(self, mutant, result):
        """Sets the verdict, and what there is to say of it."""
        path = self.root / mutant.file
        source = path.read_bytes()
        objects = self.objects[mutant.file]
        if not self.compile(objects):
            raise RuntimeError(f"{mutant.file} cannot be built")
        before = self.read_objects(mutant.file)
        path.write_bytes(mutant.apply(source))
        try:
            if not self.compile(objects):
                result["verdict"] = "not built"
            elif self.read_objects(mutant.file) == before:
                result["verdict"] = "equivalent"
            else:
                self.run_tests(self.candidates(mutant, result), result)
        finally:
            path.write_bytes(source)

    def run_tests(self, candidates, result):
        """In their order. A test for which there is no time left is not tried."""
        start = time.monotonic() - result["seconds"]
        result["verdict"] = "survived" if candidates or result["passed"] else "not run"
        for number, name in enumerate(candidates):
            usual = self.known.seconds[name]
            if number and time.monotonic() - start + usual > self.seconds:
                continue
            if not self.compile(self.tests[name].targets):
                result["verdict"] = "not built"
                break
            failed = self.fails(name, int(20 + 8 * usual))
            if failed:
                result.update(verdict="killed", test=name, how=failed)
                break
            result["passed"].append(name)
        result["seconds"] = round(time.monotonic() - start, 1)
        result["left"] = len(set(candidates) - set(result["passed"]))

    def fails(self, name, limit):
        """How a test fails because of the mutant. A busy machine may fail it, too: so it has to
        pass without the mutant right after it, and to fail once more with it. What hangs is tried
        again when nothing else runs: see main.py."""
        failed, _ = tests.run(self.build, self.guard, self.tests[name], limit)
        if not failed or failed == "it hangs":
            return failed
        build, same = self.reference
        with tempfile.TemporaryDirectory(dir=build.parent) as counts:
            without, _ = tests.run(build, self.guard, same[name], limit, {"GCOV_PREFIX": counts})
        if without:
            return ""
        again, _ = tests.run(self.build, self.guard, self.tests[name], limit)
        return again and failed


def objects_by_source(root, build):
    """The object files that each source of lib/ is compiled to, relative to the build."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = (build / entry["file"]).resolve()
        if root / "lib" in file.parents:
            found.setdefault(str(file.relative_to(root)), []).append(entry["output"])
    return found
