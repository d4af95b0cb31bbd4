# SPDX-License-Identifier: MIT
"""The tests of a build, and how one of them is run."""

import json
import os
import re
import subprocess
import time
from collections import Counter
from typing import NamedTuple

TIMED_OUT = 124
SKIPPED = 77
# They look at the sources, build programs of their own, or take minutes.
SUITES_LEFT_OUT = {"style", "docs", "bench", "abi", "accuracy", "consumers"}
# What tests start beside their own program. Ninja does nothing for those that are as they were.
STARTED = re.compile(r"lib/librtrack\.so[.\d]*|lib/rtrack-(supervisor|tracer)-\d+|"
                     r"lib/librtrack-bpf\.so[.\d]*|examples/rtrack/rtrack")


class Test(NamedTuple):
    name: str
    command: list
    environment: dict
    is_tap: bool
    targets: list  # what Ninja has to build for it


def introspect(build, what):
    text = subprocess.run(["meson", "introspect", what, str(build)], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)


def of_build(build):
    """By name, in the order of Meson. Tests that must run alone are left out."""
    files = {target["id"]: [os.path.relpath(file, build) for file in target["filename"]]
             for target in introspect(build, "--targets")}
    started = [file for names in files.values() for file in names if STARTED.fullmatch(file)]
    found = {}
    known = introspect(build, "--tests")
    names = Counter(test["name"] for test in known)
    for test in known:
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if suites & SUITES_LEFT_OUT or not test["is_parallel"]:
            continue
        targets = [file for target in test["depends"] for file in files[target]]
        if "unit" not in suites:
            targets += started
        name = test["name"]
        if names[name] > 1:
            name += f" ({min(suites)})"
        found[name] = Test(name, test["cmd"], test["env"], test["protocol"] == "tap", targets)
    return found


def run(build, guard, test, seconds, environment=None):
    """Returns "" if it passes, otherwise how it failed; and how many seconds it took."""
    start = time.monotonic()
    done = subprocess.run([guard, str(seconds), *test.command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=build,
                          env={**os.environ, **test.environment, **(environment or {})},
                          check=False)
    failed = judge(test, done.returncode, done.stdout.decode(errors="replace"))
    return failed, round(time.monotonic() - start, 2)


def judge(test, code, output):
    if code == TIMED_OUT:
        return "it hangs"
    if code not in (0, SKIPPED):
        return f"exit code {code}"
    if not test.is_tap or code == SKIPPED:
        return ""
    failed = re.search(r"^not ok \d+ (?!.*# TODO)(.*)$", output, re.MULTILINE)
    if failed:
        return failed[1].strip()
    plan = re.search(r"^1\.\.(\d+)", output, re.MULTILINE)
    if not plan or int(plan[1]) != len(re.findall(r"^ok ", output, re.MULTILINE)):
        return "it stopped half way"
    return ""
