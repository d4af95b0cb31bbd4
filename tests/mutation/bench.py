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

    def try_one(self, mutant):
        """Returns the verdict, and what there is to say of it."""
        path = self.root / mutant.file
        source = path.read_bytes()
        candidates = self.known.of_line(mutant.file, mutant.line)
        if not candidates:
            return "not run", "no test runs the file"
        objects = self.objects[mutant.file]
        if not self.compile(objects):
            raise RuntimeError(f"{mutant.file} cannot be built")
        before = self.read_objects(mutant.file)
        path.write_bytes(mutant.apply(source))
        try:
            if not self.compile(objects):
                return "not built", ""
            if self.read_objects(mutant.file) == before:
                return "equivalent", "it compiles to the same object code"
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
            if not self.compile(self.tests[name].targets):
                return "not built", f"the programs of {name} cannot be linked"
            failed = self.fails(name, int(20 + 8 * usual))
            if failed:
                return "killed", f"{name}: {failed}"
        return "survived", f"all {len(candidates)} tests passed"

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
