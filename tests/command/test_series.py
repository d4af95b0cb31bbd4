# SPDX-License-Identifier: MIT
"""Tests of the exact formats of a time series."""
import os
import re
import signal
import subprocess
import time
import unittest
from typing import List, Set

from harness import HEADER
from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, busy, has_gpu, in_locale, meminfo,
                            python, read_csv, read_jsonl, rtrack, state_of, until_rows, wait_until)

PROCESS = (
    "timestamp,pid,children,utime,stime,cpu_usage,pss,read_bytes,write_bytes,gpu_usage,gpu_vram,"
    "gpu_utilized,estimated").split(",")
SYSTEM = (
    "timestamp,processes,utime,stime,cpu_usage,memory_free,memory_used,memory_buffers,"
    "memory_cached,memory_active_anon,memory_inactive_anon,disk_read_bytes,disk_write_bytes,"
    "disk_space_total_gb,disk_space_used_gb,disk_space_free_gb,net_recv_bytes,net_sent_bytes,"
    "gpu_usage,gpu_vram,gpu_utilized").split(",")
SYSTEM_V5 = (
    "processes,utime,stime,cpu_usage,memory_free_mib,memory_used_mib,memory_buffers_mib,"
    "memory_cached_mib,memory_active_mib,memory_inactive_mib,disk_read_bytes,disk_write_bytes,"
    "disk_space_total_gb,disk_space_used_gb,disk_space_free_gb,net_recv_bytes,net_sent_bytes,"
    "gpu_usage,gpu_vram_mib,gpu_utilized").split(",")
PROCESS_V5 = (
    "pid,children,utime,stime,cpu_usage,memory_mib,disk_read_bytes,disk_write_bytes,gpu_usage,"
    "gpu_vram_mib,gpu_utilized").split(",")
V5 = ["timestamp", *("system_" + name for name in SYSTEM_V5),
      *("process_" + name for name in PROCESS_V5)]
INTEGERS = {
    "pid", "children", "utime", "stime", "pss", "read_bytes", "write_bytes", "processes",
    "memory_free", "memory_used", "memory_buffers", "memory_cached", "memory_active_anon",
    "memory_inactive_anon", "disk_read_bytes", "disk_write_bytes", "net_recv_bytes",
    "net_sent_bytes", "gpu_utilized"}
CLOCK_SLACK_S = 0.01  # between CLOCK_REALTIME, which may be slewed, and CLOCK_MONOTONIC
HOSTILE = ["a,b", 'quote " here', "line\nfeed", "back\\slash", "tab\t", "\x01\x7f", "ünï€𝄞", ""]


class Files(Case):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.dir / "rows.csv"

    def cells(self, *words: str) -> List[List[str]]:
        done = rtrack(*words[:1], "-q", "-o", self.path, *words[1:])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = self.path.read_bytes().decode("ascii")
        self.assertTrue(text.endswith("\n"))
        self.assertNotIn("\r", text)
        return [line.split(",") for line in text[:-1].split("\n")]

    def assert_head(self, cells: List[List[str]], names: List[str]) -> None:
        self.assertEqual(cells[0], [f'"{name}"' for name in names])
        for row in cells[1:]:
            self.assertEqual(len(row), len(names))

    def assert_numbers(self, cells: List[List[str]], names: List[str]) -> None:
        """Check that each known cell is the text that Python writes for the number."""
        for row in cells[1:]:
            for name, cell in zip(names, row):
                if cell == '""':
                    continue
                if name == "estimated":
                    self.assertEqual(cell, '"pss"')
                    continue
                number = int(cell) if name in INTEGERS else float(cell)
                self.assertEqual(cell, repr(number), name)


# Cells of GPUs that were not looked at.
NO_GPU = ['""'] * 3 if has_gpu() else ["0.0", "0.0", "0"]


class Csv(Files):
    def test_csv_of_tree_has_documented_columns(self) -> None:
        cells = self.cells("run", "-i", "0.05", *python(busy(0.2)))
        self.assert_head(cells, PROCESS)
        self.assert_numbers(cells, PROCESS)
        self.assertEqual([row[9:12] for row in cells[1:]], [NO_GPU] * (len(cells) - 1))

    def test_csv_of_system_has_documented_columns(self) -> None:
        cells = self.cells("system", "-i", "0.05", "--count", "3")
        self.assert_head(cells, SYSTEM)
        self.assert_numbers(cells, SYSTEM)
        self.assertEqual(len(cells), 4)

    def test_csv_timestamps_match_row_times(self) -> None:
        before = time.time()
        rows = self.cells("run", "-i", "0.1", *python(until_rows(self.path, "6")))[1:]
        after = time.time()
        times = [float(row[0]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertTrue(before < times[0] and times[-1] < after)
        self.assertGreaterEqual(len(times), 5)
        for number, moment in enumerate(times[:-1], 1):
            self.assertGreater(moment - before, number * 0.1 - CLOCK_SLACK_S, "no row is early")

    def test_csv_children_counts_live_children(self) -> None:
        code = f"""
import os, signal
children = []
for _ in range(2):
    children.append(os.fork())
    if children[-1] == 0:
        signal.pause()
{until_rows(self.path)}
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""
        rows = read_csv(self.written("run", "-i", "0.05", *python(code)))
        self.assertEqual(max(row["children"] for row in rows), 2)
        self.assertEqual(rows[-1]["children"], 0)

    def written(self, *words: str) -> str:
        self.cells(*words)
        return str(self.path)

    def test_csv_unknown_cell_is_empty_string(self) -> None:
        rows = self.cells("run", "--no-children", "sleep", "0.1")[1:]
        self.assertEqual({row[2] for row in rows}, {'""'})

    def test_csv_numbers_in_any_locale_have_same_format(self) -> None:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
            done = rtrack("run", "-q", "-i", "0.05", "-o", "-", *python(busy(0.1)),
                          env=in_locale(name))
            self.assertEqual({len(line.split(",")) for line in done.stdout.splitlines()}, {13})


class CsvV5(Files):
    def test_csv_v5_of_tree_fills_system_and_process_columns(self) -> None:
        cells = self.cells("run", "-f", "csv-v5", "-i", "0.05", *python(busy(0.2)))
        self.assertEqual(len(V5), 32)
        self.assert_head(cells, V5)
        row = dict(zip(V5, cells[-1]))
        for name in V5:
            if "gpu" not in name or NO_GPU[0] != '""':
                self.assertNotEqual(row[name], '""', name)

    def test_csv_v5_of_system_leaves_process_columns_empty(self) -> None:
        cells = self.cells("system", "-f", "csv-v5", "-i", "0.05", "--count", "1")
        self.assert_head(cells, V5)
        self.assertEqual(cells[1][21:], ['""'] * 11)

    def test_csv_v5_memory_is_in_mib(self) -> None:
        before = meminfo()
        rows = read_csv(self.write("csv-v5", 64))
        held = max(row["process_memory_mib"] or 0 for row in rows)  # none: an estimate
        self.assertTrue(64 < held < 128, held)
        after = meminfo()
        margin = before["MemTotal"] / 50
        free = sorted((before["MemFree"], after["MemFree"]))
        cached = sorted(
            (before["Cached"] + before["SReclaimable"], after["Cached"] + after["SReclaimable"]))
        for row in rows:
            self.assertTrue(
                free[0] - margin < row["system_memory_free_mib"] * 1024 < free[1] + margin,
                (free, row))
            self.assertTrue(
                cached[0] - margin < row["system_memory_cached_mib"] * 1024 < cached[1] + margin,
                (cached, row))

    def write(self, form: str, mib: int) -> str:
        self.cells("run", "-f", form, "-i", "0.1",
                   *python(f"x = b'x' * ({mib} << 20)\n" + until_rows(self.path)))
        return str(self.path)


class Jsonl(Files):
    def test_jsonl_first_record_is_meta(self) -> None:
        path = self.dir / "rows.jsonl"
        rtrack("run", "-q", "-i", "0.25", "-o", path, "--", "echo", *HOSTILE)
        meta = read_jsonl(path)[0]
        self.assertEqual((meta["type"], meta["schema"], meta["kind"]), ("meta", 1, "process"))
        self.assertEqual(meta["command"], ["echo", *HOSTILE])
        self.assertEqual(meta["interval_seconds"], 0.25)

    def test_jsonl_invalid_utf8_is_replaced(self) -> None:
        path = self.dir / "rows.jsonl"
        words = [b"\xff", b"ok\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
        rtrack("run", "-q", "-o", path, "--", "true", *words)
        command = read_jsonl(path)[0]["command"]
        self.assertEqual(command[1:],
                         ["\ufffd", "ok\ufffd", "\ufffd" * 2, "\ufffd" * 3, "\ufffd" * 4])

    def samples(self, *words: str) -> List[Row]:
        path = self.dir / "rows.jsonl"
        done = rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        samples = read_jsonl(path)[1:]
        self.assertTrue(samples)
        self.assertEqual({sample["type"] for sample in samples}, {"sample"})
        return samples

    def test_jsonl_sample_of_tree_has_every_field(self) -> None:
        header = fields_of_header()
        for sample in self.samples("run", *python(busy(0.1))):
            for name in ("cpu_user_ns", "pss_bytes", "read_bytes", "voluntary_switches",
                         "processes", "ru_utime", "ru_nivcsw", "d_cpu_user_ns", "d_cores_used",
                         "d_interval_ns", "self_cpu_ns", "pid"):
                self.assertIn(name, sample)
            extra = {
                "type", "kind", "pid", "children", "timestamp", "interval_seconds", "partial",
                "reasons"}
            self.assertLessEqual(extra, set(sample))
            self.assertLessEqual(set(sample), header | extra)
            self.assertNotIn("memory_total_bytes", sample)
            self.assertIn(sample["source"], ("proc", "bpf"))
            if sample["pss_bytes"]:  # the tree still has a process
                self.assertIn(sample["pss_source"], ("read", "cached", "estimated"))
                self.assertIsInstance(sample["pss_age_ns"], int)
            self.assertEqual(sample["members_skipped"], 0)

    def test_jsonl_sample_of_system_has_every_field(self) -> None:
        for sample in self.samples("system", "--count", "2"):
            for name in ("memory_total_bytes", "disk_read_bytes", "network_receive_bytes",
                         "load_1m", "cpu_mode_idle_ns", "d_cpu_mode_idle_ns", "d_forks",
                         "zfs_size_bytes"):
                self.assertIn(name, sample)
            for name in ("pss_bytes", "pss_age_ns", "pss_source", "source", "members_skipped"):
                self.assertNotIn(name, sample)

    def test_jsonl_differences_match_counters(self) -> None:
        samples = self.samples("run", *python(busy(0.3)))
        for earlier, later in zip(samples, samples[1:]):
            for name in ("cpu_user_ns", "cpu_system_ns", "minor_faults", "read_chars"):
                self.assertEqual(later["d_" + name], later[name] - earlier[name], name)
            self.assertEqual(later["d_interval_ns"],
                             later["monotonic_ns"] - earlier["monotonic_ns"])

    def test_jsonl_partial_fields_are_named(self) -> None:
        for sample in self.samples("run", "sh", "-c", "for i in 1 2 3; do true | cat; done"):
            for name in sample["partial"]:
                self.assertIsNotNone(sample[name], name)


def fields_of_header() -> Set[str]:
    """Return the names of all fields of a sample and of its differences, from the header."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    names = set()
    for struct, prefix in (("rt_rusage", ""), ("rt_metrics", ""), ("rt_rusage", "d_"),
                           ("rt_delta", "d_")):
        body = re.search(r"struct %s \{(.*?)\n\};" % struct, text, re.DOTALL)[1]
        for declaration in body.split(";"):
            members = re.sub(r"^\s*(struct )?\w+ ", "", declaration.strip())
            names |= {prefix + member.strip() for member in members.split(",") if member.strip()}
    return names


class Choice(Files):
    def first_line(self, name: str, *words: str) -> str:
        path = self.dir / name
        rtrack("run", "-q", *words, "-o", path, "true")
        return path.read_text().splitlines()[0]

    def test_format_follows_file_suffix(self) -> None:
        self.assertTrue(self.first_line("a.csv").startswith('"timestamp","pid"'))
        self.assertTrue(self.first_line("a.txt").startswith('"timestamp","pid"'))
        self.assertTrue(self.first_line("a.jsonl").startswith('{"type":"meta"'))

    def test_format_option_overrides_suffix(self) -> None:
        self.assertTrue(self.first_line("a.csv", "-f", "jsonl").startswith("{"))
        self.assertTrue(self.first_line("a.jsonl", "-f", "csv").startswith('"timestamp"'))

    def test_system_without_output_option_writes_to_stdout(self) -> None:
        self.assertEqual(
            len(rtrack("system", "-q", "-i", "0.02", "--count", "2").stdout.splitlines()), 3)

    def test_run_without_output_option_writes_no_rows(self) -> None:
        self.assertEqual(
            rtrack("run", "-i", "0.02", "sh", "-c", "sleep 0.1; echo mine").stdout, "mine\n")

    def test_run_with_output_dash_writes_to_stdout(self) -> None:
        output = rtrack("run", "-q", "-i", "60", "-o", "-", "sh", "-c",
                        "echo mine").stdout.splitlines()
        self.assertIn("mine", output)
        self.assertEqual(len(output), 3)


class Append(Files):
    def test_append_writes_one_header(self) -> None:
        for _ in range(3):
            rtrack("run", "-q", "-i", "60", "-a", "-o", self.path, "true")
        self.assertEqual(len(read_csv(self.path)), 3)
        self.assertEqual(self.path.read_text().count("timestamp"), 1)

    def test_run_without_append_replaces_file(self) -> None:
        for _ in range(2):
            rtrack("run", "-q", "-i", "60", "-o", self.path, "true")
        self.assertEqual(len(read_csv(self.path)), 1)

    def test_append_to_jsonl_adds_meta_per_run(self) -> None:
        path = self.dir / "rows.jsonl"
        for word in ("one", "two"):
            rtrack("run", "-q", "-i", "60", "-a", "-o", path, "echo", word)
        self.assertEqual([row["type"] for row in read_jsonl(path)], ["meta", "sample"] * 2)

    def test_append_after_torn_row_starts_new_line(self) -> None:
        self.path.write_text('"timestamp"\n1795225241.8,12')
        rtrack("run", "-q", "-i", "60", "-a", "-o", self.path, "true")
        lines = self.path.read_text().splitlines()
        self.assertEqual(lines[:2], ['"timestamp"', "1795225241.8,12"])
        self.assertEqual([len(line.split(",")) for line in lines[2:]], [13])


class Rhythm(Files):
    def test_rows_missed_while_stopped_are_not_written(self) -> None:
        """One row covers the whole pause. The missed rows do not follow in a burst."""
        count, interval, pause = 8, 0.1, 1.05
        process = self.start([RTRACK, "system", "-q", "-i", str(interval), "--count", str(count)],
                             stdout=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(3)]
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        time.sleep(pause)
        os.kill(process.pid, signal.SIGCONT)
        lines += process.communicate(timeout=PATIENCE_S)[0].splitlines()
        times = [float(line.split(",")[0]) for line in lines[1:]]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        self.assertEqual(len(times), count)
        self.assertGreater(max(gaps), pause - interval)
        # Each row has its own tick. With a burst, the last row would come right after the pause.
        self.assertGreater(times[-1] - times[0], (count - 1) * interval + pause - 4 * interval)

    def test_count_ends_series_but_not_command(self) -> None:
        code = until_rows(self.path, "3") + "time.sleep(0.3)"
        rows = self.cells("run", "-i", "0.1", "--count", "2", *python(code))[1:]
        self.assertEqual(len(rows), 3, "the last row covers the rest of the run")
        self.assertGreater(float(rows[2][0]) - float(rows[1][0]), 0.3 - CLOCK_SLACK_S)

    def test_duration_ends_series_but_not_command(self) -> None:
        began = time.monotonic()
        rows = self.cells("run", "-i", "0.1", "-d", "0.2", "sleep", "0.8")[1:]
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertIn(len(rows), (2, 3),
                      "at most two rows in that time, and a last row for the rest")

    def test_duration_ends_system(self) -> None:
        began = time.monotonic()
        self.assertIn(len(self.cells("system", "-i", "0.1", "-d", "0.25")), range(1 + 1, 1 + 3 + 1))
        self.assertGreater(time.monotonic() - began, 0.25)


if __name__ == "__main__":
    unittest.main(verbosity=2)
