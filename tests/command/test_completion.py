# SPDX-License-Identifier: MIT
"""Tests of the completions, called in the same way as by bash, fish and zsh."""
import glob
import os
import pathlib
import pty
import re
import shutil
import select
import signal
import subprocess
import termios
import time
import unittest
from typing import Dict, List

from harness import SOURCE, need
from rtrack_command import PATIENCE_S, RTRACK, Case, rtrack, wait_until
from test_options import COMMANDS, in_help

SCRIPT = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rtrack
printf '%s\n' "${COMPREPLY[@]}"
"""
# Prints what the function would pass to _arguments, which needs an interactive shell.
ZSH_SCRIPT = r"""
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- ${(P)2} }
script=$1
shift
words=(rtrack "$@")
CURRENT=$#words
source $script
"""


def with_rtrack() -> Dict[str, str]:
    """Return the environment of a shell that finds this rtrack."""
    return {**os.environ, "PATH": os.path.dirname(RTRACK) + ":" + os.environ["PATH"]}


def help_of(command: str) -> str:
    """Return the help of a subcommand with a line for each option."""
    return re.sub(r"\n {27}", " ", rtrack("help", command).stdout)


class Named(Case):
    """The name of a process, and cgroups of a unit and of a container, to be completed."""

    def name_a_process(self) -> str:
        name = f"rt{os.getpid()}"
        (self.dir / name).symlink_to("/bin/cat")
        process = self.start([self.dir / name], stdin=subprocess.PIPE)
        comm = pathlib.Path(f"/proc/{process.pid}/comm")
        wait_until(lambda: comm.read_text() == name + "\n")
        return name

    def make_cgroup(self, name: str) -> None:
        """Make a cgroup in any hierarchy that is mounted at the usual place."""
        for top in ("/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*/")):
            directory = pathlib.Path(top) / name
            if os.access(f"{top}/cgroup.procs", os.W_OK):
                directory.mkdir()
                self.addCleanup(directory.rmdir)
                return
        self.skipTest("no cgroup can be made")


def in_shell(argv: List[str], cwd: str = "/") -> str:
    """Return what a shell prints."""
    done = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE_S, env=with_rtrack(), cwd=cwd)
    if done.stderr:
        raise AssertionError(done.stderr)
    return done.stdout


class Completion(Named):
    def complete(self, *words: str, cwd: str = "/") -> List[str]:
        """Return the completions of the last word."""
        path = str(SOURCE / "examples/rtrack/rtrack.bash-completion")
        return in_shell(["bash", "--norc", "-c", SCRIPT, "bash", path, "rtrack", *words],
                        cwd).split()

    def test_script_when_sourced_registers_completion(self) -> None:
        path = str(SOURCE / "examples/rtrack/rtrack.bash-completion")
        output = subprocess.run(["bash", "-c", 'source "$0"; complete -p rtrack', path],
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(output, "complete -F _rtrack rtrack\n")

    def test_empty_word_completes_to_subcommands(self) -> None:
        self.assertLessEqual(set(COMMANDS), set(self.complete("")))
        self.assertEqual(self.complete("r"), ["run", "rusage"])
        self.assertEqual(self.complete("help", "r"), ["run", "rusage"])

    def test_completed_options_match_help(self) -> None:
        for command in COMMANDS:
            self.assertEqual(set(self.complete(command, "--")), set(in_help(command)), command)
            self.assertEqual(self.complete(command, "--hel"), ["--help"])

    def test_option_argument_completes_to_its_values(self) -> None:
        self.assertEqual(self.complete("run", "-f", ""), ["csv", "csv-v1", "csv-v5", "jsonl"])
        self.assertEqual(self.complete("run", "-i", "1", "--summary", "j"), ["json"])
        self.assertEqual(self.complete("system", "--live", "=", "a"), ["auto", "always"])
        self.assertEqual(self.complete("run", "--summary", "="),
                         ["text", "json", "markdown", "none"])
        self.assertEqual(self.complete("run", "--accounting", "w"), ["wait"])
        self.assertEqual(self.complete("run", "--pss", ""), ["exact", "budget", "off"])
        self.assertEqual(self.complete("attach", "--pss", "o"), ["off"])
        self.assertEqual(self.complete("run", "-i", ""), [])

    def test_words_of_every_option_are_those_of_the_help(self) -> None:
        """Bash, fish and zsh read the help, so a new word of an option needs no change there."""
        for command in COMMANDS:
            lines = re.findall(r"(?m)^  (?:-.,|   ) (--\S+) [A-Z]+ +(.*)$", help_of(command))
            for option, text in lines:
                words = re.split(", | or ", text.partition(";")[0].rpartition(": ")[2])
                words = [word for word in words if re.fullmatch("[a-z][a-z0-9+-]*", word)]
                if words:
                    self.assertEqual(self.complete(command, option, ""), words, (command, option))

    def test_lists_complete_after_a_comma(self) -> None:
        self.assertEqual(self.complete("trace", "--calls", "wait4,g"), ["wait4,getrusage"])
        self.assertIn("pid,pss_bytes", self.complete("run", "--fields", "pid,pss_"))
        self.assertEqual(self.complete("run", "--fields", "pid,rss_by"), ["pid,rss_bytes"])

    def test_option_of_info_without_argument_is_followed_by_options(self) -> None:
        self.assertEqual(self.complete("info", "--fields", "--j"), ["--json"])
        self.assertEqual(self.complete("run", "--fields", "--j"), [])

    def test_name_completes_to_names_of_processes(self) -> None:
        name = self.name_a_process()
        self.assertEqual(self.complete("attach", "--name", name[:-1]), [name])
        self.assertIn(name, self.complete("attach", "--name", ""))

    def test_unit_and_container_complete_to_cgroups(self) -> None:
        unit, container = f"rtrack-{os.getpid()}.service", f"{os.getpid():064x}"
        monitor = f"f{os.getpid():063x}"  # beside a container, and none itself
        for name in (unit, f"docker-{container}.scope", f"libpod-conmon-{monitor}.scope"):
            self.make_cgroup(name)
        self.assertEqual(self.complete("attach", "--unit", unit[:-3]), [unit])
        self.assertEqual(self.complete("attach", "--container", container[:-1]), [container])
        self.assertEqual(self.complete("attach", "--container", monitor), [])

    def test_file_argument_completes_to_files(self) -> None:
        (self.dir / "rows.csv").touch()
        for option in ("-o", "--processes"):
            self.assertEqual(self.complete("run", option, "ro", cwd=str(self.dir)), ["rows.csv"])
        self.assertEqual(self.complete("run", "cat", "ro", cwd=str(self.dir)), ["rows.csv"])

    def test_pid_argument_completes_to_pids(self) -> None:
        pid = str(os.getpid())
        self.assertIn(pid, self.complete("attach", ""))
        self.assertIn(pid, self.complete("attach", "-i", "1", pid, ""))
        self.assertIn(pid, self.complete("rusage", ""))
        self.assertNotIn(pid, self.complete("rusage", "--", ""))

    def test_command_word_completes_to_programs(self) -> None:
        for words in (["run"], ["run", "--"], ["rusage", "--"], ["rusage", "--json", "--"],
                      ["run", "-i", "1"], ["run", "-q", "-o", "x"],
                      ["run", "--live"], ["run", "--live", "=", "always", "-q"]):
            self.assertIn("true", self.complete(*words, "tru"), words)
        self.assertNotIn("--interval", self.complete("run", "true", "--int"))


def on_terminal(output: str) -> str:
    """Return what is seen of an output, without sequences, bells and what is taken back."""
    output = re.sub("\x1b(\\[[0-9;?]*[a-zA-Z]|[=>])|\x07|\r", "", output)
    while "\b" in output:
        output = re.sub("(?s).?\b", "", output, count=1)
    return output


class Interactive(Case):
    """A shell on a terminal, where a user types a line and presses Tab."""

    def type_in(self, argv: List[str], *lines: str, until: str) -> str:
        """Type lines into a shell, and return what is on the terminal once until matches."""
        pid, terminal = pty.fork()
        if pid == 0:
            # zsh 5.9 may damage its own memory on a terminal that has no columns.
            termios.tcsetwinsize(0, (24, 80))
            os.execvpe(argv[0], argv, {**with_rtrack(), "TERM": "dumb", "PS1": "$ ",
                                       "HOME": str(self.dir)})
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, terminal)  # which hangs up the shell
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertGreater(pid, 0)
        output, end = "", time.monotonic() + PATIENCE_S
        for line in [*lines, ""]:
            # The shell discards what is typed before it reads a line by itself.
            while not re.search(until if line == "" else "[$>#] *$", on_terminal(output)):
                self.assertLess(time.monotonic(), end, output)
                if select.select([terminal], [], [], 0.1)[0]:
                    output += os.read(terminal, 4096).decode(errors="replace")
            os.write(terminal, line.encode())
        return on_terminal(output)

    def test_bash_completes_words_of_an_option(self) -> None:
        path = SOURCE / "examples/rtrack/rtrack.bash-completion"
        output = self.type_in(["bash", "--norc", "--noprofile", "-i"],
                              f"source {path}\n", "rtrack run --pss ex\t-o x --summ\t\n",
                              until="--pss exact -o x --summary")
        self.assertIn("--summary", output)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_words_of_an_option(self) -> None:
        (self.dir / "_rtrack").symlink_to(SOURCE / "examples/rtrack/rtrack.zsh")
        output = self.type_in(["zsh", "-f", "-i"],
                              f"fpath+={self.dir}; autoload -Uz compinit; compinit -u -D\n",
                              "rtrack run --pss ex\t-o x --time-f\tis\t\n",
                              until="--pss exact -o x --time-format=iso")
        self.assertIn("exact", output)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_the_command_of_rusage(self) -> None:
        (self.dir / "_rtrack").symlink_to(SOURCE / "examples/rtrack/rtrack.zsh")
        (self.dir / "rows.csv").touch()
        output = self.type_in(["zsh", "-f", "-i"],
                              f"fpath+={self.dir}; autoload -Uz compinit; compinit -u -D; "
                              f"cd {self.dir}\n", "rtrack rusage --json -- cat ro\t\n",
                              until="rusage --json -- cat rows.csv")
        self.assertIn("rows.csv", output)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_words_of_an_option(self) -> None:
        path = SOURCE / "examples/rtrack/rtrack.fish"
        output = self.type_in(["fish", "--no-config", "-i"], f"source {path}\n",
                              "rtrack run --pss ex\t-o x --time-f\tis\t\n",
                              until="--pss exact -o x --time-format=? ?iso")
        self.assertIn("exact", output)


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Named):
    def complete(self, line: str) -> List[str]:
        """Return the completions of the last word."""
        path = SOURCE / "examples/rtrack/rtrack.fish"
        output = in_shell(["fish", "--no-config", "-c",
                           f"source '{path}'; complete -C '{line}'"])
        return [row.split("\t")[0] for row in output.splitlines()]

    def test_empty_word_completes_to_subcommands(self) -> None:
        self.assertEqual(self.complete("rtrack "), sorted([*COMMANDS, "help"]))
        self.assertEqual(self.complete("rtrack help r"), ["run", "rusage"])

    def test_completed_options_match_help(self) -> None:
        for command in COMMANDS:
            found = {word.rstrip("=") for word in self.complete(f"rtrack {command} --")}
            self.assertEqual(found, set(in_help(command)), command)

    def test_option_argument_completes_to_its_values(self) -> None:
        for line, words in (("run -f ", ["csv", "csv-v1", "csv-v5", "jsonl"]),
                            ("run --summary j", ["json"]),
                            ("system --live=a", ["--live=always", "--live=auto"]),
                            ("trace --calls w", ["wait4", "waitid"]), ("run -i ", [])):
            self.assertEqual(self.complete("rtrack " + line), words, line)

    def test_process_or_command_of_rusage_completes(self) -> None:
        self.assertIn(str(os.getpid()), self.complete("rtrack rusage "))
        for words in ("--", "--json --"):
            found = self.complete(f"rtrack rusage {words} tru")
            self.assertIn("true", found)
        self.assertNotIn(str(os.getpid()), self.complete("rtrack rusage -- "))

    def test_names_that_are_there_complete(self) -> None:
        name, unit, container = (self.name_a_process(), f"rtrack-{os.getpid()}.service",
                                 f"{os.getpid():064x}")
        self.make_cgroup(unit)
        self.make_cgroup(f"docker-{container}.scope")
        for option, word, found in (("name", name[:-1], name), ("unit", unit[:-3], unit),
                                    ("container", container[:-1], container),
                                    ("fields", "pid,rss_by", "pid,rss_bytes")):
            self.assertEqual(self.complete(f"rtrack attach --{option} {word}"), [found])

    def test_option_of_program_is_not_one_of_rtrack(self) -> None:
        for words in ("true", "-i 1 true", "-- true"):
            self.assertNotIn("--interval", self.complete(f"rtrack run {words} --int"), words)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Named):
    def specs(self, *words: str) -> List[str]:
        """Return what the last word may be, in the words of _arguments or _describe."""
        path = str(SOURCE / "examples/rtrack/rtrack.zsh")
        return in_shell(["zsh", "-f", "-c", ZSH_SCRIPT, "zsh", path, *words]).splitlines()

    def test_empty_word_completes_to_subcommands(self) -> None:
        names = [spec.partition(":")[0] for spec in self.specs("")]
        self.assertEqual(sorted(names), sorted([*COMMANDS, "help"]))

    def test_completed_options_match_help(self) -> None:
        for command in COMMANDS:
            found = re.findall(r"(?m)^\([^)]*\)(--[a-z-]+?)(?==?-?\[)",
                               "\n".join(self.specs(command, "")))
            self.assertEqual(set(found), set(in_help(command)), command)

    def test_option_argument_completes_to_its_values(self) -> None:
        for command, start, end in (
                ("run", "(-f --format)-f+[", ":FORMAT:(csv csv-v1 csv-v5 jsonl)"),
                ("run", "(-o --output)--output=[", ":FILE:_files"),
                ("run", "(-i --interval)-i+[", ":TIME:()"),
                ("trace", "( --calls)--calls=[", ":CALLS:(getrusage wait4 waitid)"),
                ("system", "(--live)--live=-[", "::WHEN:(auto always never)")):
            found = [spec for spec in self.specs(command, "") if spec.startswith(start)]
            self.assertEqual([spec[-len(end):] for spec in found], [end], found)

    def found_by(self, function: str) -> List[str]:
        """Return the words that a function of the script adds."""
        add = 'compadd() { print -rl -- ${(P)2} }\n_values() { print -rl -- "$@" }\n' + ZSH_SCRIPT
        path = str(SOURCE / "examples/rtrack/rtrack.zsh")
        return in_shell(["zsh", "-f", "-c", add + function, "zsh", path, ""]).splitlines()

    def test_names_that_are_there_complete(self) -> None:
        name, unit, container = (self.name_a_process(), f"rtrack-{os.getpid()}.service",
                                 f"{os.getpid():064x}")
        self.make_cgroup(unit)
        self.make_cgroup(f"docker-{container}.scope")
        specs = "\n".join(self.specs("attach", ""))
        for option, function, found in (
                ("name", "_rtrack_names", name), ("unit", "_rtrack_units", unit),
                ("container", "_rtrack_containers", container),
                ("fields", "_rtrack_fields", "pss_bytes")):
            self.assertRegex(specs, f"(?m)--{option}=\\[.*:{function}$")
            self.assertEqual(self.found_by(function).count(found), 1, option)


if __name__ == "__main__":
    need("bash")
    unittest.main(verbosity=2)
