# SPDX-License-Identifier: MIT
"""Take samples with psutil on request from standard input. The protocol is that of driver.c."""
import ctypes
import os
import sys
import time
from typing import Callable, List, NamedTuple

import psutil

PR_SET_PDEATHSIG = 1
SIGKILL = 9
CLOCK_TRIES = 1000


class Cost(NamedTuple):
    cpu_ns: int
    wall_ns: int
    allocations: int


def sample_process(process: psutil.Process, with_pss: bool) -> None:
    with process.oneshot():
        process.cpu_times()
        process.io_counters()
        if with_pss:
            process.memory_full_info()
        else:
            process.memory_info()


def sampler(kind: str, pid: int, with_pss: bool) -> Callable[[], int]:
    """Return a function that takes one sample and returns the number of processes found."""
    if kind == "system":
        return sample_system
    root = psutil.Process(pid)

    def sample() -> int:
        members = [root, *root.children(recursive=True)] if kind == "tree" else [root]
        for process in members:
            sample_process(process, with_pss)
        return len(members)

    return sample


def sample_system() -> int:
    psutil.cpu_times()
    psutil.cpu_stats()
    psutil.virtual_memory()
    psutil.disk_io_counters(perdisk=True)
    psutil.net_io_counters(pernic=True)
    psutil.getloadavg()
    return 0


def allocation_counter() -> Callable[[], int]:
    try:
        count = ctypes.CDLL(None).alloc_count
    except AttributeError:
        return lambda: 0
    count.restype = ctypes.c_uint64
    return count  # type: ignore[no-any-return]


class Session:
    def __init__(self, sample: Callable[[], int], requests: int, replies: int) -> None:
        self.sample, self.requests, self.replies = sample, requests, replies
        self.allocations = allocation_counter()
        self.processes = sample()
        # The cost of reading the clocks, which is subtracted from each result.
        self.clocks_ns = 0

    def measure_clocks(self) -> None:
        used = [difference(self.cost_so_far(), self.cost_so_far()) for _ in range(CLOCK_TRIES)]
        self.clocks_ns = -sum(one.cpu_ns for one in used) // CLOCK_TRIES

    def cost_so_far(self) -> Cost:
        return Cost(time.process_time_ns(), time.monotonic_ns(), self.allocations())

    def hot(self, count: int) -> Cost:
        before = self.cost_so_far()
        for _ in range(count):
            self.processes = self.sample()
        used = difference(self.cost_so_far(), before)
        return Cost(used.cpu_ns - self.clocks_ns, used.wall_ns - self.clocks_ns, used.allocations)

    def run_members(self, count: int) -> None:
        os.write(self.requests, b"%d\n" % count)
        while not os.read(self.replies, 32).endswith(b"\n"):
            pass

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        total = Cost(0, 0, 0)
        for _ in range(count):
            if run:
                self.run_members(run)
            if pause_ms:
                time.sleep(pause_ms / 1000)
            used = self.hot(1)
            total = Cost(*(a + b for a, b in zip(total, used)))
        return total

    def pace(self, count: int, interval_ms: int, at_ns: int) -> Cost:
        total = Cost(0, 0, 0)
        for i in range(count):
            left_ns = at_ns + i * interval_ms * 1000000 - time.monotonic_ns()
            time.sleep(max(left_ns, 0) / 1e9)
            total = Cost(*(a + b for a, b in zip(total, self.hot(1))))
        return total

    def execute(self, words: List[str]) -> Cost:
        if words[0] == "hot":
            return self.hot(int(words[1]))
        if words[0] == "pace":
            return self.pace(*map(int, words[1:]))
        return self.slow(*map(int, words[1:]))


def difference(after: Cost, before: Cost) -> Cost:
    return Cost(*(a - b for a, b in zip(after, before)))


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    kind, pid, with_pss = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
    requests, replies = (int(sys.argv[5]), int(sys.argv[6])) if len(sys.argv) > 6 else (-1, -1)
    session = Session(sampler(kind, pid, with_pss), requests, replies)
    cost = session.cost_so_far()
    started = int(os.environ.get("BENCH_STARTED_NS", cost.wall_ns))
    print("first", cost.wall_ns - started, cost.cpu_ns, flush=True)
    session.measure_clocks()
    for line in sys.stdin:
        print(*session.execute(line.split()), session.processes, "-", flush=True)


if __name__ == "__main__":
    main()
