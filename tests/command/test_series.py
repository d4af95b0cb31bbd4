# SPDX-License-Identifier: MIT
"""Tests of the exact formats of a time series."""
import datetime
import json
import os
import re
import shutil
import subprocess
import threading
import time
import unittest
from typing import List, Set

import header
from harness import HEADER
from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, busy, has_gpu, in_locale, meminfo,
                            python, read_csv, read_jsonl, rtrack, until_rows)

TREE = (
    "timestamp,interval_seconds,pid,cores_used,d_cpu_user_seconds,d_cpu_system_seconds,"
    "footprint_bytes,needed_bytes,rss_bytes,peak_tree_bytes,d_read_bytes,d_write_bytes,"
    "d_minor_faults,d_major_faults,"
    "d_voluntary_switches,d_involuntary_switches,processes,threads,partial,estimated").split(",")
# Those that the machine knows follow the last figure of SYSTEM.
OF_SOME = ["hugepages_total_bytes", "hugepages_free_bytes", "zfs_arc_bytes", "zfs_arc_min_bytes",
           "d_cgroup_cpu_seconds", "cgroup_cpu_limit_millicores", "cgroup_memory_bytes",
           "cgroup_memory_limit_bytes"]
SYSTEM = (
    "timestamp,interval_seconds,cores_used,d_cpu_user_seconds,d_cpu_system_seconds,"
    "d_cpu_mode_iowait_seconds,d_cpu_mode_steal_seconds,memory_total_bytes,memory_used_bytes,"
    "memory_available_bytes,memory_free_bytes,memory_buffers_bytes,memory_cached_bytes,"
    "swap_used_bytes,d_disk_read_bytes,d_disk_write_bytes,filesystem_total_bytes,"
    "filesystem_used_bytes,filesystem_available_bytes,d_network_receive_bytes,"
    "d_network_transmit_bytes,processes,threads,load_1m,partial,estimated").split(",")
PROCESS_V1 = (
    "timestamp,pid,children,utime,stime,cpu_usage,pss,read_bytes,write_bytes,gpu_usage,gpu_vram,"
    "gpu_utilized").split(",")
SYSTEM_V1 = (
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


class CsvV1(Files):
    def test_csv_v1_of_tree_has_documented_columns(self) -> None:
        cells = self.cells("run", "-f", "csv-v1", "-i", "0.05", *python(busy(0.2)))
        self.assert_head(cells, PROCESS_V1)
        self.assert_numbers(cells, PROCESS_V1)
        self.assertEqual([row[9:12] for row in cells[1:]], [NO_GPU] * (len(cells) - 1))

    def test_csv_v1_of_system_has_documented_columns(self) -> None:
        cells = self.cells("system", "-f", "csv-v1", "-i", "0.05", "--count", "3")
        self.assert_head(cells, SYSTEM_V1)
        self.assert_numbers(cells, SYSTEM_V1)
        self.assertEqual(len(cells), 4)

    def test_csv_v1_unknown_cell_is_empty_string(self) -> None:
        rows = self.cells("run", "-f", "csv-v1", "--no-children", "sleep", "0.1")[1:]
        self.assertEqual({row[2] for row in rows}, {'""'})


class Csv(Files):
    def test_csv_of_tree_has_documented_columns(self) -> None:
        cells = self.cells("run", "-i", "0.05", *python(busy(0.2)))
        self.assertEqual(cells[0], TREE)
        self.assert_cells(cells)

    def test_csv_of_system_has_documented_columns(self) -> None:
        cells = self.cells("system", "-i", "0.05", "--count", "3")
        known = [name for name in OF_SOME if name in cells[0]]
        self.assertEqual([name for name in cells[0] if "gpu" not in name],
                         SYSTEM[:-2] + known + SYSTEM[-2:])
        self.assert_cells(cells)
        self.assertEqual(len(cells), 4)

    def assert_cells(self, cells: List[List[str]]) -> None:
        """Check that each cell is empty, a number in its shortest form, or names of columns."""
        for row in cells[1:]:
            self.assertEqual(len(row), len(cells[0]))
            for name, cell in zip(cells[0], row):
                if name in ("partial", "estimated"):
                    self.assertLessEqual(set(cell.split()), set(cells[0]), name)
                elif name.endswith("_seconds") or name == "timestamp":
                    self.assertRegex(cell, r"^\d+\.(\d|\d{1,8}[1-9])$", name)
                elif name in ("cores_used", "load_1m", "gpus_busy"):
                    self.assertTrue(cell in ("", repr(float(cell or 0))), (name, cell))
                elif cell:
                    self.assertEqual(cell, str(int(cell)), name)

    def test_csv_differences_and_counters_agree(self) -> None:
        self.cells("run", "-i", "0.05", "--fields",
                   "cpu_user_seconds,d_cpu_user_seconds,cpu_user_ns,d_cpu_seconds,ru_utime",
                   *python(busy(0.3)))
        rows = read_csv(self.path)
        self.assertGreater(rows[-1]["cpu_user_seconds"], 0)
        self.assertEqual(round(rows[-1]["cpu_user_seconds"] * 1e9), rows[-1]["cpu_user_ns"])
        self.assertAlmostEqual(sum(row["d_cpu_user_seconds"] for row in rows),
                               rows[-1]["cpu_user_seconds"], places=8)
        for row in rows:
            self.assertGreaterEqual(row["d_cpu_seconds"], row["d_cpu_user_seconds"])
            self.assertAlmostEqual(row["ru_utime"], row["cpu_user_seconds"], places=8)

    def test_csv_iso_time_is_that_of_the_epoch(self) -> None:
        self.cells("run", "-i", "0.05", "--time-format", "iso", "--fields",
                   "realtime_ns,timestamp", "sleep", "0.12")
        for row in read_csv(self.path):
            self.assertRegex(row["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            moment = datetime.datetime.strptime(row["timestamp"], "%Y-%m-%dT%H:%M:%S.%fZ")
            since = moment - datetime.datetime(1970, 1, 1)
            self.assertEqual(since // datetime.timedelta(microseconds=1),
                             row["realtime_ns"] // 1000)

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
        rows = read_csv(self.written("run", "-i", "0.05", "--fields", "children", *python(code)))
        self.assertEqual(max(row["children"] for row in rows), 2)
        self.assertEqual(rows[-1]["children"], 0)

    def written(self, *words: str) -> str:
        self.cells(*words)
        return str(self.path)

    def test_csv_unknown_cell_is_empty(self) -> None:
        rows = self.cells("run", "--no-children", "--fields", "pid,children", "sleep", "0.1")[1:]
        self.assertEqual({row[1] for row in rows}, {""})

    def test_csv_numbers_in_any_locale_have_same_format(self) -> None:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
            done = rtrack("run", "-q", "-i", "0.05", "-o", "-", *python(busy(0.1)),
                          env=in_locale(name))
            self.assertEqual({len(line.split(",")) for line in done.stdout.splitlines()},
                             {len(TREE)})


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
        seen = [meminfo()]
        has_ended = threading.Event()

        def look() -> None:
            while not has_ended.wait(0.02):
                seen.append(meminfo())

        looker = threading.Thread(target=look)
        looker.start()
        try:
            rows = read_csv(self.write("csv-v5", 64))
        finally:
            has_ended.set()
            looker.join()
        seen.append(meminfo())
        held = max(row["process_memory_mib"] or 0 for row in rows)  # none: an estimate
        self.assertTrue(64 < held < 128, held)
        margin = seen[0]["MemTotal"] / 50
        free = [info["MemFree"] for info in seen]
        cached = [info["Cached"] + info["SReclaimable"] for info in seen]
        for row in rows:
            for values, name in ((free, "system_memory_free_mib"),
                                 (cached, "system_memory_cached_mib")):
                kib = row[name] * 1024
                self.assertTrue(min(values) - margin < kib < max(values) + margin, (values, row))

    def write(self, form: str, mib: int) -> str:
        self.cells("run", "-f", form, "-i", "0.1",
                   *python(f"x = b'x' * ({mib} << 20)\n" + until_rows(self.path)))
        return str(self.path)


class Jsonl(Files):
    def test_meta_is_in_a_file_of_its_own(self) -> None:
        path, meta_path = self.dir / "rows.jsonl", self.dir / "meta.json"
        rtrack("run", "-q", "-i", "0.25", "-o", path, "--meta", meta_path, "--", "echo", *HOSTILE)
        meta = json.loads(meta_path.read_text())
        self.assertEqual((meta["type"], meta["schema"], meta["kind"]), ("meta", 3, "process"))
        self.assertEqual(meta["command"], ["echo", *HOSTILE])
        self.assertEqual(meta["interval_seconds"], 0.25)
        self.assertEqual({row["type"] for row in read_jsonl(path)}, {"sample"})

    def test_meta_replaces_invalid_utf8(self) -> None:
        path, meta_path = self.dir / "rows.jsonl", self.dir / "meta.json"
        words = [b"\xff", b"ok\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
        rtrack("run", "-q", "-o", path, "--meta", meta_path, "--", "true", *words)
        command = json.loads(meta_path.read_text())["command"]
        self.assertEqual(command[1:],
                         ["\ufffd", "ok\ufffd", "\ufffd" * 2, "\ufffd" * 3, "\ufffd" * 4])

    def samples(self, *words: str) -> List[Row]:
        path = self.dir / "rows.jsonl"
        done = rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        samples = read_jsonl(path)
        self.assertTrue(samples)
        self.assertEqual({sample["type"] for sample in samples}, {"sample"})
        return samples

    def test_jsonl_sample_of_tree_has_every_field(self) -> None:
        header = fields_of_header()
        for sample in self.samples("run", *python(busy(0.1))):
            for name in ("cpu_user_seconds", "pss_bytes", "read_bytes", "voluntary_switches",
                         "processes", "ru_utime", "ru_nivcsw", "d_cpu_user_seconds", "cores_used",
                         "interval_seconds", "self_cpu_seconds", "pid"):
                self.assertIn(name, sample)
            extra = {
                "type", "kind", "pid", "children", "timestamp", "interval_seconds", "partial",
                "reasons"}
            self.assertLessEqual(extra, set(sample))
            self.assertLessEqual(set(sample), header | extra | {"gpus_busy"})
            for name in ("memory_total_bytes", "ru_nswap", "realtime_ns"):
                self.assertNotIn(name, sample)
            self.assertIn(sample["source"], ("proc", "bpf", "bpf-account"))
            if sample["pss_bytes"]:  # the tree still has a process
                self.assertIn(sample["pss_source"], ("read", "estimated"))
                self.assertIsInstance(sample["pss_age_seconds"], float)
            self.assertEqual(sample["members_skipped"], 0)

    def test_jsonl_sample_of_system_has_every_field(self) -> None:
        for sample in self.samples("system", "--count", "2"):
            for name in ("memory_total_bytes", "disk_read_bytes", "network_receive_bytes",
                         "load_1m", "cpu_mode_idle_seconds", "d_cpu_mode_idle_seconds", "d_forks",
                         "zfs_size_bytes"):
                self.assertIn(name, sample)
            for name in ("pss_bytes", "pss_age_seconds", "pss_source", "source", "ru_maxrss",
                         "ru_nswap", "members_skipped", "members_unreadable", "pid", "children"):
                self.assertNotIn(name, sample)

    def test_jsonl_differences_match_counters(self) -> None:
        samples = self.samples("run", *python(busy(0.3)))
        for earlier, later in zip(samples, samples[1:]):
            for name in ("cpu_user_seconds", "cpu_system_seconds", "minor_faults", "read_chars"):
                self.assertAlmostEqual(later["d_" + name], later[name] - earlier[name], 8, name)
            self.assertAlmostEqual(later["interval_seconds"],
                                   later["monotonic_seconds"] - earlier["monotonic_seconds"], 8)

    def test_jsonl_partial_fields_are_named(self) -> None:
        for sample in self.samples("run", "sh", "-c", "for i in 1 2 3; do true | cat; done"):
            for name in sample["partial"]:
                self.assertIsNotNone(sample[name], name)


    def test_jsonl_has_no_integer_above_2_to_the_53(self) -> None:
        """Ask for the nanoseconds since 1970, which are more."""
        path = self.dir / "chosen.jsonl"
        rtrack("system", "-q", "-i", "0.02", "--count", "2", "--fields", "realtime_ns,timestamp",
               "-o", path)
        for sample in read_jsonl(path):
            self.assertIsInstance(sample["realtime_ns"], str)
            self.assertAlmostEqual(int(sample["realtime_ns"]) / 1e9, sample["timestamp"], 5)
        for sample in self.samples("system", "--count", "1"):
            for name, value in sample.items():
                self.assertFalse(isinstance(value, int) and value > 1 << 53, name)


def fields_of_header() -> Set[str]:
    """Return the names of all fields of a sample and of its differences, in the units of a row."""
    text = re.sub(r"/\*.*?\*/", "", header.text_of(HEADER), flags=re.DOTALL)
    names = set()
    for struct, prefix in (("rt_rusage", ""), ("rt_metrics", ""), ("rt_rusage", "d_"),
                           ("rt_delta", "d_")):
        body = re.search(r"struct %s \{(.*?)\n\};" % struct, text, re.DOTALL)[1]
        for declaration in body.split(";"):
            members = re.sub(r"^(struct )?\w+\s+", "", declaration.strip())
            names |= {prefix + member.strip() for member in members.split(",") if member.strip()}
    names |= {name[2:] for name in names if name.startswith("d_")}
    return names | {name[:-2] + "seconds" for name in names if name.endswith("_ns")}


class Choice(Files):
    def first_line(self, name: str, *words: str) -> str:
        path = self.dir / name
        rtrack("run", "-q", *words, "-o", path, "true")
        return path.read_text().splitlines()[0]

    def test_format_follows_file_suffix(self) -> None:
        self.assertEqual(self.first_line("a.csv"), ",".join(TREE))
        self.assertEqual(self.first_line("a.txt"), ",".join(TREE))
        self.assertTrue(self.first_line("a.jsonl").startswith('{"type":"sample"'))

    def test_format_option_overrides_suffix(self) -> None:
        self.assertTrue(self.first_line("a.csv", "-f", "jsonl").startswith("{"))
        self.assertTrue(self.first_line("a.jsonl", "-f", "csv").startswith("timestamp"))
        self.assertTrue(self.first_line("a.csv", "-f", "csv-v1").startswith('"timestamp"'))

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

    def test_append_adds_meta_per_run(self) -> None:
        path, meta = self.dir / "rows.jsonl", self.dir / "meta.jsonl"
        for word in ("one", "two"):
            rtrack("run", "-q", "-i", "60", "-a", "-o", path, "--meta", meta, "echo", word)
        self.assertEqual([row["type"] for row in read_jsonl(path)], ["sample"] * 2)
        self.assertEqual([row["command"] for row in read_jsonl(meta)],
                         [["echo", "one"], ["echo", "two"]])

    def test_append_after_torn_row_starts_new_line(self) -> None:
        self.path.write_text("timestamp,pid\n1795225241.8,12\n1795225242.8")
        rtrack("run", "-q", "-i", "60", "-a", "-o", self.path, "true")
        lines = self.path.read_text().splitlines()
        self.assertEqual(lines[1:3], ["1795225241.8,12", "1795225242.8"])
        self.assertEqual([len(line.split(",")) for line in lines[3:]], [2])

    def test_append_keeps_the_columns_of_the_file(self) -> None:
        rtrack("run", "-q", "-a", "-o", self.path, "--fields", "pss_bytes,timestamp", "true")
        rtrack("run", "-q", "-a", "-o", self.path, "true")
        self.assertEqual([list(row) for row in read_csv(self.path)],
                         [["pss_bytes", "timestamp"]] * 2)

    def test_append_to_standard_output_keeps_the_columns_of_the_file(self) -> None:
        """Columns that the head leaves out, as those of GPUs, are left out of later rows."""
        for words in ([], ["--fields", "timestamp,processes"]):
            path = self.path if not words else self.dir / "chosen"
            for _ in range(2):
                with open(path, "a") as file:
                    done = rtrack("system", "-q", "-a", "-f", "csv", "-i", "0.01", "--count", "1",
                                  *words, stdout=file)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = path.read_text().splitlines()
            self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")})
            self.assertEqual(path.read_text().count("timestamp"), 1)

    def test_append_to_other_columns_is_refused(self) -> None:
        rtrack("run", "-q", "-o", self.path, "-f", "csv-v1", "true")
        before = self.path.read_text()
        for words in ([], ["-f", "csv-v5"], ["--fields", "timestamp"]):
            done = rtrack("run", "-q", "-a", "-o", self.path, *words, "echo", "started")
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn("it has other columns", done.stderr)
            self.assertEqual(self.path.read_text(), before)
        done = rtrack("run", "-q", "-a", "-o", self.path, "-f", "jsonl", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("it has no rows of the format jsonl", done.stderr)
        self.assertEqual(self.path.read_text(), before)
        self.assertEqual(rtrack("run", "-q", "-a", "-o", self.path, "-f", "csv-v1", "true").stderr,
                         "")


class Fields(Files):
    NAMES = ["timestamp", "cores_used", "pss_bytes"]

    def test_fields_are_written_in_the_given_order(self) -> None:
        for names in (self.NAMES, self.NAMES[::-1]):
            cells = self.cells("run", "-i", "0.05", "--fields", ",".join(names), "sleep", "0.1")
            self.assertEqual(cells[0], names)
            path = self.dir / "rows.jsonl"
            rtrack("run", "-q", "--fields", ",".join(names), "-o", path, "true")
            self.assertEqual([list(row) for row in read_jsonl(path)], [names])

    def test_fields_of_attach_and_system(self) -> None:
        for words in (["attach", str(os.getpid())], ["system"]):
            cells = self.cells(*words[:1], "--count", "1", "-i", "0.02", "--fields",
                               "timestamp,processes", *words[1:])
            self.assertEqual(cells[0], ["timestamp", "processes"])
            self.assertGreater(int(cells[1][1]), 0)

    def test_unknown_field_is_named(self) -> None:
        empty = "--fields 'pid,,pid' has an empty name between two commas"
        other = "memory_total_bytes"
        for words, problem in ((["run", "--fields", "pid,pss"], "unknown field 'pss'"),
                               (["run", "--fields", "pid,,pid"], empty),
                               (["run", "--fields", other], f"unknown field '{other}'"),
                               (["system", "--fields", "pss_bytes"], "unknown field 'pss_bytes'")):
            done = rtrack(*words, "-o", self.path, *(["true"] if words[0] == "run" else []))
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(problem, done.stderr)
            self.assertFalse(self.path.exists())

    def test_fixed_formats_have_no_choice(self) -> None:
        for form in ("csv-v1", "csv-v5"):
            done = rtrack("run", "-f", form, "--fields", "pid", "-o", self.path, "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(form, done.stderr)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_only_what_the_fields_need_is_read(self) -> None:
        """Nothing else needs a figure: there is no summary. The names are those of /proc.

        As its own supervisor, rtrack also reads the I/O of what it reaps: it is not that here."""
        separate = {**os.environ, "RTRACK_SUPERVISOR": "separate"}
        for words, needs, does_without in (
                (["system", "--count", "2", "--fields", "load_1m"], ["loadavg"],
                 ["meminfo", "diskstats", "net/dev", "pressure"]),
                (["system", "--count", "2", "--fields", "swap_used_bytes"], ["meminfo"],
                 ["loadavg", "diskstats", "net/dev", "pressure"]),
                (["run", "--fields", "cores_used", "sleep", "0.1"], ["stat"],
                 ["smaps_rollup", "/io\""]),
                (["run", "--fields", "rss_bytes,d_read_bytes", "sleep", "0.1"], ["statm", "/io\""],
                 ["smaps"]),
                (["run", "--fields", "footprint_bytes", "sleep", "0.1"], ["statm", "/smaps\""],
                 ["smaps_rollup", "/io\""]),
                (["run", "--fields", "pss_bytes", "sleep", "0.1"], ["smaps_rollup"], ["/io\""]),
                (["run", "-f", "csv", "sleep", "0.1"], ["/smaps\""], ["smaps_rollup"]),
                # Their columns are PSS by definition.
                (["run", "-f", "csv-v1", "sleep", "0.1"], ["smaps_rollup"], []),
                (["run", "-f", "csv-v5", "sleep", "0.1"], ["smaps_rollup"], [])):
            log = self.dir / "log"
            done = subprocess.run(["strace", "-o", log, "-e", "trace=openat", RTRACK, words[0],
                                   "-q", "-i", "0.02", "-o", self.path, *words[1:]],
                                  env=separate, stderr=subprocess.PIPE, text=True,
                                  timeout=PATIENCE_S)
            if done.returncode:
                self.skipTest("strace cannot trace here: " + done.stderr)
            opened = log.read_text()
            for name in needs:
                self.assertIn(name, opened, words)
            for name in does_without:
                self.assertNotIn(name, opened, words)
            self.assertIsNotNone(list(read_csv(self.path)[-1].values())[0])

    def test_marks_that_were_not_chosen_are_counted(self) -> None:
        words = ["run", "--summary", "none", "--pss", "off", "-i", "0.05", "-o", self.path]
        done = rtrack(*words, "--fields", "pss_bytes", "sleep", "0.2")
        self.assertRegex(done.stderr, r"rtrack: \d+ of \d+ rows have lower bounds or estimates")
        done = rtrack(*words, "--fields", "pss_bytes,estimated,partial", "sleep", "0.2")
        self.assertNotIn("lower bounds", done.stderr)
        # It is unknown, and no estimate, until proportional memory was read.
        done = rtrack(*words, "--fields", "pid,peak_tree_pss_bytes", "sleep", "0.2")
        self.assertEqual({row["peak_tree_pss_bytes"] for row in read_csv(self.path)}, {None})
        self.assertNotIn("lower bounds", done.stderr)

    def test_info_lists_every_field_with_unit_and_meaning(self) -> None:
        listed = json.loads(rtrack("info", "--fields", "--json").stdout)
        names = [field["name"] for field in listed]
        self.assertEqual(len(listed), len({(field["name"], field["of"] == ["process"])
                                           for field in listed}))
        for field in listed:
            self.assertNotIn("rtrack.h", field["about"], field["name"])
            if field["name"].endswith(("_bytes", "_seconds", "_ns")):
                unit = {"bytes": "By", "seconds": "s", "ns": "ns"}[field["name"].split("_")[-1]]
                self.assertEqual(field["unit"], unit, field["name"])
        self.assertLessEqual({*TREE, *SYSTEM}, set(names))
        text = rtrack("info", "--fields").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in text], names)
        for kind, words in (("tree", ["run", "true"]), ("system", ["system", "--count", "1"]),
                            ("process", ["run", "--per-process", "true"])):
            chosen = [field["name"] for field in listed
                      if kind in field["of"] and (kind, field["name"]) != ("process", "cgroup")]
            self.assertEqual(self.cells(words[0], "--gpu", "-i", "0.02", "--fields",
                                        ",".join(chosen), *words[1:])[0], chosen)


if __name__ == "__main__":
    unittest.main(verbosity=2)
