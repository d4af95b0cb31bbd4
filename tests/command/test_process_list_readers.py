# SPDX-License-Identifier: MIT
"""The process list beside the kernel's own account, and in the programs that people read it with:
pandas, and a JSON schema. Command lines with any byte come back whole."""
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import struct
import unittest
from typing import Callable, Dict, List, Tuple

from harness import SOURCE
from rtrack_command import Case, Row, busy, python, read_jsonl, rtrack

try:
    import pandas
except ImportError:
    pandas = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

HOSTILE = ["", "new\nline", 'quo"te', "com,ma", "back\\slash", "two words", " ", "tab\t\x1b[31m",
           "grün", os.fsdecode(b"\xff\xfe"), "\\x20", ";", "end\\"]
# Forks at once as many children as there are CPUs and more, so that many are reaped at once. Each
# holds memory, and runs a program that does the same.
STORM = """
import os, subprocess, sys
held = bytes(1 << 20)
subprocess.run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4; do "
                "(head -c 3000000 /dev/zero | tail -c 1 >/dev/null) & done; wait; done"])
"""
GENERIC, CONTROL, GET_FAMILY, FAMILY_NAME, FAMILY_ID = 16, 16, 3, 2, 1
GET_STATS, REGISTER = 1, 3


def unescape(text: str) -> str:
    def byte(match: "re.Match[bytes]") -> bytes:
        word = match[1]
        return bytes([int(word[1:], 16)]) if word[:1] == b"x" else {b"n": b"\n"}.get(word, word)
    return os.fsdecode(re.sub(rb"\\(x[0-9a-f]{2}|.)", byte, text.encode()))


def words_of(command_line: str) -> List[str]:
    return [unescape(word) for word in command_line.split(" ")]


def ask(netlink: socket.socket, family: int, command: int, kind: int, text: str) -> bytes:
    """Send a request of generic netlink. Returns the answer."""
    value = text.encode() + b"\0"
    body = struct.pack("BBH", command, 1, 0) + struct.pack("HH", 4 + len(value), kind) + value
    body += b"\0" * (-len(body) % 4)
    netlink.send(struct.pack("IHHII", 16 + len(body), family, 5, 1, 0) + body)
    return netlink.recv(8192)


def has_exit_accounts() -> bool:
    """Whether the kernel sends them to this user: asked of the kernel, without rtrack."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC) as netlink:
            netlink.bind((0, 0))
            netlink.settimeout(10)
            answer = ask(netlink, CONTROL, GET_FAMILY, FAMILY_NAME, "TASKSTATS")
            found = re.search(struct.pack("HH", 6, FAMILY_ID) + b"(..)", answer, re.DOTALL)
            if not found or len(netlink.recv(8192)) < 20:
                return False
            cpus = pathlib.Path("/sys/devices/system/cpu/possible").read_text().strip()
            family = struct.unpack("H", found[1])[0]
            answer = ask(netlink, family, GET_STATS, REGISTER, cpus)
            while struct.unpack_from("H", answer, 4)[0] != 2:  # exits came before the answer
                answer = netlink.recv(8192)
            return struct.unpack_from("i", answer, 16)[0] == 0
    except OSError:
        return False


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Listed(Case):
    def run_listed(self, *words: str, name: str = "list.jsonl") -> Tuple[List[Row], Row]:
        """Run a command. Returns its processes and its summary."""
        path, summary = self.dir / name, self.dir / "summary"
        done = rtrack("run", "--summary", "json", "--summary-file", summary, "--processes", path,
                      *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        reported = json.loads(summary.read_text())
        if not reported["processes_exact"]:
            self.skipTest("process events are not available here")
        if path.suffix == ".jsonl":
            return read_jsonl(path), reported
        with open(path, newline="") as file:
            return list(csv.DictReader(file)), reported


    def run_seen(self, words: Callable[[str], List[str]], name: str = "list.jsonl") -> List[Row]:
        """Run words(seconds), which lets each process live for so long after its exec. On a busy
        system that takes longer to be handled."""
        for seconds in ("0.2", "1", "4", "16", "64"):
            rows, _ = self.run_listed(*words(seconds), name=name)
            if all(row["command_line"] for row in rows):
                break
        return rows

    def run_accounted(self, *words: str) -> Tuple[List[Row], Row]:
        """Run a command. The kernel may lose exit accounts on a busy system: then run it again."""
        for _ in range(10):
            rows, reported = self.run_listed(*words)
            if all(row["own_read_bytes"] is not None for row in rows):
                break
        return rows, reported


@unittest.skipUnless(has_exit_accounts(), "the kernel sends no exit accounts to this user")
class Complete(Listed):
    def test_each_process_has_cpu_peak_and_io_and_they_add_up(self) -> None:
        before = children_cpu()
        rows, reported = self.run_accounted(*python(STORM))
        kernel = children_cpu() - before  # of all runs
        self.assertGreater(len(rows), 120)
        self.assertEqual(len(rows), reported["processes"])
        self.assertEqual([row for row in rows if row["cpu_user_seconds"] is None], [])
        self.assertEqual([row for row in rows if row["own_read_bytes"] is None], [])
        empty = [row for row in rows if row["peak_rss_bytes"] is None]
        self.assertLess(len(empty), 0.05 * len(rows))
        total = sum(row["cpu_user_seconds"] + row["cpu_system_seconds"] for row in rows)
        self.assertLessEqual(total, kernel + 0.000002 * len(rows))
        # On a busy system more may be missing than the ends of processes explain.
        if not any("cpu" in row["partial"] for row in rows):
            self.assertAlmostEqual(total, reported["cpu_seconds"], delta=0.0001 * total)
        for direction in ("read", "write"):
            own = sum(row[f"own_{direction}_bytes"] for row in rows)
            self.assertLessEqual(own, reported[f"{direction}_bytes"])

    def test_peak_is_that_of_the_process_alone(self) -> None:
        code = f"import os\nheld = b'x' * (64 << 20)\nos.system('true')\n{busy(0.02)}"
        rows, _ = self.run_accounted("sh", "-c", f"{python('')[0]} -I -c \"$0\"; true", code)
        [big] = [row for row in rows if (row["peak_rss_bytes"] or 0) > 64 << 20
                 and not row["forked_only"] and "-I" in (row["command_line"] or "")]
        self.assertLess(big["peak_rss_bytes"], 128 << 20)
        self.assertLess(rows[0]["peak_rss_bytes"], 16 << 20)

    def test_own_io_is_without_children(self) -> None:
        path = self.dir / "data"
        writer = f"import os; f = open({str(path)!r}, 'wb'); f.write(bytes(1 << 20)); f.flush(); " \
                 "os.fsync(f.fileno())"
        rows, reported = self.run_accounted(
            "sh", "-c", f"{python('')[0]} -I -c \"$0\"; true", writer)
        if reported["write_bytes"] < 1 << 20:
            self.skipTest("writes to this file system are not counted")
        self.assertLess(rows[0]["own_write_bytes"], 1 << 20)
        self.assertGreaterEqual(rows[1]["own_write_bytes"], 1 << 20)
        self.assertAlmostEqual(sum(row["own_write_bytes"] for row in rows),
                               reported["write_bytes"], delta=1024 * len(rows))


class Texts(Listed):
    def test_command_line_with_any_byte_comes_back(self) -> None:
        for name in ("list.csv", "list.jsonl"):
            rows = self.run_seen(lambda s: ["sh", "-c", f"sleep {s}; true", *HOSTILE], name)
            words = words_of(rows[0]["command_line"])
            self.assertEqual([*words[:2], *words[3:]], ["sh", "-c", *HOSTILE])
            self.assertRegex(words[2], r"^sleep [\d.]+; true$")
            self.assertRegex(rows[1]["command_line"], r"^sleep [\d.]+$")
            self.assertEqual(len((self.dir / name).read_text().splitlines()),
                             len(rows) + (name == "list.csv"))

    def test_directory_with_any_byte_comes_back(self) -> None:
        inside = os.fsdecode(os.fsencode(str(self.dir)) + b"/a b\n\xff")
        os.mkdir(inside)
        for name in ("list.csv", "list.jsonl"):
            rows = self.run_seen(
                lambda s: ["sh", "-c", f'sleep {s}; cd "$0"; sleep {s}; true', inside], name)
            self.assertEqual(unescape(rows[0]["cwd"]), os.getcwd())
            self.assertEqual(unescape(rows[2]["cwd"]), os.path.realpath(inside))

    def test_process_that_only_forks_has_the_texts_of_its_parent(self) -> None:
        rows = self.run_seen(lambda s: python(
            f"import os, time\ntime.sleep({s})\npid = os.fork()\nif pid: os.waitpid(pid, 0)"))
        self.assertEqual([row["forked_only"] for row in rows], [False, True])
        self.assertEqual(rows[1]["command_line"], rows[0]["command_line"])
        self.assertEqual(rows[1]["cwd"], rows[0]["cwd"])

    def test_last_of_several_programs_counts(self) -> None:
        [row] = self.run_seen(lambda s: ["sh", "-c", f"exec env sleep {s}"])
        self.assertRegex(row["command_line"], r"^sleep [\d.]+$")

    def test_long_command_line_is_cut_and_says_so(self) -> None:
        rows = self.run_seen(lambda s: ["sh", "-c", f"sleep {s}; true", "x" * 16384])
        self.assertTrue(rows[0]["command_line_cut"])
        self.assertEqual(len(" ".join(words_of(rows[0]["command_line"]))), 16384)
        self.assertFalse(rows[1]["command_line_cut"])

        def fitting(seconds: str) -> List[str]:
            words = ["sh", "-c", f"sleep {seconds}; true"]
            return [*words, "x" * (16384 - len(" ".join(words)) - 1)]
        rows = self.run_seen(fitting)
        self.assertFalse(rows[0]["command_line_cut"])
        self.assertEqual(len(" ".join(words_of(rows[0]["command_line"]))), 16384)


class Readers(Listed):
    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_pandas_loads_both_forms_alike(self) -> None:
        command = ("sh", "-c", "sleep 0.2; (exit 3); sh -c 'kill -9 $$'; true", "a b", "é,\n")
        totals: Dict[str, float] = {}
        for name in ("list.csv", "list.jsonl"):
            rtrack("run", "-q", "--processes", self.dir / name, *command)
            path = self.dir / name
            frame = pandas.read_csv(path) if name.endswith("csv") else pandas.read_json(
                path, lines=True)
            self.assertEqual(list(frame["pid"].dtype.kind), ["i"])
            for column in ("start", "cpu_user_seconds", "peak_rss_bytes"):
                self.assertIn(frame[column].dtype.kind, "if", column)
            self.assertTrue((frame["start"].dropna() > 1.6e9).all())
            self.assertTrue((frame["command_line"].dropna().str.len() > 0).all())
            totals[name] = len(frame)
        self.assertEqual(totals["list.csv"], totals["list.jsonl"])

    @unittest.skipUnless(jsonschema, "jsonschema is not installed")
    def test_rows_fit_their_schema_and_others_do_not(self) -> None:
        schema = json.loads((SOURCE / "docs/schema/processes.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        validator = jsonschema.Draft7Validator(schema)
        rows: List[Row] = []
        for command in (("sh", "-c", "sleep 0.2; (exit 3); sh -c 'kill -9 $$'; true", *HOSTILE),
                        python(STORM)):
            rtrack("run", "-q", "--processes", self.dir / "list.jsonl", *command)
            rows += read_jsonl(self.dir / "list.jsonl")
        for row in rows:
            validator.validate(row)
        for key, value in (("pid", 0), ("command_line", "a\nb"), ("command_line", "\\"),
                           ("partial", ["gpu"]), ("final", 1), ("cpu_user_seconds", -0.1)):
            self.assertFalse(validator.is_valid({**rows[0], key: value}), (key, value))
        self.assertFalse(validator.is_valid({**rows[0], "more": 1}))
        self.assertEqual(list(rows[0]), schema["required"])


if __name__ == "__main__":
    if not shutil.which("sh"):
        raise SystemExit("no shell")
    unittest.main(verbosity=2)
