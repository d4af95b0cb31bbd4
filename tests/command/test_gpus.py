# SPDX-License-Identifier: MIT
"""GPUs in rtrack system and info, by a library that stands in for that of NVIDIA's driver."""
import json
import os
import shutil
import time
import unittest
from typing import Any, Dict, List

from harness import BUILD
from rtrack_command import Case, read_csv, read_jsonl, rtrack

TWO = ("gpu 3b 50 1048576000 4194304000 7 H200\n"
       "gpu 3c 25 524288000 4194304000 5 H200\n"
       "gpu 3d 0 0 4194304000 5 H200\n")


class Gpus(Case):
    def setUp(self) -> None:
        super().setUp()
        shutil.copy(BUILD / "tests/component/fake-nvml-3.so", self.dir / "libnvidia-ml.so.1")
        self.script = self.dir / "script"
        self.script.write_text(TWO)

    def environment(self) -> Dict[str, str]:
        return {**os.environ, "LD_LIBRARY_PATH": str(self.dir),
                "FAKE_NVML_SCRIPT": str(self.script), "FAKE_NVML_LOG": str(self.dir / "log")}

    def system(self, form: str) -> List[Dict[str, Any]]:
        rows = self.dir / "rows"
        rtrack("system", "-q", "-i", "0.1", "--count", "3", "-f", form, "-o", rows,
               env=self.environment())
        return read_jsonl(rows)[1:] if form == "jsonl" else read_csv(rows)

    def test_csv_has_busy_gpus_memory_and_gpus_in_use(self) -> None:
        for form, prefix, vram in (("csv", "", "gpu_vram"),
                                   ("csv-v5", "system_", "system_gpu_vram_mib")):
            for row in self.system(form):
                self.assertEqual(row[vram], 1500)
                self.assertEqual(row[prefix + "gpu_utilized"], 2)
                self.assertGreater(row[prefix + "gpu_usage"], 0)

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
        busy_ns = rows[-1]["gpu_busy_ns"]
        self.assertTrue(0 < busy_ns <= 0.75 * passed_ns, (busy_ns, passed_ns))

    def test_figure_that_is_refused_is_unknown(self) -> None:
        self.script.write_text(TWO + "result nvmlDeviceGetUtilizationRates 4\n")
        for row in self.system("csv"):
            self.assertEqual([row["gpu_usage"], row["gpu_utilized"]], [None, None])
            self.assertEqual(row["gpu_vram"], 1500)

    def test_info_says_why_a_figure_is_missing(self) -> None:
        self.script.write_text(TWO + "result nvmlDeviceGetTotalEnergyConsumption 4\n")
        got = json.loads(rtrack("info", "--json", env=self.environment()).stdout)
        domains = got["system"]["domains"]
        self.assertEqual(domains["gpu"]["available"], "estimated")
        self.assertEqual(domains["gpu_memory"], {"available": "yes", "why": None})
        self.assertEqual(domains["gpu_energy"]["available"], "no")
        self.assertIn("refuses it to the caller", domains["gpu_energy"]["why"])

    def test_process_tree_does_not_touch_the_library(self) -> None:
        rtrack("run", "-q", "-i", "0.05", "-o", self.dir / "rows", "sleep", "0.1",
               env=self.environment())
        self.assertFalse((self.dir / "log").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
