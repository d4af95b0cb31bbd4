# SPDX-License-Identifier: MIT
"""Fresh cgroups for one run, and what the kernel says was used in them."""
from __future__ import annotations

import os
import pathlib
import time
from typing import Dict, List, NamedTuple, Optional

SETTLE_S = 10.0


class Use(NamedTuple):
    """CPU time in seconds."""

    total: float
    user: float
    system: float


def own_directory() -> Optional[pathlib.Path]:
    """The cgroup v2 group that we are in, wherever that hierarchy is mounted, if we may make groups there."""
    own = next((line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                if line.startswith("0::")), None)
    if own is None:
        return None
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, types = line.partition(" - ")
        root, mount_point = (field.encode().decode("unicode_escape") for field in fields.split()[3:5])
        below = os.path.relpath(own, root)
        if types.split()[0] == "cgroup2" and not below.startswith(".."):
            directory = pathlib.Path(mount_point, below)
            if os.access(directory, os.W_OK) and (directory / "cpu.stat").exists():
                return directory
    return None


def read_keys(path: pathlib.Path) -> Dict[str, int]:
    """A file of lines "name value"."""
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}


class Groups:
    """tools holds what measures, and below it work, or a leaf of rtrack's own, holds what is measured. Where it is
    rtrack that makes the leaf, those that measure are moved aside, and tools is the truth."""

    def __init__(self, parent: pathlib.Path, name: str, uid: int) -> None:
        self.top = parent / name
        self.tools = self.top / "tools"
        self.work = self.tools / "work"
        self.aside = self.top / "aside"
        for group in (self.top, self.tools, self.work, self.aside):
            group.mkdir()
            if uid != os.getuid():
                # Delegated, as a service manager does it.
                os.chown(group, uid, -1)
                os.chown(group / "cgroup.procs", uid, -1)

    def join(self) -> None:
        (self.tools / "cgroup.procs").write_text("0")

    def use(self, is_alone: bool, notes: Dict[str, int]) -> Use:
        """What the workload has used so far. notes are those of enter."""
        stat = read_keys((self.tools if is_alone else self.work) / "cpu.stat")
        total, user, system = ((stat[name] - notes["base_" + name]) / 1e6
                               for name in ("usage_usec", "user_usec", "system_usec"))
        return Use(total + notes["before_ns"] / 1e9, user, system)

    def pids(self) -> List[int]:
        return [int(pid) for file in self.top.rglob("cgroup.procs") for pid in file.read_text().split()]

    def remove(self) -> List[str]:
        """Remove them once all is quiet. Returns the names of groups that somebody else has left in them."""
        ours = {self.top, self.tools, self.work, self.aside}
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end and {path.parent for path in self.top.rglob("cgroup.procs")} - ours:
            time.sleep(0.01)
        left = sorted({path.parent for path in self.top.rglob("cgroup.procs")} - ours)
        for group in [*reversed(left), self.work, self.tools, self.aside, self.top]:
            remove(group)
        return [group.name for group in left]


def remove(group: pathlib.Path) -> None:
    """EBUSY goes away: the last process is still on its way out."""
    for _ in range(200):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.01)
    group.rmdir()
