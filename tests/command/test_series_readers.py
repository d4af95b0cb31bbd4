# SPDX-License-Identifier: MIT
"""Load series with the programs that people use: pandas and jq. Check them against their schemas.

DuckDB is such a program, too, but Debian does not have it."""
import csv
import json
import os
import resource
import shutil
import subprocess
import unittest
from typing import Any, Dict, List

from harness import BUILD, SOURCE
from rtrack_command import Case, Row, python, read_csv, read_jsonl, rtrack

try:
    import pandas
except ImportError:
    pandas = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

# Compiles files, two at a time, and writes what this process and its children have used.
BUILD_ALL = """
import json, resource, subprocess, sys
usage, *files = sys.argv[1:]
while files:
    compilers = [subprocess.Popen(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2",
                                   *FLAGS, "-c", name, "-o", "/dev/null"]) for name in files[:2]]
    files = files[2:]
    assert not any(compiler.wait() for compiler in compilers)
def both(name):
    return sum(getattr(resource.getrusage(of), name)
               for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
with open(usage, "w") as file:
    json.dump({name: both(name) for name in ("ru_utime", "ru_stime", "ru_minflt")}, file)
"""
SOURCES = ("series/cell", "series/csv_v1", "text/json", "series/jsonl", "text/text", "text/units",
           "text/utf8", "series/series_columns")


def children_usage() -> Dict[str, float]:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {name: getattr(usage, name) for name in ("ru_utime", "ru_stime", "ru_minflt")}


@unittest.skipUnless(pandas, "pandas is not installed")
class Pandas(Case):
    def test_sums_of_a_build_are_those_of_the_kernel(self) -> None:
        if not shutil.which("cc"):
            self.skipTest("cc is not installed")
        path, usage = self.dir / "build.csv", self.dir / "usage"
        flags = ["-I", str(SOURCE / "include"), "-I", str(BUILD / "include"),
                 "-I", str(SOURCE / "examples/rtrack")]
        code = f"FLAGS = {flags!r}" + BUILD_ALL
        files = [str(SOURCE / f"examples/rtrack/{name}.c") for name in SOURCES]
        before = children_usage()
        done = rtrack("run", "-q", "-i", "0.05", "-o", path, *python(code), usage, *files)
        after = children_usage()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = pandas.read_csv(path)
        least = json.loads(usage.read_text())
        # User and system time are compared together: the kernel estimates how they divide.
        self.assert_between(rows.d_cpu_user_seconds.sum() + rows.d_cpu_system_seconds.sum(),
                            *(use["ru_utime"] + use["ru_stime"] for use in (before, least, after)))
        self.assert_between(rows.d_minor_faults.sum(),
                            *(use["ru_minflt"] for use in (before, least, after)))
        self.assertGreater(rows.footprint_bytes.max(), 10 << 20, "a compiler has some memory")
        self.assertGreater(rows.processes.max(), 2)
        self.assertAlmostEqual(rows.interval_seconds.sum(),
                               rows.timestamp.iloc[-1] - rows.timestamp.iloc[0] +
                               rows.interval_seconds.iloc[0], delta=0.05)

    def assert_between(self, got: float, before: float, least: float, after: float) -> None:
        """The command knows what it had used shortly before its end. What this process has waited
        for since before includes rtrack."""
        self.assertGreaterEqual(got * 1.0001, least)
        self.assertLessEqual(got * 0.9999, after - before)

    def test_csv_cells_are_numbers_also_where_some_are_unknown_or_marked(self) -> None:
        path = self.dir / "rows.csv"
        for words in (["run", "--pss", "off", "sleep", "0.2"], ["system", "--count", "3"]):
            rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
            rows = pandas.read_csv(path)
            for name in rows.columns.drop(["partial", "estimated"]):
                self.assertTrue(pandas.api.types.is_numeric_dtype(rows[name]), name)
        rtrack("run", "-q", "-i", "0.05", "--pss", "off", "-o", path, "sleep", "0.2")
        rows = pandas.read_csv(path)
        names = rows.estimated.fillna("").str.split()
        marked = rows[names.map(lambda names: "footprint_bytes" in names)]
        self.assertGreater(len(marked), 0)

    def test_csv_times_are_read_as_times(self) -> None:
        path = self.dir / "rows.csv"
        rtrack("system", "-q", "-i", "0.05", "--count", "3", "--time-format", "iso", "--fields",
               "timestamp,realtime_ns", "-o", path)
        rows = pandas.read_csv(path, parse_dates=["timestamp"])
        self.assertEqual(str(rows.timestamp.dtype), "datetime64[ns, UTC]")
        self.assertEqual(rows.realtime_ns.dtype, "int64")
        self.assertTrue(all(rows.timestamp.astype("int64") // 1000 == rows.realtime_ns // 1000))

    def test_jsonl_integers_are_kept(self) -> None:
        path = self.dir / "rows.jsonl"
        for words in (["run", "sleep", "0.2"], ["system", "--count", "3"]):
            rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
            rows, expected = pandas.read_json(path, lines=True), read_jsonl(path)
            self.assertEqual(len(rows), len(expected))
            for name in expected[0]:
                values = [row[name] for row in expected]
                if all(isinstance(value, int) for value in values):
                    self.assertEqual(rows[name].dtype, "int64", name)
                    self.assertEqual(list(rows[name]), values, name)


@unittest.skipUnless(shutil.which("jq"), "jq is not installed")
class Jq(Case):
    def test_jq_reads_the_numbers_that_python_reads(self) -> None:
        path = self.dir / "rows.jsonl"
        for words in (["run", "sleep", "0.2"], ["system", "--count", "3"]):
            rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
            output = subprocess.run(["jq", "-c", ".", path], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout
            self.assertEqual([json.loads(line) for line in output.splitlines()], read_jsonl(path))

    def test_jq_keeps_integers_above_2_to_the_53(self) -> None:
        path = self.dir / "rows.jsonl"
        rtrack("system", "-q", "-i", "0.02", "--count", "2", "--fields", "realtime_ns", "-o", path)
        output = subprocess.run(["jq", "-r", ".realtime_ns", path], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(output.split(), [row["realtime_ns"] for row in read_jsonl(path)])


@unittest.skipUnless(jsonschema, "jsonschema is not installed")
class Schema(Case):
    def validator(self, name: str) -> Any:
        schema = json.loads((SOURCE / "docs/schema" / name).read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        return jsonschema.Draft7Validator(schema)

    def rows(self, form: str) -> List[Row]:
        """Return rows of trees and of the system."""
        found: List[Row] = []
        path = self.dir / f"rows.{form}"
        for words in (["run", "--", "sh", "-c", "true | sleep 0.2"],
                      ["run", "--pss", "off", "--no-children", "sleep", "0.1"],
                      ["attach", "--count", "2", str(os.getpid())], ["system", "--count", "2"]):
            rtrack(words[0], "-q", "-i", "0.05", "-o", path, *words[1:])
            found += read_csv(path) if form == "csv" else read_jsonl(path)
        self.assertGreater(len(found), 6)
        return found

    def test_rows_of_jsonl_fit_their_schema(self) -> None:
        validator = self.validator("series-jsonl.schema.json")
        for row in self.rows("jsonl"):
            validator.validate(row)

    def test_rows_of_csv_fit_their_schema(self) -> None:
        validator = self.validator("series-csv.schema.json")
        for row in self.rows("csv"):
            validator.validate(row)

    def test_schemas_refuse_other_rows(self) -> None:
        for form in ("csv", "jsonl"):
            name = f"series-{form}.schema.json"
            validator = self.validator(name)
            good = self.rows(form)[0]
            for key, value in (("needed_bytes", -1), ("needed_bytes", 1.5), ("timestamp", "now"),
                               ("cores_used", "1"), ("partial", 3)):
                self.assertFalse(validator.is_valid({**good, key: value}), (name, key, value))
            for key in ("timestamp", "footprint_bytes", "partial"):
                self.assertFalse(validator.is_valid(
                    {other: value for other, value in good.items() if other != key}), (name, key))

    def test_schema_of_csv_has_every_column(self) -> None:
        known = json.loads((SOURCE / "docs/schema/series-csv.schema.json").read_text())
        path = self.dir / "rows.csv"
        for words in (["run", "true"], ["system", "--count", "1"]):
            rtrack(words[0], "-q", "-i", "0.02", "-o", path, *words[1:])
            with open(path, newline="") as file:
                self.assertLessEqual(set(next(csv.reader(file))), set(known["properties"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
