# SPDX-License-Identifier: MIT
"""The measured trees. Each is a program in workloads/; the comment in its source describes it."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence

# A placeholder for the path of a set-user-id copy of setuid_exec.
SETUID_COPY = "@setuid"


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    what: str
    words: Sequence[str]
    # Every process is waited for, so the kernel's sums over waited-for children are complete.
    is_waited: bool = True
    leaves_running: bool = False
    # The number of processes in all, if it is known.
    processes: Optional[int] = None

    def __str__(self) -> str:
        return self.name


def workload(what: str, line: str, name: str = "", **more: Any) -> Workload:
    words = line.split()
    return Workload(name or words[0], what, words, **more)


ALL = (
    workload("2000 children of 1 ms, one after another", "short_children 2000 1", processes=2001),
    workload("orphans by double fork, 20 ms each", "orphans 50 20", processes=101),
    workload("parent exits without waiting for its children", "unreaped 300 2", processes=301),
    workload("parent ignores SIGCHLD", "auto_reaped 50 20", processes=51, is_waited=False),
    workload("parent sets SA_NOCLDWAIT", "auto_reaped 25 20 nocldwait", "auto_reaped_nocldwait",
             processes=26, is_waited=False),
    workload("parent ignores SIGCHLD for 60 ms", "auto_reaped 3 20 briefly", "auto_reaped_briefly",
             processes=4, is_waited=False),
    workload("children forked by a non-leader thread", "thread_forks 50 20", processes=51),
    workload("names with spaces, `)` and newlines", "odd_names 100"),
    workload("leader thread exits first, others keep working", "leader_exits 2 400", processes=1),
    workload("exec from a non-leader thread", "thread_exec 200", processes=1),
    workload("400 threads of 10 ms", "threads 400 10", processes=1),
    workload("1000 times `true` by posix_spawn", "spawn 1000", processes=1001),
    workload("daemon that keeps working after the root has exited", "daemon 0 400 0",
             "daemon_outlives", is_waited=False, leaves_running=True),
    workload("daemon that has worked and then idles", "daemon 300 0 1500", "daemon_left",
             is_waited=False, leaves_running=True),
    workload("children that ignore SIGTERM, then SIGKILL", "ignore_term 150"),
    workload("child and root are killed by SIGKILL", "dies 9 200", "dies_by_sigkill"),
    workload("child and root are killed by SIGSEGV", "dies 11 200", "dies_by_sigsegv"),
    workload("pid namespace killed as a whole", "pid_namespace 1 500", is_waited=False),
    workload("5 pid namespaces, each killed as a whole after 60 ms", "pid_namespace 5 60",
             "pid_namespace_brief", is_waited=False),
    workload("pid namespace that starts and ends between two samples", "pid_namespace 1 60",
             "pid_namespace_unseen", is_waited=False),
    workload("set-user-id program", "setuid_exec " + SETUID_COPY + " 250"),
    workload("pid reused at once, 4 times", "recycled_pid 4 150"),
    workload("300 MiB held for 80 ms", "memory_spike 300 80", processes=1),
    workload("children sharing memory copy-on-write", "shared_tree 160 3 400", processes=4),
    workload("4 children hold 60 MiB each for 20 ms", "tree_spike 60 4 20", processes=5),
    workload("200 MiB written directly by a child", "direct_write 200", processes=2),
)

QUICK = (
    workload("", "short_children 300 1", processes=301),
    workload("", "orphans 15 20", processes=31),
    workload("", "unreaped 100 2", processes=101),
    workload("", "auto_reaped 15 20", processes=16, is_waited=False),
    workload("", "daemon 0 200 0", "daemon_outlives", is_waited=False, leaves_running=True),
    workload("", "threads 60 5", processes=1),
)
