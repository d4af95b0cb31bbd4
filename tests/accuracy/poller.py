# SPDX-License-Identifier: MIT
"""Run a command and poll its tree with psutil: poller.py FILE COMMAND...

Polls the command and all its descendants every 0.1 s. Keeps the last figures of each process by pid
and start time, so that the last known usage of a process stays in the sums after its exit. Writes
the sums to FILE as JSON."""
import json
import subprocess
import sys
import time
from typing import Dict

import psutil

INTERVAL_S = 0.1


class Tree:
    """Last known figures of a process and its descendants."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)
        self.cpu: Dict[psutil.Process, float] = {}
        self.written: Dict[psutil.Process, int] = {}
        self.peak = self.peak_tree = 0

    def poll(self) -> None:
        try:
            members = [self.root, *self.root.children(recursive=True)]
        except psutil.Error:
            members = [self.root]
        self.peak_tree = max(self.peak_tree, sum(map(self.read, members)))

    def read(self, process: psutil.Process) -> int:
        """Read one process. Returns its resident memory."""
        rss = 0
        try:
            with process.oneshot():
                times, rss = process.cpu_times(), process.memory_info().rss
            self.cpu[process] = times.user + times.system
            self.peak = max(self.peak, rss)
            self.written[process] = process.io_counters().write_bytes
        except psutil.Error:
            pass
        return rss


def main() -> int:
    command = subprocess.Popen(sys.argv[2:])
    tree = Tree(command.pid)
    next_poll = time.monotonic()
    while command.poll() is None:
        tree.poll()
        next_poll += INTERVAL_S
        time.sleep(max(0, next_poll - time.monotonic()))
    with open(sys.argv[1], "w") as file:
        sums = {"cpu_seconds": sum(tree.cpu.values()), "peak_rss_bytes": tree.peak,
                "peak_footprint_bytes": tree.peak_tree, "write_bytes": sum(tree.written.values())}
        json.dump(sums, file)
    return command.returncode if command.returncode >= 0 else 128 - command.returncode


if __name__ == "__main__":
    sys.exit(main())
