# SPDX-License-Identifier: MIT
"""Make fresh cgroups for one run, and read their CPU time from the kernel."""
from __future__ import annotations

import os
import pathlib
import time
from typing import Dict, List, NamedTuple, Optional, Set

SETTLE_S = 10.0


def members(group: pathlib.Path) -> List[int]:
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except OSError:  # it was removed
        return []


class Use(NamedTuple):
    """CPU time in seconds."""

    total: float
    user: float
    system: float


def cgroup_directory() -> Optional[pathlib.Path]:
    """Return the directory of this process's cgroup v2, wherever that hierarchy is mounted.

    Returns None if there is none, or if this process may not make groups in it."""
    path = next((line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                if line.startswith("0::")), None)
    if path is None:
        return None
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, types = line.partition(" - ")
        root, mount_point = (field.encode().decode("unicode_escape")
                             for field in fields.split()[3:5])
        below = os.path.relpath(path, root)
        if types.split()[0] == "cgroup2" and not below.startswith(".."):
            directory = pathlib.Path(mount_point, below)
            if os.access(directory, os.W_OK) and (directory / "cpu.stat").exists():
                return directory
    return None


def read_keys(path: pathlib.Path) -> Dict[str, int]:
    """Parse a file of lines "name value"."""
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}


class Groups:
    """The cgroups of one run.

    The measuring tool runs in `tools`. The workload runs in `work`, a child of `tools`, and
    `work` is the truth. If rtrack makes a cgroup for the command below `tools`, the tool is
    moved to `aside` instead, and `tools` is the truth. A workload may move its processes to
    `elsewhere`: what they use there is added to the truth."""

    def __init__(self, parent: pathlib.Path, name: str, uid: int) -> None:
        self.top = parent / name
        self.tools = self.top / "tools"
        self.work = self.tools / "work"
        self.aside = self.top / "aside"
        self.elsewhere = self.top / "elsewhere"
        self.ours = (self.top, self.tools, self.work, self.aside, self.elsewhere)
        for group in self.ours:
            group.mkdir()
            if uid != os.getuid():
                # Delegate the group, as a service manager does.
                os.chown(group, uid, -1)
                os.chown(group / "cgroup.procs", uid, -1)

    def join(self) -> None:
        (self.tools / "cgroup.procs").write_text("0")

    def use(self, is_alone: bool, notes: Dict[str, int]) -> Use:
        """Return what the workload has used so far. notes is the file NOTES of enter.c."""
        stat = read_keys((self.tools if is_alone else self.work) / "cpu.stat")
        moved = read_keys(self.elsewhere / "cpu.stat")
        total, user, system = ((stat[name] + moved[name] - notes["base_" + name]) / 1e6
                               for name in ("usage_usec", "user_usec", "system_usec"))
        return Use(total + notes["before_ns"] / 1e9, user, system)

    def pids(self) -> List[int]:
        return [pid for group in self.groups() for pid in members(group)]

    def groups(self) -> Set[pathlib.Path]:
        """Return all groups of this run, with those that the tool has made. It may remove some of
        them meanwhile, which os.walk() does not mind."""
        return {pathlib.Path(path) for path, _, _ in os.walk(self.top)}

    def remove(self) -> List[str]:
        """Wait until the tool has removed its own groups, at most SETTLE_S, then remove all.

        Returns the names of the groups that the tool has left behind."""
        ours = set(self.ours)
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end and self.groups() - ours:
            time.sleep(0.01)
        left = sorted(self.groups() - ours)
        for group in [*reversed(left), *reversed(self.ours)]:
            remove(group)
        return [group.name for group in left]


def remove(group: pathlib.Path) -> None:
    """Remove a group. EBUSY is temporary: the last process is still exiting. So try again."""
    for _ in range(200):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.01)
    group.rmdir()
