# SPDX-License-Identifier: MIT
"""Run every command and program of README.md against the library that README.md installs.

The install instructions run first, on a copy of the sources, into a staging directory. The other
blocks follow in their order. A block in an unknown language is an error. A "text" block is the
output of a program and is skipped.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict, List, NamedTuple, Set

from harness import SOURCE

RUST_SOURCES = "/usr/share/cargo/registry"  # of Debian's librust packages
# Another test runs this script, or it runs this test.
ELSEWHERE = {"./examples/quickstart.sh", "./tests/run.sh"}
TIME_LIMIT = 600


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks() -> List[Block]:
    text = (SOURCE / "README.md").read_text()
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], text.count("\n", 0, match.start()) + 1) for match in found]


def not_sources(directory: str, names: List[str]) -> Set[str]:
    made = {".git", "target", "__pycache__"}
    if pathlib.Path(directory) == SOURCE:
        made.update(name for name in names if name.startswith(("build", "_")))
    return made


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.scratch = pathlib.Path(temporary.name)
        cls.sources = cls.scratch / "sources"
        shutil.copytree(SOURCE, cls.sources, symlinks=True, ignore=not_sources)
        cls.stage = cls.scratch / "stage"
        cls.make_program("sudo", 'exec "$@"')  # staging needs no root, and sudo may be missing
        cls.make_program("ldconfig", ":")  # staging must not change the linker cache of the system
        cls.environment = cls.make_environment()

    @classmethod
    def make_program(cls, name: str, text: str) -> None:
        path = cls.scratch / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    @classmethod
    def make_environment(cls) -> Dict[str, str]:
        prefix = cls.stage / "usr/local"
        library = prefix / "lib"
        return {
            **os.environ,
            "DESTDIR": str(cls.stage),
            "PATH": f"{cls.scratch}/bin:{prefix}/bin:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(library),
            "PKG_CONFIG_PATH": str(library / "pkgconfig"),
            "PKG_CONFIG_SYSROOT_DIR": str(cls.stage),
            "PYTHONPATH": str(cls.sources / "examples/python"),
            "RUSTFLAGS": "-Dwarnings",
        }

    def execute(self, argv: List[str], cwd: pathlib.Path) -> str:
        done = subprocess.run(argv, cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=TIME_LIMIT)
        if done.returncode:
            self.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def execute_program(self, argv: List[str], cwd: pathlib.Path) -> None:
        self.assertTrue(self.execute(argv, cwd).strip(), "the program printed nothing")

    def try_sh(self, block: Block, _directory: pathlib.Path) -> None:
        lines = [
            line for line in block.text.splitlines()
            if line.split(" #")[0].strip() not in ELSEWHERE]
        self.execute(["sh", "-ec", "\n".join(lines)], self.sources)

    def try_c(self, block: Block, directory: pathlib.Path) -> None:
        (directory / "program.c").write_text(block.text)
        self.execute([
            "sh", "-ec",
            "cc -Wall -Werror -o program program.c $(pkg-config --cflags --libs rtrack)"],
                     directory)
        self.execute_program(["./program"], directory)

    def try_python(self, block: Block, directory: pathlib.Path) -> None:
        (directory / "program.py").write_text(block.text)
        if "import pandas" in block.text:
            if not importlib.util.find_spec("pandas"):
                self.skipTest("pandas is not installed")
            # A block of shell commands before this one has made it.
            shutil.copy(self.sources / "series.csv", directory)
        self.execute_program(["/usr/bin/python3", "-W", "error", "program.py"], directory)

    def try_rust(self, block: Block, directory: pathlib.Path) -> None:
        if not os.path.isdir(RUST_SOURCES):
            self.skipTest(f"no crates in {RUST_SOURCES}")
        (directory / "src").mkdir()
        (directory / "src/main.rs").write_text(block.text)
        (directory / "Cargo.toml").write_text(
            '[package]\nname = "program"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
            f'rtrack = {{ path = "{self.sources}/examples/rust/rtrack" }}\n')
        (directory / ".cargo").mkdir()
        (directory / ".cargo/config.toml").write_text(
            '[source.crates-io]\nreplace-with = "debian"\n\n'
            f'[source.debian]\ndirectory = "{RUST_SOURCES}"\n')
        self.execute_program(["/usr/bin/cargo", "run", "--offline", "--quiet"], directory)

    def try_block(self, block: Block) -> None:
        tries = {
            "sh": self.try_sh, "c": self.try_c, "python": self.try_python, "rust": self.try_rust}
        self.assertIn(block.language, tries, "unknown language of a block")
        with tempfile.TemporaryDirectory(dir=self.scratch) as directory:
            tries[block.language](block, pathlib.Path(directory))


def add_tests() -> None:
    """Add a test for each block. unittest runs tests in the order of their names."""
    order = sorted(blocks(), key=lambda block: "meson install" not in block.text)
    for number, block in enumerate(block for block in order if block.language != "text"):
        name = f"test_{number:02}_{block.language}_block_in_line_{block.line}_works"
        setattr(Readme, name, lambda self, block=block: self.try_block(block))


if __name__ == "__main__":
    add_tests()
    unittest.main(verbosity=2)
