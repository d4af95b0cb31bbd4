# SPDX-License-Identifier: MIT
"""Build the Rust crates offline against the installed library, and run their tests."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import unittest
from typing import ClassVar, Dict

import header
from harness import HEADER, SOURCE, need, run, skip
from staged import Staged, staged

RUST = SOURCE / "examples/rust"
REGISTRY = pathlib.Path("/usr/share/cargo/registry")
SYSTEM_PATH = "/usr/bin:/bin"  # the packaged toolchain, not one in a home directory


class Rust(unittest.TestCase):
    stage: ClassVar[Staged]
    crates: ClassVar[pathlib.Path]
    env: ClassVar[Dict[str, str]]

    @classmethod
    def setUpClass(cls) -> None:
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.stage = stack.enter_context(staged())
        # A copy, since cargo writes a lock file beside the workspace.
        cls.crates = cls.stage.work / "rust"
        shutil.copytree(RUST, cls.crates, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
        cls.env = {
            **cls.stage.env, "CARGO_TARGET_DIR": str(cls.stage.work / "target"),
            "PATH": SYSTEM_PATH}
        cls.env["CARGO_HOME"] = str(cls.stage.work / "cargo-home")
        cls.env.pop("RUSTC", None)

    def test_crates_build_and_pass_tests(self) -> None:
        out = run(["cargo", "test", "--offline", "--quiet", "--workspace"], env=self.env,
                  cwd=self.crates)
        self.assertGreaterEqual(sum(int(n) for n in re.findall(r"(\d+) passed", out)), 10, out)

    def test_tree_example_lists_child(self) -> None:
        child = subprocess.Popen(["sleep", "60"])
        argv = [
            "cargo", "run", "--offline", "--quiet", "-p", "rtrack", "--example", "tree", "--",
            os.getpid()]
        try:
            out = run(argv, env=self.env, cwd=self.crates)
        finally:
            child.kill()
            child.wait()
        rows = [line.split() for line in out.splitlines()[1:]]
        self.assertEqual(rows[0][0], str(os.getpid()))
        self.assertIn([str(child.pid), str(os.getpid()), "sleep"],
                      [[r[0], r[1], r[-1]] for r in rows])

    def test_constants_match_header(self) -> None:
        text = "".join(
            (RUST / "rtrack-sys/src" / name).read_text() for name in ("lib.rs", "bindings.rs"))
        constants = {}
        for name, value in re.findall(r"^pub const (RT_\w+): \w+ = ([-\d <]+);$", text, re.M):
            # Safe to evaluate: only digits and shifts.
            constants[name] = int(eval(value, {"__builtins__": {}}))
        self.assertEqual(constants, header.read(HEADER).numbers)

    def test_bindings_match_bindgen_output(self) -> None:
        if not all(shutil.which(name, path=SYSTEM_PATH) for name in ("bindgen", "rustfmt")):
            self.skipTest("bindgen or rustfmt is not installed")
        if "bindgen 0.60." not in run(["bindgen", "--version"], env=self.env):
            self.skipTest("the bindings are those of bindgen 0.60")
        made = self.stage.work / "bindings.rs"
        run([self.crates / "update-bindings.sh", made], env=self.env)
        self.assertEqual(made.read_text(), (RUST / "rtrack-sys/src/bindings.rs").read_text())


if __name__ == "__main__":
    need("pkg-config")
    for program in ("cargo", "rustc"):
        if not shutil.which(program, path=SYSTEM_PATH):
            skip(f"{program} is not installed")
    if not list(REGISTRY.glob("pkg-config-*")):
        skip("librust-pkg-config-dev is not installed")
    unittest.main(verbosity=2)
