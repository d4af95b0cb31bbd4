# SPDX-License-Identifier: MIT
"""Make, rename, lend, remove and reuse interfaces and loop devices, beside a tracker of the system.

    devices.py SECONDS [STEP_SECONDS [SEED]]

What this process has sent and written is the outside account. In each step the difference of the
totals is exact, or marked: never exact and wrong. Interfaces live in a network namespace of their
own, without addresses, so that nothing else sends. Needs root. Nothing stays behind."""
import contextlib
import ctypes
import fcntl
import mmap
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Dict, Iterator, List, Optional

import rtrack

CLONE_NEWNET = 0x40000000
LOOP_SET_FD, LOOP_CLR_FD = 0x4C00, 0x4C01
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81
FIRST_LOOP = 4096 + 4 * os.getpid() % (1 << 19)  # minors that nothing else gives out
LOOPS = range(FIRST_LOOP, FIRST_LOOP + 3)
LOOP_BYTES = 8 << 20
BLOCK = 65536
SKIPPED = 77
NAMES = ["v0", "v1", "w0", "w1", "ppp0", "tun0"]
LIBC = ctypes.CDLL(None, use_errno=True)


def check_call(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def disable_ipv6() -> None:
    """Its neighbour discovery sends without being asked."""
    path = pathlib.Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if path.exists():
        path.write_text("1")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


class Container:
    """A process in a network namespace of its own, which interfaces are lent to."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        assert self.process.stdout
        self.process.stdout.readline()
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.theirs = os.open(f"/proc/{self.process.pid}/ns/net", os.O_RDONLY)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        check_call(LIBC.setns(self.theirs, CLONE_NEWNET))
        try:
            yield
        finally:
            check_call(LIBC.setns(self.own, CLONE_NEWNET))

    def close(self) -> None:
        os.close(self.own)
        os.close(self.theirs)
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


class Network:
    """Pairs of interfaces without addresses: nothing else sends, so each frame counts once at the
    sender, and once at its peer."""

    def __init__(self, chance: random.Random, container: Container) -> None:
        self.chance = chance
        self.container = container
        self.peer: Dict[str, str] = {}
        self.lent: Optional[str] = None  # it is in the container
        self.sent = self.received = 0

    def is_here(self, name: str) -> bool:
        return name in self.peer and name != self.lent

    def send(self, name: str) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind((name, 0x88B5))
            for _ in range(self.chance.choice([1, 20, 400])):
                frame = b"\xff" * 12 + b"\x88\xb5" + bytes(self.chance.randint(50, 1400))
                sender.send(frame)
                self.sent += len(frame) if self.is_here(name) else 0
                self.received += len(frame) if self.is_here(self.peer[name]) else 0

    def make(self, name: str) -> None:
        other = self.free_name(name)
        if not other:
            return
        ip("link", "add", name, "type", "veth", "peer", "name", other)
        self.peer[name], self.peer[other] = other, name
        ip("link", "set", name, "up")
        ip("link", "set", other, "up")

    def free_name(self, besides: str) -> Optional[str]:
        return next((n for n in self.chance.sample(NAMES, len(NAMES))
                     if n not in self.peer and n != besides), None)

    def remove(self, name: str) -> None:
        ip("link", "del", name)
        other = self.peer.pop(name)
        del self.peer[other]
        if other == self.lent:
            self.lent = None

    def rename(self, name: str, to: str) -> None:
        ip("link", "set", name, "down")
        ip("link", "set", name, "name", to)
        ip("link", "set", to, "up")
        other = self.peer.pop(name)
        self.peer[to], self.peer[other] = other, to

    def lend(self, name: str) -> None:
        """It sends elsewhere, which is no traffic of it here."""
        ip("link", "set", name, "netns", str(self.container.process.pid))
        self.lent = name
        with self.container.entered():
            ip("link", "set", name, "up")
            self.send(name)

    def give_back(self) -> None:
        name = self.lent
        assert name
        with self.container.entered():
            self.send(name)
            ip("link", "set", name, "netns", f"/proc/{os.getpid()}/fd/{self.container.own}")
        ip("link", "set", name, "up")
        self.lent = None

    def do_something(self) -> None:
        name = self.chance.choice(NAMES)
        what = self.chance.randrange(12)
        if self.lent and what < 3:
            self.give_back()
        elif name == self.lent:
            pass
        elif name not in self.peer:
            self.make(name)
        elif what == 0:
            self.remove(name)
        elif what == 1:  # made again under its name
            self.remove(name)
            self.make(name)
            if name in self.peer:
                self.send(name)
        elif what == 2:
            to = self.free_name(name)
            if to:
                self.rename(name, to)
        elif what == 3 and not self.lent:
            self.lend(name)
            if self.chance.random() < 0.5:  # within one step
                self.give_back()
        else:
            self.send(name)


class Loops:
    """Loop devices of our own. They are in no total, and mark none."""

    def __init__(self, chance: random.Random, directory: str) -> None:
        self.chance = chance
        self.written: Dict[int, int] = {}  # by minor, since the device was made
        self.made: List[int] = []  # in this step
        self.control = os.open("/dev/loop-control", os.O_RDWR)
        self.file = os.open(f"{directory}/medium", os.O_RDWR | os.O_CREAT)
        os.truncate(self.file, LOOP_BYTES)
        self.block = mmap.mmap(-1, BLOCK)  # aligned, as O_DIRECT asks for

    def path(self, minor: int) -> str:
        return f"/dev/loop{minor}"

    def make(self, minor: int) -> None:
        fcntl.ioctl(self.control, LOOP_CTL_ADD, minor)
        if not os.path.exists(self.path(minor)):  # no udev
            os.mknod(self.path(minor), 0o600 | 0o060000, os.makedev(7, minor))
        self.written[minor] = 0
        self.made.append(minor)

    def remove(self, minor: int) -> None:
        fcntl.ioctl(self.control, LOOP_CTL_REMOVE, minor)
        del self.written[minor]
        if os.path.exists(self.path(minor)):
            os.unlink(self.path(minor))

    def write(self, minor: int) -> None:
        """On a medium that is attached for it: a new one each time, with the old counters."""
        device = os.open(self.path(minor), os.O_RDWR | os.O_DIRECT)
        fcntl.ioctl(device, LOOP_SET_FD, self.file)
        try:
            for _ in range(self.chance.choice([1, 3, 20])):
                os.pwrite(device, self.block, BLOCK * self.chance.randrange(LOOP_BYTES // BLOCK))
                self.written[minor] += BLOCK
        finally:
            fcntl.ioctl(device, LOOP_CLR_FD)
            os.close(device)

    def do_something(self) -> None:
        minor = self.chance.choice(LOOPS)
        if minor not in self.written:
            self.make(minor)
        elif self.chance.random() < 0.2:
            self.remove(minor)
        else:
            self.write(minor)

    def close(self) -> None:
        for minor in list(self.written):
            self.remove(minor)
        os.close(self.control)
        os.close(self.file)


class Account:
    """Compares each step with what was sent and written."""

    def __init__(self) -> None:
        self.steps = self.exact = self.lower = self.about = self.wrong = self.rows = 0

    def fail(self, text: str) -> None:
        self.wrong += 1
        print(f"step {self.steps}: {text}", flush=True)

    def check_network(self, delta: rtrack.Delta, network: Network) -> None:
        for field, truth in [("network_transmit_bytes", network.sent),
                             ("network_receive_bytes", network.received)]:
            reported = getattr(delta, field)
            if delta.is_complete(field):
                self.exact += 1
                if reported != truth:
                    self.fail(f"{field} is exact with {reported} for {truth}")
            elif delta._raw.partial & rtrack.HAS_NETWORK:
                self.lower += 1
                if reported > truth:
                    self.fail(f"{field} is a lower bound with {reported} for {truth}")
            else:
                self.about += 1
        network.sent = network.received = 0

    def check_loops(self, loops: Loops, before: Dict[int, int], rows: Dict[int, int]) -> None:
        """A row goes on if its device is made again, which it cannot show for that step."""
        for minor in set(before) & set(rows) & set(loops.written) - set(loops.made):
            self.rows += 1
            reported = rows[minor] - before[minor]
            if reported != loops.written[minor] - self.written_before.get(minor, 0):
                self.fail(f"loop{minor} has written {reported}, and the account is "
                          f"{loops.written[minor] - self.written_before.get(minor, 0)}")
        self.written_before = dict(loops.written)
        loops.made.clear()

    written_before: Dict[int, int] = {}


def loop_rows(tracker: rtrack.SystemTracker) -> Dict[int, int]:
    return {d.minor: d.write_bytes for d in tracker.disks() if d.major == 7 and d.minor in LOOPS}


def disk_stat(hardware: List[str]) -> int:
    """Sectors that were written, of other files than the tracker reads."""
    return sum(int(pathlib.Path(f"/sys/class/block/{name}/stat").read_text().split()[6])
               for name in hardware)


def run(seconds: float, step: float, chance: random.Random, directory: str) -> Account:
    account = Account()
    hardware = [disk.name for disk in rtrack.SystemTracker().disks() if disk.flags & 1]
    check_call(LIBC.unshare(CLONE_NEWNET))
    container = Container()
    disable_ipv6()
    with container.entered():
        disable_ipv6()
    network, loops = Network(chance, container), Loops(chance, directory)
    least = disk_stat(hardware)
    tracker = rtrack.SystemTracker(want=rtrack.HAS_NETWORK | rtrack.HAS_DISK)
    rows, most = loop_rows(tracker), disk_stat(hardware)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            account.steps += 1
            for _ in range(chance.randrange(6)):
                network.do_something()
                loops.do_something()
            at_least = disk_stat(hardware)
            delta = tracker.diff()
            at_most = disk_stat(hardware)
            account.check_network(delta, network)
            now = loop_rows(tracker)
            account.check_loops(loops, rows, now)
            rows = now
            if hardware and not delta.is_complete("disk_write_bytes"):
                account.fail("a loop device has marked the total")
            if not 512 * (at_least - most) <= delta.disk_write_bytes <= 512 * (at_most - least):
                account.fail(f"disk_write_bytes is {delta.disk_write_bytes}")
            least, most = at_least, at_most
            time.sleep(step)
    finally:
        loops.close()
        container.close()
    return account


def obstacle() -> Optional[str]:
    """Why this cannot be run here, or None."""
    probe = ["unshare", "--net", "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"]
    if os.geteuid() != 0:
        return "interfaces and loop devices need root"
    if not os.access("/dev/loop-control", os.W_OK):
        return "there are no loop devices"
    if shutil.which("ip") is None or subprocess.run(probe, check=False).returncode != 0:
        return "no pair of interfaces can be made in a network namespace"
    return None


def main() -> int:
    seconds = float(sys.argv[1])
    step = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    reason = obstacle()
    if reason:
        print(f"not run: {reason}")
        return SKIPPED
    print(f"devices: seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        account = run(seconds, step, random.Random(seed), directory)
    print(f"devices: {account.steps} steps; totals of interfaces: {account.exact} exact, "
          f"{account.lower} lower bounds, {account.about} estimates; {account.rows} rows of loop "
          f"devices; {account.wrong} wrong")
    return int(account.wrong > 0 or account.exact == 0)


if __name__ == "__main__":
    sys.exit(main())
