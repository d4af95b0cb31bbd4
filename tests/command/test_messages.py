# SPDX-License-Identifier: MIT
"""Tests of messages about what is wrong: they say what is valid, and what may have been meant."""
import os
import re
import subprocess
import unittest

from rtrack_command import Case, rtrack

# Lines of messages: no capital after a colon, and no full stop at the end.
STYLE = re.compile(r"^rtrack: (?!.*: [A-Z][a-z ])(?!.*\.$).*$")


class Messages(Case):
    def refuse(self, *words: str, code: int = 2) -> str:
        """Return the message that refuses these words."""
        done = rtrack(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        message = done.stderr.splitlines()[0]
        self.assertRegex(message, STYLE)
        return message

    def test_misspelt_option_suggests_the_near_one(self) -> None:
        for command, word, meant in (("run", "--intervall", "--interval"),
                                     ("attach", "--untit", "--unit"),
                                     ("trace", "--cals=wait4", "--calls"),
                                     ("system", "--sumary", "--summary"),
                                     ("info", "--jsno", "--json")):
            message = self.refuse(command, word)
            self.assertEqual(message, f"rtrack: unknown option '{word.partition('=')[0]}': "
                                      f"did you mean '{meant}'?")

    def test_option_of_another_command_is_not_suggested(self) -> None:
        self.assertEqual(self.refuse("system", "--untit"), "rtrack: unknown option '--untit'")

    def test_ambiguous_option_lists_what_it_may_be(self) -> None:
        self.assertEqual(self.refuse("run", "--su", "text"),
                         "rtrack: option '--su' may be one of --summary, --summary-file")

    def test_option_without_its_argument_says_what_is_valid(self) -> None:
        self.assertRegex(self.refuse("run", "--interval"), "'--interval' needs .*: a number with")
        self.assertRegex(self.refuse("run", "-i"), "'--?i[a-z]*' needs an argument: a number with")
        self.assertEqual(self.refuse("run", "--quiet=3"),
                         "rtrack: option '--quiet' takes no argument")
        self.assertEqual(self.refuse("run", "-qx"), "rtrack: unknown option '-x'")

    def test_misspelt_word_of_an_option_suggests_the_near_one(self) -> None:
        for words, meant, valid in (
                (["run", "--summary", "jsn"], "json", "text, json, markdown or none"),
                (["run", "--format", "jsonk"], "jsonl", "csv, csv-v1, csv-v5 or jsonl"),
                (["run", "-f", "csv-v6"], "csv-v1", "csv, csv-v1, csv-v5 or jsonl"),
                (["rusage", "-f", "jsno"], "json", "text or json"),
                (["trace", "-f", "trace"], "tracee", "text, jsonl, tracee or tracee-v1beta1"),
                (["run", "--color", "alway"], "always", "auto, always or never"),
                (["run", "--accounting", "cgroups"], "cgroup",
                 "auto, poll, wait, cgroup or bpf")):
            message = self.refuse(*words, "true")
            self.assertRegex(message, f"'{words[2]}': did you mean '{meant}'\\? use "
                                      + re.escape(valid) + "$")
        self.assertRegex(self.refuse("run", "--summary", "html"), "'html': use text, json")

    def test_misspelt_field_suggests_the_near_one(self) -> None:
        self.assertEqual(self.refuse("run", "-o", "-", "--fields", "timestamp,pss_byte", "true"),
                         "rtrack: unknown field 'pss_byte': did you mean 'pss_bytes'?")
        self.assertEqual(self.refuse("system", "--fields", "lod_1m"),
                         "rtrack: unknown field 'lod_1m': did you mean 'load_1m'?")

    def test_part_of_a_field_suggests_the_field(self) -> None:
        for command, word, meant in (
                ("run", "pss", "pss_bytes"), ("run", "cores", "cores_used"),
                ("run", "cpu", "cpu_seconds"), ("run", "rss", "rss_bytes"),
                ("run", "rss_kb", "rss_bytes"), ("run", "memory", "footprint_bytes"),
                ("run", "peak", "peak_footprint_bytes"), ("run", "faults", "minor_faults"),
                ("system", "memory", "memory_used_bytes"),
                ("attach --unit x", "memory", "cgroup_memory_bytes")):
            message = self.refuse(*command.split(), "-o", "-", "--fields", f"timestamp,{word}",
                                  *(["true"] if command == "run" else []))
            self.assertEqual(message,
                             f"rtrack: unknown field '{word}': did you mean '{meant}'?")
        for word in ("x", "zzz_bytes", "r", "_", "timestamp_seconds_of_the_sample" * 3):
            message = self.refuse("run", "-o", "-", "--fields", word, "true")
            self.assertNotIn("did you mean", message)
        self.assertRegex(self.refuse("run", "--template", "{wall} s", "true"), "'wall_seconds'.$")

    def test_empty_field_is_named(self) -> None:
        for names, where in (("pid,,pss_bytes", "between two commas"),
                             (",pid", "before the first comma"), ("pid,", "after the last comma")):
            self.assertEqual(self.refuse("run", "-o", "-", "--fields", names, "true"),
                             f"rtrack: --fields '{names}' has an empty name {where}")

    def test_misspelt_option_without_a_command_suggests_the_near_one(self) -> None:
        for word, meant in (("--vesion", "--version"), ("--hlep", "--help")):
            self.assertEqual(self.refuse(word), f"rtrack: unknown option '{word}': did you mean "
                                                f"'rtrack {meant}'?")
        self.assertIn("options come after the command name", self.refuse("--interval"))

    def test_all_words_of_live_are_listed(self) -> None:
        for command in ("run", "attach", "system"):
            self.assertEqual(self.refuse(command, "--live=yes"),
                             "rtrack: invalid live 'yes': use auto, always or never")

    def test_misspelt_name_of_a_template_suggests_the_near_one(self) -> None:
        self.assertEqual(self.refuse("run", "--template", "{wall_second}", "true"),
                         "rtrack: unknown figure 'wall_second' in the template: did you mean "
                         "'wall_seconds'?")

    def test_number_out_of_range_says_the_range(self) -> None:
        for words, valid in ((["run", "-i", "0"], "at least 1ms, at most"),
                             (["run", "-i", "10us"], "at least 1ms, at most"),
                             (["run", "-i", "999999999d"], "at least 1ms, at most"),
                             (["system", "-d", "0"], "more than 0, at most"),
                             (["run", "--timeout", "0s"], "more than 0, at most"),
                             (["run", "--count", "0"], "at least 1"),
                             (["rusage", "--pid", "0"], "at least 1"),
                             (["trace", "--ring-bytes", "65M"], "at most 64M")):
            self.assertIn(f"invalid {self.name_of(words[1])} '{words[2]}': ", self.refuse(*words))
            self.assertIn(valid, self.refuse(*words))

    @staticmethod
    def name_of(option: str) -> str:
        return {"-i": "interval", "-d": "duration"}.get(option, option.lstrip("-"))

    def test_message_about_a_process_names_its_pid(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        pid = str(process.pid)
        for words, text in ((["attach", pid], f"cannot attach to process {pid}"),
                            (["rusage", "--pid", pid], f"cannot read process {pid}"),
                            (["trace", "--pid", pid], f"cannot trace process {pid}")):
            message = self.refuse(*words, code=125)
            self.assertIn(text + ": ", message)
            if words[0] != "trace" or "process" in message.partition(": c")[2].partition(":")[2]:
                self.assertEqual(message, f"rtrack: {text}: there is no such process")

    def test_operand_of_attach_that_is_no_pid_points_to_names(self) -> None:
        self.assertRegex(self.refuse("attach", "nginx"), "'nginx': a process id is .*--name")

    def test_argument_of_a_command_that_takes_none_is_named(self) -> None:
        for command, hint in (("info", ""),
                              ("system", ": rtrack system follows the whole system")):
            self.assertEqual(self.refuse(command, "ext\033ra", "more"),
                             f"rtrack: unexpected argument 'ext\\x1bra'{hint}")

    def test_sentences_of_the_library_stand_behind_a_colon(self) -> None:
        self.assertRegex(self.refuse("attach", "--cgroup", "relative", code=125),
                         "^rtrack: cannot attach to cgroup relative: a cgroup is a path")

    def test_controls_in_arguments_are_escaped(self) -> None:
        for words in (("run", "no\033[31m\n\tsuch\u0085"), ("run", "--no\033[31m\n\tsuch\u0085"),
                      ("attach", "no\033[31m\n\tsuch\u0085"), ("no\033[31m\n\tsuch\u0085",)):
            output = rtrack(*words).stderr
            self.assertIn("no\\x1b[31m\\n\\tsuch\\x85", output)
            self.assertNotRegex(output, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_options_of_the_environment_are_escaped_and_named(self) -> None:
        env = {**os.environ, "RTRACK_OPTIONS": "--summry\033 json"}
        done = rtrack("run", "true", env=env)
        self.assertEqual(done.returncode, 2)
        self.assertIn("RTRACK_OPTIONS='--summry\\x1b json'", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
