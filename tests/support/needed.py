#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Print the files that tests of a build need, for ninja.

Usage: needed.py BUILD TEST..."""
import json
import os
import sys
from typing import Any


def read(build: str, what: str) -> Any:
    with open(os.path.join(build, "meson-info", f"intro-{what}.json")) as file:
        return json.load(file)


def main() -> None:
    build, wanted = os.path.realpath(sys.argv[1]), sys.argv[2:]
    files = {target["id"]: target["filename"] for target in read(build, "targets")}
    needed = set()
    for test in read(build, "tests"):
        if test["name"] in wanted:
            needed.update(*(files[target] for target in test["depends"]))
    print(*sorted(os.path.relpath(path, build) for path in needed), sep="\n")


if __name__ == "__main__":
    main()
