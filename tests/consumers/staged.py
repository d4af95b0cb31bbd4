# SPDX-License-Identifier: MIT
"""Install this build into a temporary directory, as a package would, for tests of consumers."""
from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from typing import Dict, Iterator, NamedTuple

from harness import BUILD, run

MESON = os.environ["RTRACK_MESON"]


class Staged(NamedTuple):
    root: pathlib.Path  # DESTDIR of the installation
    work: pathlib.Path  # the parent of root; consumers may write here
    env: Dict[str, str]  # points pkg-config and the dynamic loader to the installation

    @property
    def library(self) -> pathlib.Path:
        return next(self.root.rglob("librtrack.so.0"))


@contextlib.contextmanager
def staged() -> Iterator[Staged]:
    with tempfile.TemporaryDirectory(prefix="rtrack-staged-") as directory:
        work = pathlib.Path(directory)
        root = work / "root"
        run([MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", root])
        pc = next(root.rglob("rtrack.pc"))
        env = dict(os.environ)
        env["PKG_CONFIG_PATH"] = str(pc.parent)
        env["PKG_CONFIG_SYSROOT_DIR"] = str(root)
        env["LD_LIBRARY_PATH"] = str(pc.parent.parent)
        yield Staged(root, work, env)
