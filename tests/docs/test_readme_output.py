# SPDX-License-Identifier: MIT
"""Check that the output and the picture in README.md are what the current build makes.

The figures are those of a build of librtrack, which test_quickstart.py runs. Here a short job runs.
Lines are compared with the figures, bars and command lines taken out."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from typing import List, Tuple

from harness import BUILD, SOURCE

RTRACK = BUILD / "examples/rtrack/rtrack"
# Some processes that use CPU time and memory, for as long as a series takes.
JOB = """
import subprocess, sys
work = "import time\\nx = b'x' * (20 << 20)\\nwhile time.process_time() < 0.6: pass"
for child in [subprocess.Popen([sys.executable, "-I", "-c", work]) for _ in range(4)]:
    child.wait()
"""
MAX_WORDS = 1000
LABELS = ("wall time", "CPU time", "cores", "peak memory", "read", "written", "processes",
          "most CPU", "most memory", "accounting")


def shape(line: str) -> str:
    """Return a line without its figures. Bars are BAR, command lines COMMAND."""
    line = re.sub(r"\b(about|at least) ", "", line.rstrip())
    top = re.match(r"( +(?:most CPU|most memory)? +[\d.]+ (?:s|[KMGT]?i?B)) +\S.*[^\d\s]", line)
    if top and not re.search("largest process|storage|user,", line):
        line = top[1].replace("most memory", "most CPU") + " COMMAND"
    line = re.sub("[▁-█]+", "BAR", line)
    line = re.sub(r"[\d,]*\d(\.\d+)?( (s|[KMGT]i?B|B)\b)?", "N", line)
    line = re.sub(r"^  accounting .*", "accounting", line)
    line = re.sub("in all$|seen$", "in all or seen", line)  # by the rights of the caller
    return " ".join(line.split())


def readme_output() -> List[str]:
    text = (SOURCE / "README.md").read_text()
    [block] = [block for block in re.findall(r"(?ms)^```text\n(.*?)^```$", text)
               if "\nrtrack: ninja" in block]
    return block.splitlines()


def draw(series: pathlib.Path) -> str:
    """Return the picture of a series."""
    return subprocess.run([sys.executable, SOURCE / "examples/series_svg.py", series],
                          capture_output=True, text=True, check=True).stdout


def readme_picture() -> pathlib.Path:
    [path] = re.findall(r"^!\[[^\]]+\]\((\S+)\)$", (SOURCE / "README.md").read_text(), re.MULTILINE)
    return SOURCE / path


def outline(svg: str) -> List[Tuple[str, List[str], str]]:
    """The elements of a picture, with their attributes and text, without numbers."""
    return [(one.tag, sorted(one.attrib), re.sub(r"[\d.]+", "N", one.text or ""))
            for one in xml.etree.ElementTree.fromstring(svg).iter()]


class ReadmeOutput(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as directory:
            series = pathlib.Path(directory) / "rows.csv"
            done = subprocess.run([RTRACK, "run", "-i", "50ms", "-o", series, "--", sys.executable,
                                   "-I", "-c", JOB], capture_output=True, text=True, check=True,
                                  env={**os.environ, "LC_ALL": "C.UTF-8"})
            cls.summary = done.stderr.splitlines()
            cls.picture = draw(series)
            with series.open(newline="") as file:
                cls.rows = list(csv.DictReader(file))

    def test_summary_has_the_labels_of_the_current_build_in_order(self) -> None:
        def labels(lines: List[str]) -> List[str]:
            found = [re.match("^  (wall time|CPU time|peak memory|most CPU|most memory|[a-z]+) ",
                              line) for line in lines]
            return [match[1] for match in found if match]

        self.assertEqual(labels(readme_output()), labels(self.summary))
        self.assertEqual(tuple(labels(self.summary)), LABELS)

    def test_every_line_has_a_shape_that_the_current_build_prints(self) -> None:
        printed = {shape(line) for line in self.summary}
        for line in readme_output():
            if line.startswith(("$ ", "rtrack: ")) or not line:
                continue
            self.assertIn(shape(line), printed, line)

    def test_title_has_the_form_of_the_current_build(self) -> None:
        form = r"^rtrack: \S.*   exit 0$"
        self.assertRegex(self.summary[0], form)
        self.assertEqual([line for line in readme_output() if re.match(form, line)],
                         [line for line in readme_output() if line.startswith("rtrack: ")])

    def test_command_line_is_that_of_the_quickstart(self) -> None:
        [line] = [line for line in readme_output() if line.startswith("$ ")]
        script = (SOURCE / "examples/quickstart.sh").read_text()
        [command] = re.findall(r'echo "\\(\$ rtrack run .*)"', script)
        for name, value in re.findall(r"(?m)^(build|job|csv)=(\S+)", script):
            command = command.replace(f"${name}", value)
        self.assertEqual(line, command.replace("$build", "build"))

    def test_picture_is_drawn_by_the_current_script(self) -> None:
        self.assertEqual(outline(readme_picture().read_text()), outline(self.picture))

    def test_picture_has_each_row_in_proportion(self) -> None:
        root = xml.etree.ElementTree.fromstring(self.picture)
        paths = [path.attrib["d"] for path in root.iter("{http://www.w3.org/2000/svg}path")
                 if "fill" in path.attrib]
        for field, drawn in (("cores_used", paths[:2]), ("footprint_bytes", paths[2:])):
            for path, is_estimate in zip(drawn, (False, True)):
                values = [float(row[field]) for row in self.rows
                          if row[field] and (field in row["estimated"].split()) == is_estimate]
                heights = [float(one) for one in re.findall(r"v-([\d.]+)", path)]
                self.assertEqual(len(heights), len(values))
                scale = sum(heights) / max(sum(values), 1e-9)
                for height, value in zip(heights, values):
                    self.assertAlmostEqual(height, value * scale, delta=0.2)

    def test_series_that_cannot_be_drawn_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            series = pathlib.Path(directory) / "rows.csv"
            for text, problem in (("timestamp,cores_used\n", "has no rows"),
                                  ("timestamp,cores_used\n1,1\n", "has no column")):
                series.write_text(text)
                done = subprocess.run([sys.executable, SOURCE / "examples/series_svg.py", series],
                                      capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, f"^series_svg.py: {series} {problem}")

    def test_readme_is_short(self) -> None:
        self.assertLessEqual(len((SOURCE / "README.md").read_text().split()), MAX_WORDS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
