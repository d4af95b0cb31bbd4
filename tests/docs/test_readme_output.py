# SPDX-License-Identifier: MIT
"""Check that the output in README.md has the shape of what the current build prints.

The figures are those of a build of librtrack, which test_quickstart.py runs. Here a short job runs.
Lines are compared with the figures, bars and command lines taken out."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from typing import List

from harness import BUILD, SOURCE, need

RTRACK = BUILD / "examples/rtrack/rtrack"
# Some processes that use CPU time and memory, for as long as a series takes.
JOB = """
import subprocess, sys
work = "import time\\nx = b'x' * (20 << 20)\\nwhile time.process_time() < 0.6: pass"
for child in [subprocess.Popen([sys.executable, "-I", "-c", work]) for _ in range(4)]:
    child.wait()
"""
LABELS = ("wall time", "CPU time", "cores", "peak memory", "read", "written", "processes",
          "most CPU", "most memory", "accounting")


def shape(line: str) -> str:
    """Return a line without its figures. Bars are BAR, command lines COMMAND."""
    line = re.sub(r"\b(about|at least) ", "", line.rstrip())
    top = re.match(r"( +(?:most CPU|most memory)? +[\d.]+ (?:s|[KMGT]?i?B)) +\S.*[^\d\s]", line)
    if top and not re.search("largest process|storage|user,", line):
        line = top[1].replace("most memory", "most CPU") + " COMMAND"
    line = re.sub("[▁-█]+|#+", "BAR", line)
    line = re.sub(r"[\d,]*\d(\.\d+)?( (s|[KMGT]i?B|B)\b)?", "N", line)
    line = re.sub(r"^  accounting .*", "accounting", line)
    line = re.sub("in all$|seen$", "in all or seen", line)  # by the rights of the caller
    return " ".join(re.sub("~ +N", "N", line).split())


def readme_output() -> List[str]:
    text = (SOURCE / "README.md").read_text()
    [block] = [block for block in re.findall(r"(?ms)^```text\n(.*?)^```$", text)
               if "\nrtrack: ninja" in block]
    return block.splitlines()


class ReadmeOutput(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as directory:
            csv = pathlib.Path(directory) / "rows.csv"
            env = {**os.environ, "LC_ALL": "C.UTF-8"}
            done = subprocess.run([RTRACK, "run", "-i", "50ms", "-o", csv, "--", sys.executable,
                                   "-I", "-c", JOB], capture_output=True, text=True, check=True,
                                  env=env)
            cls.summary = done.stderr.splitlines()
            cls.table = subprocess.run(
                ["awk", "-v", f"cpus={os.cpu_count()}", "-f", SOURCE / "examples/series.awk", csv],
                capture_output=True, text=True, check=True, env=env).stdout.splitlines()

    def test_summary_has_the_labels_of_the_current_build_in_order(self) -> None:
        def labels(lines: List[str]) -> List[str]:
            found = [re.match("^  (wall time|CPU time|peak memory|most CPU|most memory|[a-z]+) ",
                              line) for line in lines]
            return [match[1] for match in found if match]

        self.assertEqual(labels(readme_output()), labels(self.summary))
        self.assertEqual(tuple(labels(self.summary)), LABELS)

    def test_every_line_has_a_shape_that_the_current_build_prints(self) -> None:
        printed = {shape(line) for line in [*self.summary, *self.table]}
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


if __name__ == "__main__":
    need("awk")
    unittest.main(verbosity=2)
