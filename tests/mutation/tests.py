# SPDX-License-Identifier: MIT
"""The tests of a build, and how one of them is run."""

import json
import os
import subprocess

TIMED_OUT = 124
# They look at the sources or take minutes. What is left runs the library.
LEFT_OUT = {"style", "docs", "bench", "abi"}


def names(build):
    """In the order of Meson, without the suites that run nothing of lib/."""
    text = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True,
                          capture_output=True, text=True).stdout
    found = []
    for test in json.loads(text):
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if not suites & LEFT_OUT:
            found.append(test["name"])
    return list(dict.fromkeys(found))


def run(build, guard, name, seconds, environment=None):
    """Returns "" if it passes; otherwise how it failed."""
    command = [guard, str(seconds), "meson", "test", "-C", str(build), "--no-rebuild",
               "--num-processes=1", name]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})}, check=False).returncode
    if code == 0:
        return ""
    return "it hangs" if code == TIMED_OUT else f"exit code {code}"
