# SPDX-License-Identifier: MIT
"""Tests that the options are the same in the help, the manual pages and the parser."""
import os
import re
import shlex
import unittest
from typing import List

from harness import SOURCE
from rtrack_command import Case, python, rtrack

COMMANDS = ("run", "attach", "system", "trace", "rusage", "info")


def in_help(command: str) -> List[str]:
    output = rtrack(command, "--help").stdout
    return re.findall(r"(?m)^  (?:-.,|   ) (--[a-z-]+)", output)


def in_manual(command: str) -> List[str]:
    """The options of a command, in its own page and in the parts of rtrack(1) about it."""
    own = SOURCE / f"docs/rtrack-{command}.1"
    text = own.read_text() if own.exists() else ""
    for part in re.split(r"(?m)^\.S[hs] ", (SOURCE / "docs/rtrack.1").read_text()):
        heading = part.partition("\n")[0]
        if heading == "Of all commands" or re.match(rf"Of .*\b{command}\b", heading):
            text += part
    items = re.findall(r"(?m)^\.It (?:.* )?Fl (-[a-z-]+)", text)
    return [f"-{item}" for item in items]


def examples_in_manual() -> List[str]:
    texts = [path.read_text() for path in (SOURCE / "docs").glob("rtrack*.[15]")]
    return [line for text in texts for line in re.findall(r"(?m)^\$ (rtrack .*)", text)]


def with_help(words: List[str]) -> List[str]:
    """A command line that shows the help in the place of its operands, so nothing is started."""
    help_text = rtrack(words[1], "--help").stdout
    with_argument = re.findall(r"(?m)^  (?:   |-\w,) (--[a-z-]+) [A-Z]", help_text)
    with_argument += re.findall(r"(?m)^  (-\w), --[a-z-]+ [A-Z]", help_text)
    i = 2
    while i < len(words) and words[i].startswith("-") and words[i] != "--":
        i += 2 if words[i] in with_argument else 1
    return [*words[:i], "--help"]


class Options(Case):
    def test_help_lists_every_subcommand(self) -> None:
        output = rtrack("--help").stdout
        for command in COMMANDS:
            self.assertRegex(output, rf"(?m)^  {command} ")
            self.assertIn(f"Usage: rtrack {command}", rtrack(command, "-h").stdout)

    def test_help_of_command_is_that_of_option(self) -> None:
        self.assertEqual(rtrack("help").stdout, rtrack("--help").stdout)
        for command in COMMANDS:
            done = rtrack("help", command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, rtrack(command, "--help").stdout)
        self.assertEqual(rtrack("help", "frobnicate").returncode, 2)

    def test_help_of_attach_names_what_can_be_followed(self) -> None:
        about = rtrack("attach", "--help").stdout.partition("What to follow:")[0]
        for word in ("name", "service", "container", "cgroup"):
            self.assertIn(word, about)

    def test_help_fits_in_80_columns(self) -> None:
        for words in (["--help"], *([command, "--help"] for command in COMMANDS)):
            lines = rtrack(*words).stdout.splitlines()
            self.assertEqual([line for line in lines if len(line) > 80], [], words)

    def test_help_is_in_groups(self) -> None:
        for command, titles in (
                ("run", ["What to follow", "Limits", "What to write", "How to show it",
                         "How to measure", "Help"]),
                ("rusage", ["What to write", "Help"])):
            output = rtrack(command, "--help").stdout
            self.assertEqual(re.findall(r"(?m)^([A-Z].*):$", output), [*titles, "Example"])

    def test_old_names_work_and_are_in_the_manual_alone(self) -> None:
        manual = (SOURCE / "docs/rtrack.1").read_text()
        old = manual.partition(".Sh OLD NAMES\n")[2].partition("\n.Sh ")[0]
        self.assertIn("no process 'no such name' has appeared",
                      rtrack("attach", "--name", "no such name", "--wait", "--timeout",
                             "0.01").stderr)
        self.assertIn("ru_utime", rtrack("rusage", "--pid", str(os.getpid())).stdout)
        for command, words in (("attach", ["--timeout"]),
                               ("rusage", ["-f", "--format", "--pid", "--children", "--thread"])):
            for word in words:
                self.assertIn(f"Fl {word[1:]}", old)
                self.assertNotRegex(rtrack(command, "--help").stdout, f" {word}[ \\n]", word)

    def test_text_of_option_goes_on_below_its_beginning(self) -> None:
        output = rtrack("run", "--help").stdout
        self.assertRegex(output, r"(?m)^ {6}--pss HOW {12}read .*:[^\n]*\n {27}[a-z]")
        self.assertNotRegex(output, r"(?m) $")

    def test_help_has_examples_that_are_accepted(self) -> None:
        for command in COMMANDS:
            examples = rtrack(command, "--help").stdout.partition("Example:\n")[2]
            for example in examples.partition("\n\n")[0].splitlines():
                words = shlex.split(example.partition(" -- ")[0].replace("$$", "1"))
                self.assertEqual(words[:2], ["rtrack", command])
                self.assertEqual(rtrack(*words[1:], "--help").returncode, 0, example)

    def test_unknown_command_suggests_near_one(self) -> None:
        for word, command in (("runn", "run"), ("rn", "run"), ("rnu", "run"), ("ron", "run"),
                              ("atach", "attach"), ("sytsem", "system"), ("infoo", "info")):
            for words in ([word], ["help", word]):
                done = rtrack(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"did you mean 'rtrack {command}'?", done.stderr)
        for word in ("r", "runner", "urn2", ""):
            self.assertNotIn("did you mean", rtrack(word).stderr)

    def test_unknown_command_that_is_program_suggests_run(self) -> None:
        self.assertIn("write 'rtrack run ls'", rtrack("ls", "-l").stderr)
        self.assertNotIn("rtrack run", rtrack("no-such-program").stderr)

    def test_unknown_command_that_is_directory_suggests_nothing(self) -> None:
        env = {**os.environ, "PATH": f"/usr:{os.environ['PATH']}"}
        self.assertTrue(os.path.isdir("/usr/share"))
        self.assertNotIn("rtrack run", rtrack("share", env=env).stderr)

    def test_invalid_argument_says_what_is_valid(self) -> None:
        for words, valid in ((["-i", "100msec"], "h or d, e.g. 100ms; seconds without"),
                             (["--count", "0"], "at least 1"),
                             (["--summary", "html"], "text, json"), (["-o", ""], "a file")):
            output = rtrack("run", *words, "true").stderr.splitlines()[0]
            self.assertIn(f" '{words[1]}': ", output)
            self.assertIn(valid.split()[-1], output)

    def test_manual_has_each_option_of_help_once_and_no_other(self) -> None:
        for command in COMMANDS:
            self.assertEqual(sorted(in_manual(command)), sorted(set(in_help(command))), command)

    def test_examples_of_manual_are_accepted(self) -> None:
        examples = examples_in_manual()
        self.assertGreater(len(examples), 20)
        for example in examples:
            words = with_help(shlex.split(example, comments=True))
            done = rtrack(*words[1:])
            self.assertEqual((done.returncode, done.stderr), (0, ""), example)

    def test_help_names_page_of_command(self) -> None:
        for command in COMMANDS:
            pages = re.findall(r"See (\S+)\((\d)\) for", rtrack(command, "--help").stdout)
            own = SOURCE / f"docs/rtrack-{command}.1"
            self.assertEqual(pages, [(own.stem if own.exists() else "rtrack", "1")], command)

    def test_options_of_help_are_accepted_by_parser(self) -> None:
        for command in COMMANDS:
            self.assertGreaterEqual(len(in_help(command)), 3)
            for option in in_help(command):
                # --help comes too, so that nothing is started whatever the option does.
                done = rtrack(command, "--help", option)
                self.assertEqual(done.returncode, 0)
                self.assertNotIn("unknown option",
                                 rtrack(command, f"{option}", "--help", "--help").stderr)

    def test_unknown_option_is_named_with_hint(self) -> None:
        for command in COMMANDS:
            output = rtrack(command, "--frobnicate").stderr
            self.assertIn("rtrack: unknown option '--frobnicate'\n", output)
            self.assertIn(f"Try 'rtrack {command} --help'", output)

    def test_option_of_another_subcommand_is_named_with_it(self) -> None:
        for words, answer in (
                (["attach", "--processes", "x", "1"],
                 "'--processes': it is an option of 'rtrack run'"),
                (["system", "--wait"], "'--wait': it is an option of 'rtrack attach'"),
                (["run", "--back-end=1", "true"],
                 "'--back-end': it is an option of 'rtrack trace'")):
            done = rtrack(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(answer, done.stderr.splitlines()[0])
        self.assertNotIn("is an option", rtrack("run", "--timeout").stderr)

    def test_version_option_prints_both_versions(self) -> None:
        for words in (["-V"], ["--version"], ["run", "-V"]):
            self.assertRegex(
                rtrack(*words).stdout, r"^rtrack \d+\.\d+\.\d+ \(librtrack \d+\.\d+\.\d+\)\n$")

    def test_durations_with_units_are_parsed(self) -> None:
        for word in ("100ms", "0.1", ".1", "100000us", "100000000ns", "0.1s"):
            done = rtrack("system", "-q", "--meta", "-", "--count", "1", "-i", word)
            self.assertIn('"interval_seconds":0.1}', done.stdout.splitlines()[0], word)
        for word, seconds in (("1.5m", "90.0"), ("2min", "120.0"),
                              ("1h", "3600.0"), ("2d", "172800.0"), ("5", "5.0")):
            done = rtrack("run", "-q", "--meta", "-", "-o", "-", "-i", word, "true")
            self.assertIn(f'"interval_seconds":{seconds}}}', done.stdout.splitlines()[0], word)

    def test_long_durations_do_not_overflow(self) -> None:
        done = rtrack("run", "-q", "-i", "104000d", "-d", "104000d", "--timeout", "104000d", "sh",
                      "-c", "exit 6")
        self.assertEqual(done.returncode, 6)

    def test_command_words_are_passed_unchanged(self) -> None:
        words = ["-i", "--", "", "a b", "--help", "$HOME"]
        output = rtrack("run", "-q", *python("import sys\nprint(sys.argv[1:])"), *words).stdout
        self.assertEqual(output, f"{words}\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
