# SPDX-License-Identifier: MIT
"""What a careful program makes of a command's tree by psutil: poller.py FILE COMMAND...

Every 0.1 s it looks at the command and all its descendants, and remembers the last figures of each by pid and start
time, so that what a process had used when it was last seen is not lost with it. FILE gets the sums as JSON."""
import json
import subprocess
import sys
import time
from typing import Dict

import psutil

INTERVAL_S = 0.1


class Tree:
    """Figures of a process and its descendants."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)
        self.cpu: Dict[psutil.Process, float] = {}
        self.written: Dict[psutil.Process, int] = {}
        self.peak = self.peak_tree = 0

    def look(self) -> None:
        try:
            members = [self.root, *self.root.children(recursive=True)]
        except psutil.Error:
            members = [self.root]
        self.peak_tree = max(self.peak_tree, sum(map(self.look_at, members)))

    def look_at(self, process: psutil.Process) -> int:
        """Returns its resident memory."""
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
    next_look = time.monotonic()
    while command.poll() is None:
        tree.look()
        next_look += INTERVAL_S
        time.sleep(max(0, next_look - time.monotonic()))
    with open(sys.argv[1], "w") as file:
        json.dump({"cpu_seconds": sum(tree.cpu.values()), "peak_rss_bytes": tree.peak,
                   "peak_tree_bytes": tree.peak_tree, "write_bytes": sum(tree.written.values())}, file)
    return command.returncode if command.returncode >= 0 else 128 - command.returncode


if __name__ == "__main__":
    sys.exit(main())
