# SPDX-License-Identifier: MIT
"""The measured trees. Each is a program in workloads/; the comment in its source describes it.

Every workload has two sizes. QUICK has the names of those that the test runs, in their small size.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence, Tuple

# A placeholder for the path of a set-user-id copy of setuid_exec.
SETUID_COPY = "@setuid"


@dataclasses.dataclass(frozen=True)
class Size:
    words: Sequence[str]
    # The number of processes in all, if it is known.
    processes: Optional[int]


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    what: str
    words: Sequence[str]
    small: Size
    processes: Optional[int] = None
    # Every process is waited for, so the kernel's sums over waited-for children are complete.
    is_waited: bool = True
    leaves_running: bool = False
    # "pool": the tree is one that forks and shares memory, so an estimate of it is tighter.
    # "shared": its processes share memory by a mapping.
    kind: str = "other"
    # Time between samples, if it is not that of the whole run.
    interval: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def has_series(self) -> bool:
        return self.kind in ("pool", "shared")

    def made_small(self) -> Workload:
        """Return the same tree in its small size."""
        return dataclasses.replace(self, words=[self.words[0], *self.small.words],
                                   processes=self.small.processes)


# Arguments, or arguments and the number of processes.
Given = Tuple[str, int]


def workload(what: str, program: str, large: str | Given, small: str | Given, name: str = "",
             **more: Any) -> Workload:
    line, processes = large if isinstance(large, tuple) else (large, None)
    small_line, small_processes = small if isinstance(small, tuple) else (small, None)
    return Workload(name or program, what, [program, *line.split()],
                    Size(small_line.split(), small_processes), processes, **more)


UNWAITED = {"is_waited": False}
POOL = {"kind": "pool"}
# No sample but the first and the last ones.
UNSAMPLED = {"interval": "20"}

CPU_TREES = (
    workload("children of 1 ms, one after another", "short_children",
             ("2000 1", 2001), ("300 1", 301)),
    workload("the same without a sample between", "short_children",
             ("1000 1", 1001), ("200 1", 201), "short_children_unsampled", **UNSAMPLED),
    workload("orphans by double fork, 20 ms each", "orphans", ("50 20", 101), ("15 20", 31)),
    workload("parent exits without waiting for its children", "unreaped",
             ("300 2", 301), ("100 2", 101)),
    workload("parent ignores SIGCHLD", "auto_reaped", ("50 20", 51), ("15 20", 16), **UNWAITED),
    workload("parent sets SA_NOCLDWAIT", "auto_reaped", ("25 20 nocldwait", 26),
             ("10 20 nocldwait", 11), "auto_reaped_nocldwait", **UNWAITED),
    workload("parent ignores SIGCHLD for 60 ms", "auto_reaped", ("3 20 briefly", 4),
             ("2 20 briefly", 3), "auto_reaped_briefly", **UNWAITED),
    workload("children forked by a non-leader thread", "thread_forks", ("50 20", 51),
             ("10 20", 11)),
    workload("names with spaces, `)` and newlines", "odd_names", "100", "20"),
    workload("leader thread exits first, others keep working", "leader_exits",
             ("2 400", 1), ("2 100", 1)),
    workload("exec from a non-leader thread", "thread_exec", ("200", 1), ("50", 1)),
    # The kernel accounts for no thread to its very end, so short ones lose a share of their time.
    workload("threads of 30 ms", "threads", ("100 30000", 1), ("40 30000", 1)),
    workload("threads of 10 ms", "threads", ("400 10000", 1), ("60 10000", 1), "threads_10ms"),
    workload("threads of 5 ms", "threads", ("400 5000", 1), ("60 5000", 1), "threads_5ms"),
    workload("threads of 0.5 ms", "threads", ("2000 500", 1), ("400 500", 1), "threads_500us"),
    workload("`true` by posix_spawn", "spawn", ("1000", 1001), ("100", 101)),
    workload("daemon that keeps working after the root has exited", "daemon", "0 400 0",
             "0 200 0", "daemon_outlives", is_waited=False, leaves_running=True),
    workload("daemon that has worked and then idles", "daemon", "300 0 1500", "100 0 500",
             "daemon_left", is_waited=False, leaves_running=True),
    workload("children that ignore SIGTERM, then SIGKILL", "ignore_term", "150", "50"),
    workload("child and root are killed by SIGKILL", "dies", "9 200", "9 50", "dies_by_sigkill"),
    workload("child and root are killed by SIGSEGV", "dies", "11 200", "11 50",
             "dies_by_sigsegv"),
    workload("pid namespace killed as a whole", "pid_namespace", "1 500", "1 200", **UNWAITED),
    workload("pid namespaces, each killed as a whole after 60 ms", "pid_namespace", "5 60",
             "2 60", "pid_namespace_brief", **UNWAITED),
    workload("pid namespace that starts and ends between two samples", "pid_namespace", "1 60",
             "1 30", "pid_namespace_unseen", **UNWAITED),
    workload("set-user-id program", "setuid_exec", SETUID_COPY + " 250", SETUID_COPY + " 60"),
    workload("pid reused at once", "recycled_pid", "4 150", "2 60"),
    workload("workers that work 60 ms and live 0.9 s, without a sample between", "workers",
             ("4 2 60 900", 9), ("1 2 60 900", 3), **UNSAMPLED),
    workload("alternates between user and system time", "waver", ("400", 1), ("60", 1)),
    workload("8 ms, half of it in the kernel, without a sample between", "waver",
             ("8", 1), ("8", 1), "waver_8ms", **UNSAMPLED),
)

# Processes that change the cgroup.
MOVERS = (
    workload("child moves to another cgroup, and is waited for", "mover",
             ("300 waited", 2), ("80 waited", 2), "mover_waited"),
    workload("child moves to another cgroup, and is reaped by the kernel", "mover",
             ("300 ignored", 2), ("80 ignored", 2), "mover_ignored", **UNWAITED),
)

# What is known of these is their memory and what they write.
MEMORY_TREES = (
    workload("memory held for a moment", "memory_spike", ("300 80", 1), ("60 80", 1)),
    workload("the same in huge pages", "memory_spike", ("300 80 huge", 1), ("64 80 huge", 1),
             "memory_spike_huge"),
    workload("memory held before an exec", "exec_drops", ("200 80", 1), ("60 80", 1)),
    workload("children hold memory for 20 ms", "tree_spike", ("60 4 20", 5), ("20 4 20", 5)),
    workload("children hold memory for 50 ms", "tree_spike", ("60 4 50", 5), ("20 4 50", 5),
             "tree_spike_50ms"),
    workload("written directly by a child", "direct_write", ("200", 2), ("40", 2)),
    workload("children ignored by their parent write directly and hold memory", "unwaited",
             ("4 60 150 8 ignored", 5), ("2 30 60 8 ignored", 3), "unwaited_ignored", **UNWAITED),
    workload("the same, too short for a sample", "unwaited",
             ("4 60 5 8 ignored", 5), ("2 30 5 8 ignored", 3), "unwaited_ignored_brief",
             interval="20", **UNWAITED),
    workload("child killed with its pid namespace has written and holds memory", "unwaited",
             ("1 150 400 8 namespace", 3), ("1 60 150 8 namespace", 3), "unwaited_namespace",
             **UNWAITED),
    workload("the same, too short for a sample", "unwaited",
             ("1 150 5 8 namespace", 3), ("1 60 5 8 namespace", 3), "unwaited_namespace_brief",
             interval="20", **UNWAITED),
    workload("processes that are not dumpable write and hold memory", "non_dumpable",
             ("60 8 400", 2), ("30 8 150", 2)),
)

# Forking pools. Their series are judged, too.
POOLS = (
    workload("12 children share the memory of their parent", "pool", ("200 12 1500 share", 13),
             ("40 6 500 share", 7), **POOL),
    workload("8 children share the memory of their parent", "pool", ("400 8 1500 share", 9),
             ("80 3 500 share", 4), "pool_large", **POOL),
    workload("the same in huge pages", "pool", ("200 6 1000 share huge", 7),
             ("64 4 500 share huge", 5), "pool_huge", **POOL),
    workload("each child writes half of what it shares", "pool", ("160 4 1000 write", 5),
             ("40 4 500 write", 5), "pool_written", **POOL),
    workload("children and their children share, and these write a quarter", "pool",
             ("160 4 1000 deep", 9), ("40 3 500 deep", 7), "pool_deep", **POOL),
    workload("children hold 100 MiB each for 150 ms beside what they share", "pool",
             ("100 4 150 add", 5), ("20 4 150 add", 5), "pool_added", **POOL),
    workload("processes touch random halves of shared memory", "shared_random",
             ("200 50 1000", 51), ("40 8 500", 9), kind="shared"),
)

ALL = CPU_TREES + MOVERS + MEMORY_TREES + POOLS

# Move a name in or out of this list to have the test run it, or not.
QUICK_NAMES = (
    "short_children",
    "orphans",
    "unreaped",
    "auto_reaped",
    "daemon_outlives",
    "threads",
    "leader_exits",
    "waver_8ms",
    "setuid_exec",
    "mover_waited",
    "exec_drops",
    "direct_write",
    "unwaited_ignored",
    "unwaited_namespace",
    "pool",
    "pool_written",
    "pool_deep",
    "shared_random",
    "tree_spike_50ms",
)

QUICK = tuple(one.made_small() for one in ALL if one.name in QUICK_NAMES)
