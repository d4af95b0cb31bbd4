# SPDX-License-Identifier: MIT
"""Run the five first programs of docs/mainpage.md, each in C and in Python.

Their text is taken from the page. Each figure lies between bounds by another account of the kernel,
which hold however busy the machine is: a program samples for a second at least, and no thread uses
more CPU time than passes meanwhile.
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from typing import ClassVar, Dict, Iterator, List, NamedTuple, Tuple

from harness import BUILD, SOURCE, need, run

LIBRARY = pathlib.Path(os.environ["RTRACK_LIBRARY"])
PAGE = SOURCE / "docs/mainpage.md"
NAMES = ["peak", "each_second", "tree", "system", "top"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STRICT = ["-std=gnu11", "-pedantic", "-Wall", "-Wextra", "-Werror"]
QUALITY = "(exact|at least|about)"
MIB = 1 << 20
TICK = 1 / os.sysconf("SC_CLK_TCK")
BUSY = "while True: pass"
# Uses CPU time itself and in children that it waits for, then none until it is asked.
TREE = f"""
import resource, subprocess, sys, time
memory = b"1" * (64 * {MIB})
burn = "import time\\nwhile time.process_time() < 0.2: pass"
for i in range(3):
    subprocess.run([sys.executable, "-c", burn], check=True)
while True:
    usages = [resource.getrusage(i) for i in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(usage.ru_utime + usage.ru_stime for usage in usages), flush=True)
    sys.stdin.readline()
"""
HOLD = f"""
memory = b"1" * (100 * {MIB})
print([line for line in open("/proc/self/status") if "VmHWM" in line][0], flush=True)
"""


class Block(NamedTuple):
    language: str
    text: str


def blocks(text: str) -> List[Block]:
    return [Block(*match.groups()) for match in FENCE.finditer(text)]


def first_programs() -> List[Block]:
    section = PAGE.read_text().partition("\n## Five first programs\n")[2].partition("\n## ")[0]
    return blocks(section)


def cpu_seconds(pid: int) -> float:
    """CPU time of the first thread of a process, as the scheduler counts it."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def all_cpu_seconds() -> Dict[int, float]:
    """CPU time of each process of the system, in clock ticks."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            found[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) * TICK
    return found


def busy_cpu_seconds() -> float:
    """CPU time of the system that is neither idle nor stolen."""
    modes = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(modes[i]) for i in (0, 1, 2, 5, 6)) * TICK


@contextlib.contextmanager
def busy_process() -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


class FirstPrograms(unittest.TestCase):
    programs: ClassVar[Dict[str, List[List[str]]]]
    directory: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = pathlib.Path(temporary.name)
        cls.programs = {name: [] for name in NAMES}
        for number, block in enumerate(first_programs()):
            cls.programs[NAMES[number // 2]].append(cls.build(NAMES[number // 2], block))

    @classmethod
    def build(cls, name: str, block: Block) -> List[str]:
        """Make a program. Returns how it is called."""
        if block.language == "python":
            script = cls.directory / f"{name}.py"
            script.write_text(block.text)
            return [sys.executable, "-W", "error", "-u", str(script)]
        source, program = cls.directory / f"{name}.c", cls.directory / name
        source.write_text(block.text)
        include = ["-I", SOURCE / "include", "-I", BUILD / "include"]
        link = [LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
        run(["cc", *STRICT, *include, source, "-o", program, *link])
        return ["stdbuf", "-oL", str(program)]

    def figure(self, pattern: str, line: str) -> float:
        found = re.fullmatch(f"{QUALITY} {pattern}", line.strip())
        assert found, line
        return float(found[2])

    def test_programs_are_short_and_know_no_mask(self) -> None:
        programs = first_programs()
        self.assertEqual([block.language for block in programs], ["c", "python"] * 5)
        for block in programs:
            lines = [line for line in block.text.strip().splitlines()
                     if not line.startswith("#include")]
            body = "\n".join(lines).strip().splitlines()
            self.assertLessEqual(len(body), 15 if block.language == "c" else 5, block.text)
            self.assertNotRegex(block.text, r"\b(valid|partial|estimated)\b|[&|] *~?RT_HAS_")

    def test_readme_has_one_of_them(self) -> None:
        readme = [block.text for block in blocks((SOURCE / "README.md").read_text())
                  if block.language == "c"]
        self.assertEqual(readme, [first_programs()[NAMES.index("tree") * 2].text])

    def test_peak_is_that_of_the_command(self) -> None:
        for argv in self.programs["peak"]:
            held, printed = run([*argv, sys.executable, "-c", HOLD]).split("\n\n")
            highest = int(held.split()[1]) / 1024
            # The kernel counts resident pages in batches, and exiting takes some more.
            self.assertTrue(100 <= self.figure(r"([\d.]+) MiB", printed) <= highest + 8, printed)

    def test_each_second_has_what_the_process_used(self) -> None:
        with busy_process() as pid:
            for argv in self.programs["each_second"]:
                begin, used = time.monotonic(), cpu_seconds(pid)
                program = subprocess.Popen([*argv, str(pid)], stdout=subprocess.PIPE, text=True)
                assert program.stdout
                with program, program.stdout:
                    lines = [program.stdout.readline() for _ in range(2)]
                    used = cpu_seconds(pid) - used
                    passed = time.monotonic() - begin
                    program.kill()
                cores = sum(self.figure(r"([\d.]+) %", line) for line in lines) / 100
                self.assertLessEqual(cores, used + 2 * TICK, lines)
                self.assertGreaterEqual(cores, 2 - (passed - used) - 2 * TICK, lines)

    def ask(self, process: subprocess.Popen[str]) -> float:
        """Ask what a tree has used, by getrusage(2)."""
        assert process.stdin and process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    def test_total_of_a_tree_has_children_that_have_ended(self) -> None:
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, "-c", TREE], stdin=pipe, stdout=pipe,
                              text=True) as tree:
            self.addCleanup(tree.kill)
            assert tree.stdout
            tree.stdout.readline()
            for argv in self.programs["tree"]:
                before = self.ask(tree)
                cpu, memory = run([*argv, tree.pid]).splitlines()
                resident = int(re.findall(r"VmRSS:\s+(\d+)", pathlib.Path(
                    f"/proc/{tree.pid}/status").read_text())[0]) / 1024
                seconds = self.figure(r"([\d.]+) s of CPU", cpu)
                # /proc has two times of children that were waited for, in whole ticks.
                self.assertGreaterEqual(seconds, before - 2 * TICK - 0.001)
                self.assertLessEqual(seconds, self.ask(tree) + 0.001)
                self.assertTrue(64 <= self.figure(r"([\d.]+) MiB", memory) <= resident + 1, memory)
            tree.kill()

    def test_shell_that_has_waited_for_children_has_cpu_time(self) -> None:
        program = self.programs["tree"][0]
        script = "true | cat; sleep 0; (exit 3); \"$@\"; :"
        cpu, _ = run(["sh", "-c", script, "sh", *program]).splitlines()
        self.assertLess(self.figure(r"([\d.]+) s of CPU", cpu), 10)

    def test_system_is_as_busy_as_proc_stat_says(self) -> None:
        cpus = len(re.findall(r"^cpu\d", pathlib.Path("/proc/stat").read_text(), re.MULTILINE))
        slack = 0.02 * cpus + 5 * TICK  # five modes, each cut to a tick
        with busy_process():
            for argv in self.programs["system"]:
                begin, busy = time.monotonic(), busy_cpu_seconds()
                cores = self.figure(r"([\d.]+) %", run(argv)) / 100 * cpus
                busy = busy_cpu_seconds() - busy
                idle = cpus * (time.monotonic() - begin) - busy
                self.assertLessEqual(cores, busy + slack)
                self.assertGreaterEqual(cores, cpus - idle - slack)

    def find_in_top(self, argv: List[str], pid: int) -> Tuple[float, List[Tuple[int, float]]]:
        """List the processes that use most, until a busy one is among them. Returns how much of
        the time it did not run, and the list."""
        end = time.monotonic() + 100
        while True:
            begin, used = time.monotonic(), cpu_seconds(pid)
            lines = run(argv).splitlines()
            rest = time.monotonic() - begin - (cpu_seconds(pid) - used)
            rows = [re.fullmatch(rf"(\d+) .*?:? {QUALITY} ([\d.e-]+)(?: s)?", line)
                    for line in lines]
            self.assertEqual(len(rows), 5, lines)
            self.assertNotIn(None, rows, lines)
            found = [(int(row[1]), float(row[3])) for row in rows if row]
            if pid in dict(found) or time.monotonic() > end:
                return rest, found

    def test_top_has_a_busy_process_and_what_it_used(self) -> None:
        with busy_process() as pid:
            for argv in self.programs["top"]:
                before = all_cpu_seconds()
                rest, rows = self.find_in_top(argv, pid)
                after = all_cpu_seconds()
                self.assertGreaterEqual(dict(rows)[pid], 1 - rest - 2 * TICK, rows)
                figures = [seconds for _, seconds in rows]
                self.assertEqual(figures, sorted(figures, reverse=True))
                for one, seconds in rows:
                    if one in after:
                        used = after[one] - before.get(one, 0)
                        self.assertLessEqual(seconds, used + 4 * TICK, (one, rows))


if __name__ == "__main__":
    need("cc", "stdbuf")
    unittest.main(verbosity=2)
