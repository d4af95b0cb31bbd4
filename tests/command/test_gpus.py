# SPDX-License-Identifier: MIT
"""GPUs in rtrack, by a library that stands in for that of NVIDIA's driver."""
import json
import os
import re
import shutil
import subprocess
import time
import unittest
from typing import Any, Dict, List

from harness import BUILD
from rtrack_command import (PATIENCE_S, RTRACK, Case, Word, has_gpu, read_csv, read_jsonl,
                            rtrack)

TWO = ("gpu 3b 50 1048576000 4194304000 7 H200\n"
       "gpu 3c 25 524288000 4194304000 5 H200\n"
       "gpu 3d 0 0 4194304000 5 H200\n")
HAS_GPU = has_gpu()


class Gpus(Case):
    def setUp(self) -> None:
        super().setUp()
        shutil.copy(BUILD / "tests/component/fake-nvml-3.so", self.dir / "libnvidia-ml.so.1")
        self.script = self.dir / "script"
        self.script.write_text(TWO)

    def environment(self) -> Dict[str, str]:
        return {**os.environ, "LD_LIBRARY_PATH": str(self.dir),
                "FAKE_NVML_SCRIPT": str(self.script), "FAKE_NVML_LOG": str(self.dir / "log")}

    def rows(self, form: str, *words: Word) -> List[Dict[str, Any]]:
        path = self.dir / "rows"
        rtrack(words[0], "-q", "-i", "0.1", "--count", "3", "-f", form, "-o", path, *words[1:],
               env=self.environment())
        return read_jsonl(path) if form == "jsonl" else read_csv(path)

    def system(self, form: str) -> List[Dict[str, Any]]:
        return self.rows(form, "system", "--gpu")

    def summary(self, *words: Word) -> Dict[str, Any]:
        path = self.dir / "summary"
        rtrack(words[0], "-i", "0.1", "-o", self.dir / "rows", "--summary", "json",
               "--summary-file", path, *words[1:], env=self.environment())
        return json.loads(path.read_text())

    def test_csv_has_busy_gpus_memory_and_gpus_in_use(self) -> None:
        for row in self.system("csv-v1"):
            self.assertEqual(row["gpu_vram"], 1500)
            self.assertEqual(row["gpu_utilized"], 2)
            self.assertGreater(row["gpu_usage"], 0)
        for row in self.rows("csv-v5", "run", "--gpu", "sleep", "0.3"):
            self.assertEqual(row["system_gpu_vram_mib"], 1500)
            self.assertEqual(row["system_gpu_utilized"], 2)

    def test_jsonl_has_busy_time_within_the_time_that_passed(self) -> None:
        began = time.monotonic()
        rows = self.system("jsonl")
        passed_ns = (time.monotonic() - began) * 1e9
        for row in rows:
            self.assertEqual(row["gpus"], 3)
            self.assertEqual(row["gpus_used"], 2)
            self.assertEqual(row["gpu_memory_bytes"], 1500 << 20)
            self.assertEqual(row["gpu_energy_uj"], 17000)
        # Half of one and a quarter of another.
        busy_ns = rows[-1]["gpu_busy_seconds"] * 1e9
        self.assertTrue(0 < busy_ns <= 0.75 * passed_ns, (busy_ns, passed_ns))

    def test_csv_has_columns_of_gpus_where_there_are_some(self) -> None:
        for row in self.system("csv"):
            self.assertEqual((row["gpus_used"], row["gpu_memory_bytes"]), (2, 1500 << 20))
            self.assertTrue(0 < row["gpus_busy"] < 1, row)
            self.assertIn("gpus_busy", row["estimated"].split())

    def test_field_that_needs_the_option_is_refused_without_it(self) -> None:
        path = self.dir / "rows"
        words = ("-q", "-i", "0.01", "--count", "1", "-o", path, "--fields",
                 "timestamp,gpus_busy,gpus_used")
        for command, *more in (["run", "true"], ["attach", str(os.getpid())], ["system"]):
            done = rtrack(command, *words, *more, env=self.environment())
            self.assertEqual((done.returncode, path.exists()), (2, False), command)
            self.assertEqual(done.stderr.splitlines()[0],
                             "rtrack: the field 'gpus_busy' needs --gpu")
            done = rtrack(command, "--gpu", *words, *more, env=self.environment())
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            path.unlink()

    def test_default_field_that_needs_the_option_names_the_variable(self) -> None:
        env = {**self.environment(), "RTRACK_OPTIONS": "--fields gpus_busy"}
        self.assertEqual(rtrack("run", "-q", "true", env=env).returncode, 0)
        done = rtrack("run", "-q", "-o", "-", "true", env=env)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the field 'gpus_busy' in RTRACK_OPTIONS needs --gpu", done.stderr)

    def test_figure_that_is_refused_is_unknown(self) -> None:
        self.script.write_text(TWO + "result nvmlDeviceGetUtilizationRates 4\n")
        for row in self.system("csv-v1"):
            self.assertEqual([row["gpu_usage"], row["gpu_utilized"]], [None, None])
            self.assertEqual(row["gpu_vram"], 1500)

    @unittest.skipIf(HAS_GPU, "this machine has a GPU")
    def test_columns_without_a_gpu_are_0(self) -> None:
        """Readers of these formats take each cell for a number."""
        for gpu in ([], ["--gpu"]):
            (self.dir / "libnvidia-ml.so.1").unlink(missing_ok=True)
            for form, words in (("csv-v1", ["system"]), ("csv-v1", ["run", "true"]),
                                ("csv-v5", ["run", "true"])):
                rows = self.rows(form, words[0], *gpu, *words[1:])
                self.assertGreater(len(rows), 0)
                for row in rows:
                    got = {name: cell for name, cell in row.items() if "gpu" in name}
                    self.assertIn(len(got), (3, 6))
                    self.assertEqual(set(got.values()), {0}, got)

    def test_library_is_opened_only_if_gpus_are_asked_for(self) -> None:
        for words in (["run", "sleep", "0.1"], ["system"]):
            for form in ("csv", "csv-v5", "jsonl"):
                self.rows(form, *words)
        rtrack("attach", "-q", "-i", "0.1", "--count", "1", "-o", self.dir / "rows",
               str(os.getpid()), env=self.environment())
        self.assertFalse((self.dir / "log").exists())
        self.system("csv")
        self.assertTrue((self.dir / "log").exists())

    def test_summary_of_the_system_has_time_peak_and_energy(self) -> None:
        gpu = self.summary("system", "--gpu", "--count", "3")["gpu"]
        self.assertGreater(gpu["busy_seconds"], 0)
        self.assertEqual(gpu["peak_memory_bytes"], 1500 << 20)
        self.assertEqual(gpu["energy_joules"], 0)
        self.assertEqual(gpu["gpus"], 3)
        rows = self.dir / "rows"
        began = time.monotonic()
        text = rtrack("system", "--gpu", "-i", "0.1", "--count", "3", "-f", "jsonl", "-o", rows,
                      env=self.environment()).stderr
        passed_s = time.monotonic() - began
        shown = re.search(r"\n  wall time +([\d.]+) s\n(?s:.*)"
                          r"\n  GPU time +about ([\d.]+) s\n"
                          r" +about ([\d.]+) +GPUs busy, on average\n"
                          r" +1\.5 GiB +peak memory of GPUs\n"
                          r" +0\.00 +joules used by GPUs\n", text)
        self.assertIsNotNone(shown, text)
        wall_s, busy_s, busy = (float(word) for word in shown.groups())
        # The driver may answer the last question too late, on a busy system.
        self.assertAlmostEqual(busy_s, read_jsonl(rows)[-1]["gpu_busy_seconds"], delta=0.001)
        self.assertAlmostEqual(busy, busy_s / wall_s, delta=0.01)
        # Half of one and a quarter of another.
        self.assertTrue(0 < busy_s <= 0.75 * passed_s, (passed_s, text))

    def test_summary_without_the_option_has_no_gpus(self) -> None:
        for words in (("system", "--count", "2"), ("run", "true")):
            self.assertEqual(set(self.summary(*words)["gpu"].values()), {None})
        self.assertNotIn("GPU", rtrack("run", "true", env=self.environment()).stderr)

    @unittest.skipIf(HAS_GPU, "this machine has a GPU")
    def test_summary_says_that_there_is_none(self) -> None:
        (self.dir / "libnvidia-ml.so.1").unlink()
        text = rtrack("system", "--gpu", "-i", "0.1", "--count", "2", "-o", self.dir / "rows",
                      env=self.environment()).stderr
        self.assertRegex(text, r"\n  GPUs +none found\n")

    def test_summary_of_a_driver_that_hangs_is_unknown(self) -> None:
        self.script.write_text(TWO + "hang nvmlInit\n")
        began = time.monotonic()
        gpu = self.summary("system", "--gpu", "--count", "2")["gpu"]
        self.assertEqual(gpu, {"note": "unknown", "busy_seconds": None, "busy_gpus": None,
                               "peak_memory_bytes": None, "energy_joules": None, "gpus": None})
        self.assertGreater(time.monotonic() - began, 0.9)

    def test_markdown_says_why_there_is_no_figure(self) -> None:
        self.script.write_text("result nvmlInit 18\n")
        for label in ([], ["--label", "mine"]):
            done = rtrack("system", "--gpu", "-i", "0.1", "--count", "1", "-o", "/dev/null",
                          "--summary", "markdown", *label, env=self.environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            if not HAS_GPU:
                self.assertRegex(done.stderr, r"\n\| GPUs \| `unknown` \|")

    def under_devices(self, *words: Word) -> List[Word]:
        """Return the words that run others where /dev has GPUs of NVIDIA."""
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("this needs root and unshare")
        if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
            self.skipTest("NVML has pids of the first pid namespace alone")
        make = ("mount -t tmpfs tmpfs /dev && mknod /dev/null c 1 3 && "
                "cp -a /dev/null /dev/nvidiactl && cp -a /dev/null /dev/nvidia0 && exec \"$@\"")
        words = ["unshare", "--mount", "sh", "-c", make, "sh", *words]
        if subprocess.run([*words[:6], "true"], capture_output=True).returncode != 0:
            self.skipTest("/dev cannot be replaced here")
        return words

    def test_tree_has_time_and_memory_of_its_gpu(self) -> None:
        """The command has a GPU open, and the library lists it: 50 % busy, 1 MiB."""
        work = (f"exec 3</dev/nvidia0; cp {self.script} {self.dir}/next; "
                f"echo process 0 c $$ 1048576 >>{self.dir}/next; "
                f"for i in 1 2 3 4 5 6 7 8 9; do cp {self.dir}/next {self.dir}/now; "
                f"echo sample 0 $$ $(date +%s%6N) 50 0 0 >>{self.dir}/now; "
                f"mv {self.dir}/now {self.script}; sleep 0.1; done")
        rows, summary = self.dir / "rows", self.dir / "summary"
        words = self.under_devices(RTRACK, "run", "--gpu", "-i", "0.1", "-f", "csv-v5", "-o", rows,
                                   "--summary", "json", "--summary-file", summary, "--",
                                   "sh", "-c", work)
        done = subprocess.run(words, env=self.environment(), timeout=PATIENCE_S,
                              capture_output=True, text=True)
        notes = [line for line in done.stderr.splitlines() if "samples were missed" not in line]
        self.assertEqual((done.returncode, notes), (0, []))
        got = read_csv(rows)
        self.assertIn(1, [row["process_gpu_vram_mib"] for row in got])
        self.assertIn(1, [row["process_gpu_utilized"] for row in got])
        self.assertTrue(any(0 < (row["process_gpu_usage"] or 0) <= 1 for row in got), got)
        total = json.loads(summary.read_text())
        self.assertEqual(total["gpu"]["peak_memory_bytes"], 1 << 20)
        self.assertTrue(0 < total["gpu"]["busy_seconds"] <= total["wall_seconds"], total["gpu"])
        self.assertIn("gpu", total["partial"] + total["estimated"])

    def test_tree_that_was_not_asked_for_is_unknown_if_there_is_a_gpu(self) -> None:
        rows = self.dir / "rows"
        words = self.under_devices(RTRACK, "run", "-q", "-f", "csv-v5", "-o", rows, "true")
        subprocess.run(words, env=self.environment(), timeout=PATIENCE_S, check=True)
        for row in read_csv(rows):
            self.assertEqual({cell for name, cell in row.items() if "gpu" in name}, {None})

    def test_example_prints_gpus_and_processes(self) -> None:
        self.script.write_text(TWO + f"process 0 c {os.getpid()} 1048576\n")
        done = subprocess.run([BUILD / "examples/c/example-gpus"], env=self.environment(),
                              timeout=PATIENCE_S, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("gpu 0: H200 by nvidia, 50 % busy, 1000.0 of 4000.0 MiB\n", done.stdout)
        if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]":
            self.assertIn(f"process {os.getpid()} on gpu 0: 0.000 s 1.0 MiB\n", done.stdout)

    def info(self) -> Dict[str, Any]:
        return json.loads(rtrack("info", "--json", env=self.environment()).stdout)

    def test_info_says_why_a_figure_is_missing(self) -> None:
        self.script.write_text(TWO + "result nvmlDeviceGetTotalEnergyConsumption 4\n")
        domains = self.info()["system"]["domains"]
        self.assertEqual(domains["gpu"]["available"], "estimated")
        self.assertEqual(domains["gpu_memory"], {"available": "yes", "why": None})
        self.assertEqual(domains["gpu_energy"]["available"], "no")
        self.assertIn("refuses it to the caller", domains["gpu_energy"]["why"])

    @unittest.skipIf(HAS_GPU, "this machine has a GPU")
    def test_info_asks_for_the_gpus_of_a_tree(self) -> None:
        domains = self.info()["process"]["domains"]
        for name in ("gpu", "gpu_memory"):
            self.assertEqual(domains[name], {"available": "yes", "why": None})

    def test_info_lists_what_was_found_and_how(self) -> None:
        self.script.write_text(TWO + "instance 1 5 9\n")
        gpus = self.info()["gpus"]
        self.assertEqual(gpus["interfaces"]["nvml"], {"available": "yes", "why": None})
        self.assertEqual([(gpu["name"], gpu["pci"], gpu["partition"], gpu["memory_total_bytes"])
                          for gpu in gpus["devices"] if gpu["interface"] == "nvml"],
                         [("H200", "0000:3b:00.0", False, 4194304000),
                          ("H200", "0000:3c:00.0", False, 4194304000),
                          ("", "0000:3c:00.0", True, 9),
                          ("H200", "0000:3d:00.0", False, 4194304000)])
        text = rtrack("info", "-v", env=self.environment()).stdout
        self.assertRegex(text, r"\n  H200 +nvidia by NVML, at 0000:3b:00\.0\n")
        self.assertRegex(text, r"\n  MIG-100 +nvidia by NVML, at 0000:3c:00\.0, a partition\n")

    def test_info_says_why_an_interface_is_missing(self) -> None:
        self.script.write_text("result nvmlInit 18\n")
        nvml = self.info()["gpus"]["interfaces"]["nvml"]
        self.assertEqual(nvml["available"], "no")
        self.assertIn("different versions", nvml["why"])
        (self.dir / "libnvidia-ml.so.1").write_text("no library\n")
        if not HAS_GPU:
            self.assertIn("cannot be opened", self.info()["gpus"]["interfaces"]["nvml"]["why"])

    def test_name_that_is_no_text_is_printable(self) -> None:
        self.script.write_text(TWO + "unterminated nvmlDeviceGetName 1\n")
        self.assertEqual(len(self.info()["gpus"]["devices"][0]["name"]), 63)
        self.assertNotIn(b"\xff", rtrack("info", "-v", env=self.environment()).stdout.encode())


if __name__ == "__main__":
    unittest.main(verbosity=2)
