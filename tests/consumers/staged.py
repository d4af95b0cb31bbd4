# SPDX-License-Identifier: MIT
"""An installation of this build in a directory of its own, as a package would make it, for consumers of it."""
from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from typing import Dict, Iterator, NamedTuple

from harness import BUILD, run

MESON = os.environ["RTRACK_MESON"]


class Staged(NamedTuple):
    root: pathlib.Path  # what DESTDIR was; consumers may put their own things beside it
    work: pathlib.Path
    env: Dict[str, str]  # makes pkg-config and the loader look there

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
