# SPDX-License-Identifier: MIT
"""Build and run programs against the installed library, by pkg-config and as a Meson subproject."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import unittest
from typing import ClassVar, List

import header
from harness import BUILD, HEADER, SOURCE, SUPERVISOR, TRACER, need, run
from staged import MESON, Staged, staged

EXAMPLES = SOURCE / "examples"
PUBLIC = header.files(HEADER)
STATIC = ["-static", "-Wl,--fatal-warnings"]
WRAPPER = """
project('wrapper', 'c', meson_version: '>=1.0.0')
rtrack = dependency('rtrack', fallback: 'librtrack')
executable('use', 'use.c', dependencies: rtrack)
"""


class Installed(unittest.TestCase):
    stage: ClassVar[Staged]

    @classmethod
    def setUpClass(cls) -> None:
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.stage = stack.enter_context(staged())

    def pkg_config(self, *flags: str) -> List[str]:
        return run(["pkg-config", *flags, "rtrack"], env=self.stage.env).split()

    def build(self, source: pathlib.Path, *extra: str, static: bool = False) -> pathlib.Path:
        is_cpp = source.suffix == ".cpp"
        compiler, standard = ("c++", "-std=c++11") if is_cpp else ("cc", "-std=gnu11")
        suffix = ("-static" if static else "") + ("-cpp" if is_cpp else "")
        program = self.stage.work / (source.stem + suffix)
        libs = self.pkg_config("--static", "--libs") if static else self.pkg_config("--libs")
        strict = [standard, "-pedantic", "-Wall", "-Wextra", "-Werror"]
        run([compiler, *strict, *self.pkg_config("--cflags"), source, "-o", program, *extra, *libs])
        return program

    def use(self, program: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(program), *arguments], env=self.stage.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def assert_prints_sixteen_fields(self, program: pathlib.Path) -> None:
        done = self.use(program)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        usage = resource.getrusage(resource.RUSAGE_SELF)
        names = re.findall(r"(ru_\w+)=", repr(usage))
        self.assertEqual([line[0] for line in lines], names)
        figures = {line[0]: float(line[1]) for line in lines}
        self.assertTrue(0 <= figures["ru_utime"] < 1 and 0 <= figures["ru_stime"] < 1, figures)
        self.assertGreater(figures["ru_maxrss"], 100)
        self.assertGreater(figures["ru_minflt"], 10)

    def test_pkg_config_version_matches_header(self) -> None:
        version = self.pkg_config("--modversion")[0]
        header = (BUILD / "include/rtrack/version.h").read_text()
        numbers = re.findall(r"#define RT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.assertEqual(version, ".".join(numbers))

    def test_installed_headers_are_public_headers(self) -> None:
        include = next(path for path in self.stage.root.rglob("include") if path.is_dir())
        installed = {path.name: path for path in (include / "rtrack").iterdir()}
        self.assertEqual({*installed} - {"version.h"}, {path.name for path in PUBLIC})
        for path in PUBLIC:
            self.assertEqual(installed[path.name].read_text(), path.read_text())

    def test_schemas_of_the_command_are_installed(self) -> None:
        sources = SOURCE / "docs/schema"
        installed = next(self.stage.root.rglob("share/rtrack/schema"))
        self.assertEqual({path.name for path in installed.iterdir()},
                         {path.name for path in sources.iterdir()})
        for path in installed.iterdir():
            self.assertIn("$schema", json.loads(path.read_text()))
            self.assertEqual(path.read_text(), (sources / path.name).read_text())

    def test_manual_pages_of_the_command_are_installed(self) -> None:
        pages = {path.name: path for path in (SOURCE / "docs").glob("rtrack*.[15]")}
        installed = [path for section in ("1", "5")
                     for path in self.stage.root.rglob(f"man{section}/*.{section}")]
        self.assertEqual(sorted(path.name for path in installed), sorted(pages))
        for path in installed:
            self.assertEqual(path.read_text(), pages[path.name].read_text())

    def test_getrusage_example_links_shared_and_static(self) -> None:
        shared = self.build(EXAMPLES / "c/getrusage.c")
        self.assert_prints_sixteen_fields(shared)
        self.assertIn("librtrack.so.0", run(["readelf", "-d", shared]))
        static = self.build(EXAMPLES / "c/getrusage.c", *STATIC, static=True)
        self.assertNotIn("NEEDED", run(["readelf", "-d", static]))
        self.assert_prints_sixteen_fields(static)

    def test_examples_link_statically(self) -> None:
        for name in ("command", "event_loop", "recorder", "system", "trace"):
            self.build(EXAMPLES / f"c/{name}.c", *STATIC, static=True)

    def test_command_example_returns_exit_code(self) -> None:
        program = self.build(EXAMPLES / "c/command.c")
        done = self.use(program, "sh", "-c", "echo out; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"), done.stderr)
        self.assertIn("exit code 7", done.stderr)
        self.assertRegex(done.stderr, r"cpu +0\.\d{6} s user, 0\.\d{6} s system( \(or more\))?\n")
        done = self.use(program, "sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)
        self.assertEqual(self.use(program, "/nonexistent").returncode, 125)
        self.assertEqual(self.use(program).returncode, 2)

    def assert_runs_fifty(self, argv: List[str]) -> None:
        """Each of 50 commands at once prints its output and an exit code."""
        env = {**self.stage.env, "RTRACK_LIBRARY": str(self.stage.library)}
        script = "echo begin; sleep 0.1; echo end >&2; exit 5"
        done = subprocess.run([*argv, "50", "sh", "-c", script], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("begin", "end"):
            self.assertEqual(len(re.findall(rf"^(?:\d+: )?{text}$", done.stdout, re.M)), 50)
        ends = re.findall(r"^(\d+): exit code 5, 0\.\d{6} s of CPU time$", done.stdout, re.M)
        self.assertEqual(sorted(map(int, ends)), list(range(50)), done.stdout)

    def test_event_loop_examples_run_fifty_commands_at_once(self) -> None:
        self.assert_runs_fifty([str(self.build(EXAMPLES / "c/event_loop.c"))])
        self.assert_runs_fifty([sys.executable, str(EXAMPLES / "python/event_loop.py")])

    def test_recorder_example_prints_the_peak_of_its_work(self) -> None:
        done = self.use(self.build(EXAMPLES / "c/recorder.c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.fullmatch(r"at least ([\d.]+) MiB, (\d+) samples\n", done.stdout)
        assert found, done.stdout
        self.assertTrue(64 <= float(found[1]) < 128, done.stdout)
        self.assertGreaterEqual(int(found[2]), 2)

    def test_system_example_prints_online_cpus(self) -> None:
        done = self.use(self.build(EXAMPLES / "c/system.c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        online = sum(
            line.startswith("cpu")
            for line in pathlib.Path("/proc/stat").read_text().splitlines()) - 1
        self.assertRegex(done.stdout, rf"cpu +[\d.]+ of {online} cores")

    def test_cpp_example_lists_tree(self) -> None:
        if not shutil.which("c++"):
            self.skipTest("no C++ compiler is installed")
        program = self.build(EXAMPLES / "cpp/tree.cpp")
        child = subprocess.Popen(["sleep", "30"])
        try:
            done = self.use(program, str(os.getpid()))
        finally:
            child.kill()
            child.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        self.assertEqual(rows[0][0], str(os.getpid()))
        self.assertIn([str(child.pid), str(os.getpid()), "sleep"],
                      [[r[0], r[1], r[-1]] for r in rows])
        self.assertEqual(self.use(program, "-1").returncode, 1)

    def test_cpp_command_example_returns_exit_code(self) -> None:
        if not shutil.which("c++"):
            self.skipTest("no C++ compiler is installed")
        program = self.build(EXAMPLES / "cpp/command.cpp")
        done = self.use(program, "sh", "-c", "sleep 0.1; exit 6")
        self.assertEqual((done.returncode, done.stderr), (6, ""))
        self.assertRegex(done.stdout, r"^accounting [1-5], exit code 6, \d+ ns of CPU time\n$")
        done = self.use(program, "/nonexistent")
        self.assertEqual(done.returncode, 125)
        self.assertIn('The program "/nonexistent" cannot be started', done.stderr)

    def assert_traces(self, argv: List[str], begin: str) -> None:
        """A program traces a command that calls getrusage(2) twice. begin is how a line begins."""
        env = {**self.stage.env, "RTRACK_LIBRARY": str(self.stage.library)}
        done = subprocess.run([*argv, "bash", "-c", "times >/dev/null; exit 4"], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 125 and re.search("not installed|may not|cannot", done.stdout):
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 4, done.stdout)
        lines = [line for line in done.stdout.splitlines() if re.match(begin, line)]
        self.assertGreaterEqual(len(lines), 2, done.stdout)
        self.assertNotIn("calls were lost", done.stdout)

    def test_trace_examples_print_calls_of_command(self) -> None:
        numbers = r"\d+: getrusage\((0|-1)\) = 0,"
        names = r"'bash'\[\d+\] getrusage\(RUSAGE_(SELF|CHILDREN)\) = 0, 0\.\d+ s user"
        self.assert_traces([str(self.build(EXAMPLES / "c/trace.c"))], numbers)
        self.assert_traces([sys.executable, str(EXAMPLES / "python/trace_getrusage.py")], names)
        if shutil.which("c++"):
            self.assert_traces([str(self.build(EXAMPLES / "cpp/trace.cpp"))], numbers)

    def test_errors_of_python_trace_begin_with_its_name(self) -> None:
        env = {**self.stage.env, "RTRACK_LIBRARY": str(self.stage.library)}
        example = [sys.executable, str(EXAMPLES / "python/trace_getrusage.py")]
        for words in (["/nonexistent"], ["--pid", str(2**31 - 1)]):
            done = subprocess.run([*example, *words], env=env, text=True, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertRegex(done.stderr, r"^trace_getrusage\.py: .+\n$")
        for words in ([], ["--pid"], ["--pid", "x"]):
            done = subprocess.run([*example, *words], env=env, text=True, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn("Usage: trace_getrusage.py PROGRAM", done.stderr)

    def test_python_binding_passes_its_tests(self) -> None:
        env = {**self.stage.env, "RTRACK_LIBRARY": str(self.stage.library)}
        run([sys.executable, SOURCE / "tests/consumers/test_python.py"], env=env)

    def test_meson_subproject_builds_and_runs(self) -> None:
        wrapper, build = self.stage.work / "wrapper", self.stage.work / "wrapper-build"
        (wrapper / "subprojects").mkdir(parents=True)
        (wrapper / "subprojects/librtrack").symlink_to(SOURCE)
        (wrapper / "meson.build").write_text(WRAPPER)
        shutil.copy(EXAMPLES / "c/getrusage.c", wrapper / "use.c")
        run([MESON, "setup", "--wrap-mode=forcefallback", build, wrapper])
        self.assert_subproject_is_only_the_library(build)
        run([MESON, "compile", "-C", build, "use"])
        self.assert_prints_sixteen_fields(build / "use")

    def assert_subproject_is_only_the_library(self, build: pathlib.Path) -> None:
        """Compare the targets and the installed files. The plug-in depends on what is installed."""
        plug_in = {"rtrack-bpf"}
        for name in ("account", "batch", "trace", "trace_raw", "watch"):
            plug_in |= {f"{name}.bpf.o", f"{name}.skel.h"}
        targets = json.loads(run([MESON, "introspect", "--targets", build]))
        names = {target["name"] for target in targets}
        inner = {"helpers_file.h", "nothing-built-in", "one-file", "rtcore", "rtrack-helpers",
                 "rts_main", "rtt_main"}
        self.assertEqual(names - plug_in - inner, {"use", "rtrack", SUPERVISOR, TRACER})
        installed = json.loads(run([MESON, "introspect", "--installed", build]))
        files = {pathlib.Path(path).name for path in installed.values()}
        files -= {name for name in files if name.startswith(("librtrack.so", "librtrack-bpf.so"))}
        self.assertEqual(
            files, {"librtrack.a", "version.h", "rtrack.pc", SUPERVISOR, TRACER,
                    *(path.name for path in PUBLIC)})


if __name__ == "__main__":
    need("cc", "pkg-config", "readelf")
    unittest.main(verbosity=2)
