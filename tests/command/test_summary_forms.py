# SPDX-License-Identifier: MIT
"""Tests of the forms of the summary: its JSON schema, templates, Markdown, and its width."""
import fcntl
import json
import os
import platform
import pty
import pwd
import re
import struct
import subprocess
import termios
import unittest
import unicodedata
from typing import Any, Dict, List

from harness import SOURCE
from rtrack_command import (PATIENCE_S, RTRACK, Case, Word, busy, in_locale, python, read_jsonl,
                            read_terminal, rtrack, timed_out, until_rows, wait_until)

try:
    import jsonschema
except ImportError:
    jsonschema = None

ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")

# Writes 3 MiB and reads 2 MiB of them from storage, past the page cache if the file system has
# O_DIRECT. Prints how many blocks the kernel has counted of each.
STORAGE = """
import mmap, os, resource, sys
mib = mmap.mmap(-1, 1 << 20)
try:
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
except OSError:
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for _ in range(3):
    os.write(fd, mib)
os.fsync(fd)
os.lseek(fd, 0, os.SEEK_SET)
for _ in range(2):
    os.readv(fd, [mib])
use = resource.getrusage(resource.RUSAGE_SELF)
print(use.ru_inblock, use.ru_oublock, flush=True)
os._exit(0)
"""


@unittest.skipUnless(jsonschema, "python3-jsonschema is not installed")
class Schema(Case):
    def setUp(self) -> None:
        super().setUp()
        self.schema = json.loads((SOURCE / "docs/schema/summary.json").read_text())

    def check(self, got: Any) -> None:
        jsonschema.validate(got, self.schema)

    def test_schema_is_valid(self) -> None:
        jsonschema.Draft7Validator.check_schema(self.schema)

    def test_summaries_of_commands_match_schema(self) -> None:
        for words in (["true"], ["--accounting", "poll", "true"], ["--accounting", "wait", "true"],
                      ["--processes", "/dev/null", "sh", "-c", "true; kill -9 $$"],
                      ["--no-children", "true"], ["--pss", "off", "sh", "-c", "sleep 0.1 & :"]):
            self.check(json.loads(rtrack("run", "--summary", "json", *words).stderr))
        self.check(json.loads(
            timed_out("--summary", "json", "--label", "x", "sleep", "200").stderr))

    def test_summaries_of_attach_match_schema(self) -> None:
        """Both shapes are one: the keys are the same."""
        targets = [self.start(["sleep", "30"]) for _ in range(2)]
        done = rtrack("attach", "--summary", "json", "-d", "0.1", "-o", "/dev/null",
                      *(str(target.pid) for target in targets))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2)
        run = json.loads(rtrack("run", "--summary", "json", "true").stderr)
        for line, target in zip(lines, targets):
            got = json.loads(line)
            self.check(got)
            self.assertEqual(list(got), list(run))
            self.assertEqual((got["pid"], got["command"]), (target.pid, ["sleep", "30"]))

    def test_summary_of_system_matches_schema(self) -> None:
        done = rtrack("system", "--summary", "json", "-i", "0.1", "--count", "2", "-o",
                      "/dev/null")
        self.check(json.loads(done.stderr))

    def test_schema_refuses_what_is_missing_or_unknown(self) -> None:
        got = json.loads(rtrack("run", "--summary", "json", "true").stderr)
        for changed in ({**got, "wall": 1}, {**got, "processes": -1},
                        {key: value for key, value in got.items() if key != "partial"}):
            with self.assertRaises(jsonschema.ValidationError):
                self.check(changed)


class Meta(Case):
    def test_meta_matches_the_machine(self) -> None:
        done = rtrack("run", "--summary", "json", "true", cwd=self.dir)
        meta = json.loads(done.stderr)["meta"]
        self.assertEqual(meta["host"], platform.node())
        self.assertEqual(meta["uid"], os.geteuid())
        self.assertEqual(meta["user"], pwd.getpwuid(os.geteuid()).pw_name)
        self.assertEqual(meta["cwd"], os.path.realpath(self.dir))
        self.assertEqual(meta["cpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(meta["memory_bytes"],
                         os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"))
        self.assertEqual((meta["kernel"], meta["machine"]),
                         (platform.release(), platform.machine()))
        self.assertEqual(meta["command_line"], [RTRACK, "run", "--summary", "json", "true"])
        version = rtrack("--version").stdout
        self.assertEqual(version, f"rtrack {meta['rtrack']} (librtrack {meta['librtrack']})\n")


class Template(Case):
    def fill(self, template: str, *words: Word) -> str:
        done = rtrack("run", "--template", template, *(words or ["true"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_names_and_json_agree(self) -> None:
        """Each number of the JSON object has a name, and the names have the same kinds of value."""
        names = rtrack("run", "--template", "help").stdout.split()
        words = ("--accounting", "wait", "--pss", "off", "sleep", "0.3")
        got = json.loads(rtrack("run", "--summary", "json", *words).stderr)
        flat: Dict[str, Any] = {}
        for key, value in got.items():
            if key in ("accounting", "cgroup", "footprint", "gpu", "limit"):
                flat.update({f"{key}_{inner}": one for inner, one in value.items()})
            elif key not in ("type", "schema", "kind", "meta", "top_cpu", "top_memory"):
                flat[key] = value
        self.assertEqual(sorted(names), sorted("{" + key + "}" for key in flat))
        filled = self.fill("\\n".join(names), *words).splitlines()
        self.assertEqual(len(filled), len(names))
        for name, cell in zip(names, filled):
            value = flat[name[1:-1]]
            if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
                self.assertRegex(cell, r"^(\d+(\.\d+)?(e-\d+)?|-)$", name)
            elif isinstance(value, str):
                self.assertEqual(cell, value, name)

    def test_figures_are_those_of_json(self) -> None:
        """Of a command that ends itself, by a file that it writes before."""
        cells = self.fill("{exit_code} {signal} {exit_status} {ended} {command} {processes}",
                          "sh", "-c", ":").split()
        self.assertEqual(cells, ["0", "-", "0", "true", "sh", "-c", ":", "1"])

    def test_letters_are_those_of_gnu_time(self) -> None:
        """All letters that do not depend on the run are the same."""
        letters = "%D %K %W %X %Z %k %p %r %s %t %x %C %%"
        try:
            done = subprocess.run(["/usr/bin/time", "-f", letters, "true"], stderr=subprocess.PIPE,
                                  text=True, check=True)
        except FileNotFoundError:
            self.skipTest("GNU time is not installed")
        self.assertEqual(self.fill(letters), done.stderr)

    def test_letters_agree_with_gnu_time_in_figures(self) -> None:
        code = "x = b'x' * (40 << 20)\n" + busy(0.3)
        letters = "%e %U %S %M %P %E %F %R %c %w %I %O"
        done = subprocess.run(["/usr/bin/time", "-f", letters, *python(code)],
                              stderr=subprocess.PIPE, text=True)
        time, mine = done.stderr.split(), self.fill(letters, *python(code)).split()
        for theirs, ours in zip(time, mine):
            self.assertEqual(re.sub(r"\d+", "0", theirs), re.sub(r"\d+", "0", ours))
        self.assertAlmostEqual(float(mine[1]) + float(mine[2]), 0.3, delta=0.1)
        self.assertAlmostEqual(int(mine[3]) / int(time[3]), 1, delta=0.1)
        self.assertLessEqual(int(mine[4].rstrip("%")), 100 * os.sysconf("SC_NPROCESSORS_ONLN"))

    def test_letters_agree_with_names(self) -> None:
        peak, peak_kib, read, read_blocks, cores, percent = self.fill(
            "{peak_rss_bytes} %M {read_bytes} %I {cores_used} %P", *python(busy(0.1))).split()
        self.assertEqual((int(peak_kib), int(read_blocks)), (int(peak) // 1024, int(read) // 512))
        self.assertAlmostEqual(float(cores) * 100, float(percent.rstrip("%")), delta=0.51)

    def test_letters_of_storage_are_the_blocks_that_the_kernel_counts(self) -> None:
        done = rtrack("run", "--accounting", "wait", "--template", "%I %O", *python(STORAGE),
                      self.dir / "data")
        self.assertEqual(done.returncode, 0, done.stderr)
        (read, written), got = (list(map(int, text.split())) for text in (done.stdout, done.stderr))
        if written < 3 << 11:
            self.skipTest("the file system of the temporary directory has no storage")
        self.assertTrue(written <= got[1] <= written * 1.1, (written, got))
        if read >= 2 << 11:  # it may count writes alone
            self.assertTrue(read <= got[0] <= read * 1.1, (read, got))

    def test_signal_is_in_exit_status(self) -> None:
        done = rtrack("run", "--template", "%x", "sh", "-c", "kill -9 $$")
        self.assertEqual((done.returncode, done.stderr), (137, "137\n"))

    def test_escapes(self) -> None:
        self.assertEqual(self.fill(r"a\tb\n{{%%}}\\ \q }"), "a\tb\n{%}\\ \\q }\n")

    def test_text_cannot_write_control_characters(self) -> None:
        """A terminal would act on them."""
        words = ("sh", "-c", ":", "\033[2J\b", "a\nb", "\u202e", "\xe4", b"\xff")
        for label in ("--label", "--raw"):
            options = ["--label", "x\033[1my"] + (["--raw"] if label == "--raw" else [])
            done = subprocess.run([RTRACK, "run", *options, "--template", "%C|{label}", *words],
                                  stderr=subprocess.PIPE, check=True)
            if label == "--raw":
                self.assertEqual(done.stderr, b"sh -c : \033[2J\b a\nb \xe2\x80\xae \xc3\xa4 \xff"
                                              b"|x\033[1my\n")
            else:
                self.assertEqual(done.stderr, b"sh -c : ?[2J? a\\nb ? \xc3\xa4 ?|x?[1my\n")

    def test_raw_text_is_escaped_on_a_terminal(self) -> None:
        master, slave = pty.openpty()
        try:
            subprocess.run([RTRACK, "run", "--raw", "--template", "%C", "sh", "-c", ":",
                            "\033]0;x\a"], stderr=slave, check=True)
            self.assertEqual(os.read(master, 100), b"sh -c : ?]0;x?\r\n")
        finally:
            os.close(master)
            os.close(slave)

    def test_raw_without_template_is_refused(self) -> None:
        done = rtrack("run", "--raw", "true")
        self.assertEqual((done.returncode, "--template" in done.stderr), (2, True))

    def test_wrong_template_is_refused_before_the_start(self) -> None:
        mark = self.dir / "mark"
        for template, word in (("{wall}", "'wall'"), ("{wall_seconds", "'}'"), ("%q", "'%q'"),
                               ("%", "'%'"), ("{}", "''"), ("", "template")):
            done = rtrack("run", "--template", template, "touch", mark)
            self.assertEqual((done.returncode, mark.exists()), (2, False), template)
            self.assertIn(word, done.stderr)
        self.assertEqual(rtrack("system", "--count", "1", "--template", "%M").returncode, 2)
        # What a tree has does not help for the system.
        done = rtrack("system", "--count", "1", "--template", "{pid}")
        self.assertIn("unknown figure 'pid' in the template", done.stderr)
        self.assertNotIn("rtrack run", done.stderr)

    def test_template_goes_to_the_summary_file(self) -> None:
        path = self.dir / "out.json"
        self.assertEqual(
            rtrack("run", "--template", "{exit_code}", "--summary-file", path, "true").stderr, "")
        self.assertEqual(path.read_text(), "0\n")

    def test_template_has_a_line_for_each_process(self) -> None:
        pids = [str(self.start(["sleep", "30"]).pid) for _ in range(2)]
        done = rtrack("attach", "--template", "{pid}", "-d", "0.1", "-o", "/dev/null", *pids)
        self.assertEqual(done.stderr.split(), pids)


class Markdown(Case):
    def test_markdown_is_a_table(self) -> None:
        done = rtrack("run", "--summary", "markdown", "sh", "-c",
                      "sleep 0.1 | cat; echo '`a|b`' >&2")
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], "`a|b`")
        self.assertTrue(lines[1].startswith("**rtrack**: `` sh -c"), lines[1])
        table = [line for line in lines if line.startswith("|")]
        self.assertEqual(table[:2], ["| Figure | Value | Meaning |", "|---|---:|---|"])
        for line in table:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 4, line)
        self.assertIn("| wall time | 0.", done.stderr)
        self.assertRegex(lines[-1], r"^Accounting: \w+, .*\.$")


class Top(Case):
    """The processes that used most."""

    # Each child lives long enough to be seen. A look comes after 200 times the CPU time of the
    # last one. E.g.: with AddressSanitizer one took 8 ms, so that the next came 1.6 s later.
    CODE = r"""
import os, sys
def child(seconds, mib):
    code = (f"x = b'x' * ({mib} << 20)\nimport time\n"
            f"while time.process_time() < {seconds}: pass\ntime.sleep(3)")
    return os.spawnv(os.P_NOWAIT, sys.executable, ["python", "-I", "-c", code, f"mark-{mib}"])
for pid in [child(0.5, 10), child(0.05, 90), child(0.9, 30), child(0.3, 60), child(0.05, 1)]:
    os.waitpid(pid, 0)
"""

    def marks(self, rows: List[Dict[str, Any]]) -> List[str]:
        return [row["command"].rpartition("mark-")[2] for row in rows]

    def test_top_three_are_those_that_used_most(self) -> None:
        # With an interval of a minute, only the looks between two rows see them.
        for options in (["-i", "60"], ["--processes", "/dev/null"], ["-i", "0.05"]):
            got = self.summary("run", *options, *python(self.CODE))
            self.assertEqual(self.marks(got["top_cpu"]), ["30", "10", "60"], options)
            self.assertEqual(self.marks(got["top_memory"]), ["90", "60", "30"], options)
            # On a busy machine the last look may be one at a process that still grows.
            for row, least in zip(got["top_memory"], (90, 60, 30)):
                seen = 1 if row["peak_rss_final"] else 0.8
                self.assertGreaterEqual(row["peak_rss_bytes"], seen * (least << 20))
        text = rtrack("run", *python(self.CODE)).stderr
        self.assertRegex(text, r"(?m)^  most CPU    at least 0\.\d+ s +python -I -c x = b'x'")
        self.assertRegex(text, r"(?m)^  most memory at least \d+\.\d MiB +python -I -c x = b'x'")

    def test_command_line_is_that_of_the_last_program(self) -> None:
        """It executes a program with the same name after it was seen."""
        rows = self.dir / "rows"
        later = until_rows(rows, "lines_of_series() + 10")
        code = (until_rows(rows, "6") + "import sys\nos.execv(sys.executable, ['python', '-I', "
                f"'-c', {later!r}, 'mark-later'])")
        got = self.summary("run", "-i", "0.05", "-o", rows, "sh", "-c", '"$@"; exit 0', "sh",
                           *python(code))
        self.assertEqual(self.marks(got["top_memory"])[0], "later")

    def test_figures_are_those_of_the_list_of_processes(self) -> None:
        path = self.dir / "list.jsonl"
        got = self.summary("run", "--processes", path, *python(self.CODE))
        rows = {row["pid"]: row for row in read_jsonl(path)}
        for top in got["top_cpu"]:
            row = rows[top["pid"]]
            if top["cpu_final"]:
                self.assertAlmostEqual(top["cpu_seconds"],
                                       row["cpu_user_seconds"] + row["cpu_system_seconds"])
            if top["peak_rss_final"]:
                self.assertEqual(top["peak_rss_bytes"], row["peak_rss_bytes"])

    def test_single_process_has_no_lines(self) -> None:
        done = rtrack("run", *python(busy(0.05)))
        if "in all" not in done.stderr:
            self.skipTest("process events are not available here")
        self.assertNotIn("most CPU", done.stderr)

    def test_attach_counts_from_then_on(self) -> None:
        code = (busy(0.6) + "\nimport os, sys\nprint('go', flush=True)\ninput()\n"
                "if os.fork() == 0:\n    t = time.process_time()\n"
                "    while time.process_time() < t + 0.1: pass\n    time.sleep(100)\n")
        target = self.start(python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        target.stdout.readline()
        rows, path = self.dir / "rows", self.dir / "summary.json"
        process = self.start([RTRACK, "attach", "-i", "0.05", "--summary-file", path, "-o", rows,
                              str(target.pid)])
        wait_until(lambda: rows.exists() and rows.read_text().count("\n") > 1)
        target.stdin.write(b"\n")
        target.stdin.flush()
        target.stdin.close()
        children = f"/proc/{target.pid}/task/{target.pid}/children"
        wait_until(lambda: target.poll() is not None or os.path.exists(children))
        wait_until(lambda: rows.read_text().count("\n") > 12)
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        got = json.loads(path.read_text())
        for pid in {row["pid"] for row in got["top_memory"]} - {target.pid}:
            os.kill(pid, 9) if pid > 0 else None
        self.assertGreaterEqual(got["cpu_seconds_before"], 0.6)
        self.assertTrue(all(row["cpu_seconds"] < 0.5 for row in got["top_cpu"]), got["top_cpu"])


class Width(Case):
    def on_terminal(self, columns: int, *words: str) -> List[str]:
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = in_locale("C.UTF-8", TERM="xterm")
        process = self.start([RTRACK, "run", "--live", "never", *words], stderr=follower, env=env)
        os.close(follower)
        output = read_terminal(leader)
        os.close(leader)
        process.wait(timeout=PATIENCE_S)
        return ESCAPES.sub("", output.decode()).splitlines()

    @staticmethod
    def width(line: str) -> int:
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)

    def test_lines_fit_into_the_terminal(self) -> None:
        words = ("-v", "-i", "0.01", "--label", "漢字 " * 30, "--accounting", "poll", "sh", "-c",
                 "sleep 0.3 & sleep 0.2", "漢字" * 60)
        for columns in (40, 80, 133):
            lines = self.on_terminal(columns, *words)
            self.assertGreater(len(lines), 12)
            for line in lines:
                self.assertLessEqual(self.width(line), columns, line)
            self.assertTrue(lines[0].endswith("exit 0"), lines[0])

    def test_long_command_line_keeps_its_end(self) -> None:
        code = ("import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', "
                "'import time; time.sleep(0.5)', 'x' * 2000, 'the-end'])")
        lines = self.on_terminal(80, "-i", "0.05", *python(code))
        ends = [line for line in lines if line.endswith("the-end")]
        self.assertTrue(ends, lines)
        self.assertTrue(all("python" in line and "..." in line for line in ends), ends)

    def test_narrow_terminal_loses_no_words(self) -> None:
        def meanings(columns: int) -> List[str]:
            lines = " ".join(" ".join(self.on_terminal(columns, "sleep", "0.1")).split())
            return [words for words in ("all processes,", "largest process, resident", "on average",
                                        "from storage", "accounting")
                    if words in lines]

        self.assertEqual(len(meanings(40)), 5)
        self.assertEqual(meanings(40), meanings(120))


if __name__ == "__main__":
    unittest.main(verbosity=2)
