# SPDX-License-Identifier: MIT
"""The trees of which footprint.py measures the memory."""
from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, ContextManager, Iterator, List, Optional, Sequence, Tuple

from runner import Skip, User

HUGE_PAGE_KIB = 2048
SWAP_MIB = 256
KSM = pathlib.Path("/sys/kernel/mm/ksm")
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
POSTGRES = "/usr/lib/postgresql/*/bin"


@dataclasses.dataclass
class Place:
    """Where a tree runs: a directory of its own, and the copies of the programs."""

    programs: pathlib.Path
    directory: pathlib.Path
    user: User

    def mapper(self, *words: object) -> List[str]:
        return [str(self.programs / "accuracy-mapper"), *map(str, words)]

    def make_file(self, name: str, mib: int) -> pathlib.Path:
        path = self.directory / name
        with open(path, "wb") as file:
            for _ in range(mib):
                file.write(os.urandom(1 << 20))
        path.chmod(0o644)
        return path

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o644)
        return path

    def run(self, *words: str) -> None:
        """Run a program to its end, as the user of the tree."""
        done = subprocess.run(words, cwd=self.directory, preexec_fn=self.user.become,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Skip(f"{words[0]} failed: {(done.stdout.splitlines() or ['no reason'])[-1]}")


@contextlib.contextmanager
def as_it_is() -> Iterator[None]:
    yield


@dataclasses.dataclass(frozen=True)
class Tree:
    name: str
    what: str
    # Returns the words of the command. It says "ready" once all is there, unless moves is set.
    make: Callable[[Place], Sequence[str]]
    # Share of the truth that the footprint may be off.
    bound: float = 0.03
    # It works all the time: it is measured in the middle, and says nothing.
    moves: bool = False
    # How often it is stopped and measured.
    moments: int = 3
    # What more of the same program runs beside it, outside of the tree.
    strangers: int = 0
    # Sets up the kernel, and puts it back.
    setting: Callable[[], ContextManager[None]] = as_it_is
    # MiB that are known of parts: anon, shmem, file, hugetlb, swap. What the processes have besides
    # is less than `more` MiB. They judge the truth itself.
    known: Optional[Tuple[float, ...]] = None
    more: float = 4
    # MiB that the kernel may take back from `needed` although they are mapped.
    freed: float = 0
    # The user of which processes it must be, whichever user follows it.
    user: Optional[str] = None

    def __str__(self) -> str:
        return self.name


def mapper(name: str, what: str, words: str, known: Sequence[float], **more: object) -> Tree:
    return Tree(name, what, lambda place: place.mapper(*words.split()),
                known=tuple(known), **more)  # type: ignore[arg-type]


def mapped_file(mib: int, children: int, how: str = "file") -> Callable[[Place], Sequence[str]]:
    def make(place: Place) -> Sequence[str]:
        return place.mapper(how, mib, children, place.make_file("mapped", mib))
    return make


def python(text: str) -> Callable[[Place], Sequence[str]]:
    def make(place: Place) -> Sequence[str]:
        return [sys.executable, str(place.write("work.py", HOLD + text))]
    return make


def shared_memory(method: str, mib: int) -> Callable[[Place], Sequence[str]]:
    return python(SHARED_MEMORY.replace("METHOD", method).replace("MIB", str(mib)))


def need_module(name: str, make: Callable[[Place], Sequence[str]]
                ) -> Callable[[Place], Sequence[str]]:
    def check(place: Place) -> Sequence[str]:
        if subprocess.run([sys.executable, "-c", f"import {name}"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            raise Skip(f"the Python module {name} is not installed")
        return make(place)
    return check


def find(program: str, *more_paths: str) -> str:
    found = shutil.which(program)
    for pattern in more_paths:
        paths = sorted(pathlib.Path("/").glob(f"{pattern}/{program}".lstrip("/")))
        found = found or (str(paths[-1]) if paths else None)
    if not found:
        raise Skip(f"{program} is not installed")
    return found


@contextlib.contextmanager
def kept(path: pathlib.Path, value: str, is_more: bool = False) -> Iterator[None]:
    """Set a number of the kernel, or add to it, and put it back. Another test that sets it waits
    meanwhile."""
    with contextlib.ExitStack() as stack:
        try:
            lock = stack.enter_context(open(path))
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = path.read_text()
            path.write_text(str(int(before) + int(value)) if is_more else value)
        except OSError as error:
            raise Skip(f"{path}: {error.strerror}") from error
        try:
            yield
        finally:
            path.write_text(before)


@contextlib.contextmanager
def huge_pages(mib: int) -> Iterator[None]:
    if not HUGE_PAGES.exists():
        raise Skip("the kernel has no hugetlb pages")
    count = mib * 1024 // HUGE_PAGE_KIB
    with kept(HUGE_PAGES, str(count), is_more=True):
        if int(HUGE_PAGES.read_text()) < count:
            raise Skip("the kernel has no memory for hugetlb pages")
        yield


@contextlib.contextmanager
def swapping() -> Iterator[None]:
    """Have a file to swap to. What else runs here may use it, too, for that time."""
    with tempfile.TemporaryDirectory(prefix="swap-") as name:
        path = pathlib.Path(name, "swap")
        with open(path, "wb") as file:
            for _ in range(SWAP_MIB):
                file.write(bytes(1 << 20))
        path.chmod(0o600)
        for words in (["mkswap", str(path)], ["swapon", str(path)]):
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True)
            if done.returncode != 0:
                raise Skip(f"{words[0]}: {done.stdout.splitlines()[-1]}")
        try:
            yield
        finally:
            subprocess.run(["swapoff", str(path)], check=True)


@contextlib.contextmanager
def merging() -> Iterator[None]:
    if not KSM.exists():
        raise Skip("the kernel does not merge pages (KSM)")
    with kept(KSM / "sleep_millisecs", "10"), kept(KSM / "pages_to_scan", "20000"), \
            kept(KSM / "run", "1"):
        yield


# It says that it is ready, and waits for the end of its input; or it holds for a time, as the
# mapper does.
HOLD = """
import os, sys, time
def hold():
    ms = os.environ.get("MAPPER_HOLD_MS")
    if ms:
        time.sleep(int(ms) / 1000)
    else:
        print("ready", flush=True)
        sys.stdin.read()
"""

PANDAS = """
import numpy
import pandas
frame = pandas.DataFrame({"key": numpy.arange(1000000) % 1000, "value": numpy.arange(1000000.0)})
means = frame.groupby("key").agg(["mean", "sum", "std"])
hold()
"""

# METHOD is fork or spawn. The block loses its name once all have it.
SHARED_MEMORY = """
import multiprocessing
from multiprocessing import shared_memory

def work(name, barrier, end):
    block = shared_memory.SharedMemory(name)
    total = sum(block.buf[::4096])
    barrier.wait()
    end.wait()
    block.close()

if __name__ == "__main__":
    size = MIB << 20
    how = multiprocessing.get_context("METHOD")
    block = shared_memory.SharedMemory(create=True, size=size)
    for at in range(0, size, 4096):
        block.buf[at] = 1
    barrier, end = how.Barrier(5), how.Event()
    workers = [how.Process(target=work, args=(block.name, barrier, end)) for _ in range(4)]
    for worker in workers:
        worker.start()
    barrier.wait()
    block.unlink()
    hold()
    end.set()
    for worker in workers:
        worker.join()
    block.close()
"""

NODE = """
const { fork } = require('child_process');
if (process.argv[2] === 'child') {
  const kept = [];
  for (let i = 0; i < 200000; i++) kept.push({ number: i, text: 'text ' + i });
  process.on('message', () => process.exit(kept.length ? 0 : 1));
  process.send('ready');
} else {
  const children = [0, 1].map(() => fork(__filename, ['child']));
  let ready = 0;
  for (const child of children)
    child.on('message', () => { if (++ready === children.length) console.log('ready'); });
  process.stdin.on('end', () => children.forEach(child => child.send('end')));
  process.stdin.resume();
}
"""

JAVA = """
import java.util.*;
public class Work {
  public static void main(String[] words) throws Exception {
    Map<String, byte[]> kept = new HashMap<>();
    for (int i = 0; i < 100000; i++) kept.put("key " + i, new byte[500]);
    System.out.println("ready");
    System.in.read();
    System.exit(kept.size() == 100000 ? 0 : 1);
  }
}
"""


def make_build(place: Place) -> Sequence[str]:
    """A makefile and eight files that take a second each."""
    body = "".join(
        f"static double f{i}(double *v, int n) {{ double s = {i}; "
        f"for (int j = 0; j < n; j++) s += v[j] * {i}.5 + v[(j * {i}) % n]; return s; }}\n"
        for i in range(400))
    calls = " + ".join(f"f{i}(v, n)" for i in range(400))
    for number in range(8):
        place.write(f"part{number}.c", f"#include <stdio.h>\n#include <stdlib.h>\n{body}"
                    f"double part{number}(double *v, int n) {{ return {calls}; }}\n")
    place.write("Makefile", "all: " + " ".join(f"part{i}.o" for i in range(8)) + "\n"
                "%.o: %.c\n\t" + find("gcc") + " -O2 -c -o $@ $<\n")
    return [find("make"), "-j2", "-s"]


def make_node(place: Place) -> Sequence[str]:
    return [find("node"), str(place.write("work.js", NODE))]


def make_java(place: Place) -> Sequence[str]:
    place.write("Work.java", JAVA)
    place.run(find("javac"), "-d", str(place.directory), str(place.directory / "Work.java"))
    return [find("java"), "-Xmx256m", "-cp", str(place.directory), "Work"]


def make_postgres(place: Place) -> Sequence[str]:
    """A server with shared buffers and six sessions that each read a table. A shell says that it is
    ready, and ends the server with its input."""
    data = place.directory / "data"
    postgres, psql = find("postgres", POSTGRES), find("psql", POSTGRES)
    place.run(find("initdb", POSTGRES), "-D", str(data), "-A", "trust", "-U", "tester", "-N")
    ask = f"{psql} -X -q -h {place.directory} -U tester -d postgres"
    # A session runs until the server ends.
    words = f"""
exec 3>&1 >/dev/null 2>&1
{postgres} -D {data} -k {place.directory} -c listen_addresses= -c shared_buffers=128MB \
  -c max_parallel_workers_per_gather=0 &
server=$!
until {ask} -c 'select 1'; do sleep 0.1; done
{ask} -c 'create table t as select i, md5(i::text) as text from generate_series(1, 500000) i' \
  -c 'create index on t (text)'
for number in 1 2 3 4 5 6; do
  {ask} -c "select count(*), max(text) from t where i % $number = 0" -c 'select pg_sleep(100000)' &
done
until [ "$({ask} -A -t -c "select count(*) from pg_stat_activity where query like '%pg_sleep(1%' \
  and state = 'active' and pid <> pg_backend_pid()")" = 6 ]; do sleep 0.1; done
echo ready >&3
read line
kill -INT $server
wait
"""
    return ["/bin/sh", "-c", words]


PAGE = """<html><body><canvas id="c" width="1200" height="800"></canvas><script>
const kept = [];
for (let i = 0; i < 200000; i++) kept.push({ number: i, text: 'text ' + i });
const context = document.getElementById('c').getContext('2d');
for (let i = 0; i < 2000; i++) { context.fillStyle = '#' + (i * 7 % 4096).toString(16);
  context.fillRect(i * 13 % 1200, i * 7 % 800, 40, 40); }
document.title = 'ready';
</script></body></html>"""


def make_browser(place: Place) -> Sequence[str]:
    """Ready once the page has run, and its processes are there."""
    page = place.write("page.html", PAGE)
    options = "--headless --no-sandbox --disable-gpu --remote-debugging-port=0"  # style: allow
    words = (f"HOME={place.directory} {find('chromium')} {options} "
             f"--user-data-dir={place.directory}/profile file://{page} "
             f">/dev/null 2>{place.directory}/errors & browser=$!; "
             f"until grep -q 'DevTools listening' {place.directory}/errors; do sleep 0.1; done; "
             "sleep 5; echo ready; read line; kill $browser; wait")
    return ["/bin/sh", "-c", words]


MIB_OF_FILE = 100
PAGES_OF_RANDOM = 1 - 0.5 ** 8

TREES = (
    mapper("anon", "private memory", "anon 100", (100, 0, 0, 0)),
    mapper("huge", "private memory in huge pages", "huge 100", (100, 0, 0, 0)),
    mapper("zeros", "private memory that was only read", "zeros 100", (0, 0, 0, 0),
           more=2.9),
    mapper("pool_4", "4 forked workers, half written", "written 100 4", (300, 0, 0, 0)),
    mapper("pool_4_strangers", "the same beside 6 strangers", "written 60 4", (180, 0, 0, 0),
           strangers=6),
    mapper("pool_64", "64 forked workers, half written", "written 30 64", (990, 0, 0, 0), more=16),
    mapper("shared", "4 children touch one block of shared memory", "shared 100 4",
           (0, 100, 0, 0)),
    mapper("random", "8 children touch random halves of it", "random 100 8",
           (0, 100 * PAGES_OF_RANDOM, 0, 0)),
    mapper("parts", "8 children each touch another part of it", "parts 64 8", (0, 64, 0, 0)),
    mapper("part", "8 children touch the same part of it", "part 64 8", (0, 8, 0, 0)),
    mapper("four_times", "one block, mapped four times by one process", "four 100",
           (0, 100, 0, 0)),
    mapper("dev_shm", "/dev/shm, mapped by 3 processes", "shm 100 2", (0, 100, 0, 0)),
    mapper("sysv", "a System V segment", "sysv 100 2", (0, 100, 0, 0)),
    mapper("dev_shm_unmapped", "/dev/shm that no process maps", "unmapped 100", (0, 0, 0, 0)),
    Tree("file", "a large file, read through its mapping", mapped_file(MIB_OF_FILE, 0),
         known=(0, 0, MIB_OF_FILE, 0)),
    Tree("file_strangers", "the same by 3 processes, beside 4 strangers",
         mapped_file(MIB_OF_FILE, 2), known=(0, 0, MIB_OF_FILE, 0), strangers=4),
    Tree("file_parts", "8 processes each read another part of a file",
         mapped_file(160, 8, "file_parts"), known=(0, 0, 160, 0)),
    Tree("file_part", "8 processes read the same part of a file",
         mapped_file(240, 8, "file_part"), known=(0, 0, 30, 0)),
    mapper("hugetlb", "hugetlb pages", "hugetlb 64", (0, 0, 0, 64),
           setting=lambda: huge_pages(64)),
    mapper("ksm", "equal pages that the kernel has merged", "ksm 100", (100 / 256, 0, 0, 0),
           setting=merging),
    mapper("swapped", "half of it swapped out", "swapped 100", (50, 0, 0, 0, 50),
           setting=swapping),
    mapper("swapped_pool", "the same, shared with 4 forked workers", "swapped 100 4",
           (50, 0, 0, 0, 50), setting=swapping),
    mapper("vfork", "a child in vfork(2)", "vfork 100", (100, 0, 0, 0)),
    mapper("clone_vm", "a process that shares all memory (CLONE_VM)", "thread 100",
           (100, 0, 0, 0)),
    mapper("freed", "half of it lazily freed (MADV_FREE)", "freed 100", (100, 0, 0, 0), freed=50),
    mapper("churn", "4 forked workers map and unmap 2 MiB all the time", "churn 200 4",
           (200, 0, 0, 0), more=12),
    Tree("shared_memory", "multiprocessing.shared_memory, 4 workers", shared_memory("spawn", 100)),
    Tree("build", "make -j2 with gcc -O2", make_build, moves=True, moments=8),
    Tree("build_strangers", "the same beside 2 strangers", make_build, moves=True, moments=8,
         strangers=2),
    Tree("pandas", "python3 with pandas, a groupby",
         need_module("pandas", python(PANDAS))),
    Tree("pandas_strangers", "the same beside 4 strangers",
         need_module("pandas", python(PANDAS)), strangers=4),
    Tree("node", "node and two forked processes", make_node),
    Tree("java", "a Java program", make_java),
    Tree("postgres", "PostgreSQL with shared buffers, 6 sessions", make_postgres,
         user="an unprivileged user"),
    Tree("browser", "chromium without a window", make_browser, bound=0.05),
)

QUICK_NAMES = ("pool_4_strangers", "random", "four_times", "file_strangers", "hugetlb", "clone_vm",
               "freed")
