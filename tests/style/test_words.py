# SPDX-License-Identifier: MIT
"""Texts and names call a process a thing, and use the terms of the manual pages.

Reads comments, strings, documentation, file names, and identifiers, which are split at underscores
and at capitals. A line with the remark "style: allow" is left out. The table ALLOWED has what is
allowed elsewhere.
"""
import re
import unittest
from collections import Counter
from typing import Iterator, List, NamedTuple

from sources import fail_with, is_frozen, need_checkout, read, tracked, without_comments

FOLDERS = ("lib/", "include/", "examples/", "docs/", "tests/")
THIS_FILE = "tests/style/test_words.py"
REMARK = "style: allow"


class Banned(NamedTuple):
    words: str  # a regular expression in lower case, for whole words
    instead: str


BANNED = (
    Banned("who|whom|whose|whoever|whomever", "which, that, any process"),
    Banned("nobody|somebody|someone|anybody|everybody", "no process, a process, each process"),
    Banned("he|him|himself|his", "it, its"),
    Banned("told", "reported, parsed"),
    Banned("lest", "so that ... not"),
    Banned("hearing", "subscription"),
    Banned("census", "descendant set"),
    Banned("roll", "process log"),
    Banned("keepers?", "supervisor"),
    Banned("bequeath[a-z]*", "inherited"),
    Banned("boards?", "shared stats, shared memory"),
    Banned("wishes", "request flags"),
    Banned("sweep[a-z]*", "batch read"),
    Banned("survey[a-z]*", "read the CPU clocks"),
    Banned("glanc(?:e[a-z]*|ing)", "peak poll"),
    Banned("leaf", "file, cgroup, base device"),
    Banned("near[ _]us", "origin"),
    Banned("headless", "the leader has exited"),
    Banned("rungs?", "accounting method"),
    Banned("bracket(?:s|ed)?", "CPU bounds"),
)

# One group for each entry.
ANY_BANNED = re.compile(
    "(?<![a-z])(?:" + "|".join(f"({banned.words})" for banned in BANNED) + ")(?![a-z])"
)

# "Lives" is a verb too, so it is banned in names only: everywhere as a prefix of names, and in the
# code of the library in any part of a name.
LIVES_PREFIX = re.compile(r"(?<![A-Za-z0-9_])(?:rti_lives(?![a-z])|lives_)")
LIVES = re.compile(r"(?<![a-z])lives(?![a-z])")
INSTEAD_OF_LIVES = "process list, process record"


class Allowed(NamedTuple):
    paths: str  # a regular expression for the whole path
    text: str  # a regular expression; what it matches is not looked at
    reason: str


BINDINGS = r"examples/(?:cpp|python|rust)/.*"

ALLOWED = (
    Allowed(r".*", r"\brt_tracker_glance\b", "an exported name"),
    Allowed(BINDINGS, r"\bglance(?=\()", "the method for rt_tracker_glance()"),
    Allowed(r"tests/(?:accuracy|consumers)/.*", r"\.glance\b", "the method for it"),
    Allowed(r"include/.*", r"(?:@param|@p|\bint) who\b", "the argument of rt_getrusage()"),
    Allowed(
        r".*",
        r"`who`|\b(?:int32_t|pub) who\b|(?:\.|->)who\b|\bMETA\(who\b|\bwho=|"
        r"[\"']who(?=[\"'])",
        "a field of struct rt_trace_event, called as the argument is in getrusage(2)",
    ),
    Allowed(r"docs/.*", r"`who`|\.(?:Fa|Ar|It) who\b", "the argument of rt_getrusage()"),
    Allowed(
        r"lib/api/rusage\.c",
        r"\bint who\b|\bwho [!=]=|\bgetrusage\(who\b",
        "the argument of rt_getrusage()",
    ),
    Allowed(
        r"(?:lib|tests)/.*\.[ch]",
        r"(?:\.|->)who\b|\bint32_t who\b",
        "the first argument of a traced call",
    ),
    Allowed(
        r"examples/python/rtrack\.py",
        r"\(who: int\)|\bwho = _int32\(who\)|\bif who not in \(|getrusage\(who\b|"
        r"invalid who parameter",
        "the argument of getrusage(), and the text of Python's own error",
    ),
    Allowed(
        r"examples/rust/.*\.rs",
        r"\(who: |\blet who = match who\b|getrusage\(who\b|\bWho::|\benum Who\b|\bWho(?=[,})])",
        "the argument of getrusage() and its type",
    ),
    Allowed(
        r"examples/rtrack/json\.[ch]",
        r"\bopening bracket\b|\bchar bracket\b|&bracket\b",
        "the characters [ ] { }",
    ),
    Allowed(
        r"examples/rtrack/rtrack\.bash-completion|docs/.*",
        r"\b(?:square|curly|round) brackets?\b",
        "characters",
    ),
    Allowed(
        r"docs/reports/benchmarks\.md|tests/bench/report\.py", r"\bIn brackets\b", "characters"
    ),
)


class Finding(NamedTuple):
    path: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.word}": {self.instead}'

    @property
    def folder(self) -> str:
        return "/".join(self.path.split("/")[:-1][:2])


def plain(line: str) -> str:
    """Lower case, with capitals and escape sequences as ends of words."""
    line = re.sub(r"\\[abfnrtv]", "  ", line)
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", line).lower()


def without_allowed(path: str, line: str) -> str:
    if REMARK in line:
        return ""
    for allowed in ALLOWED:
        if re.fullmatch(allowed.paths, path):
            line = re.sub(allowed.text, " ", line)
    return line


def findings(path: str, text: str) -> Iterator[Finding]:
    """The banned words of a file, also of its path. Those of the path are at line 0."""
    for number, line in enumerate([path, *text.split("\n")]):
        if not ANY_BANNED.search(plain(line)) and not LIVES_PREFIX.search(line):
            continue
        line = without_allowed(path, line)
        for match in ANY_BANNED.finditer(plain(line)):
            yield Finding(path, number, match[0], BANNED[(match.lastindex or 0) - 1].instead)
        if LIVES_PREFIX.search(line):
            yield Finding(path, number, "lives_", INSTEAD_OF_LIVES)
    if path.startswith("lib/") and path.endswith((".c", ".h", ".def")):
        for number, line in enumerate(without_comments(text).split("\n"), 1):
            if LIVES.search(plain(line)) and not LIVES_PREFIX.search(line):
                yield Finding(path, number, "lives", INSTEAD_OF_LIVES)


def is_checked(path: str) -> bool:
    return path.startswith(FOLDERS) and path != THIS_FILE and not is_frozen(path)


class Words(unittest.TestCase):
    def test_no_banned_words(self) -> None:
        """No text or name has a banned word."""
        paths = filter(is_checked, tracked())
        found = [finding for path in paths for finding in findings(path, read(path))]
        for folder, count in sorted(Counter(finding.folder for finding in found).items()):
            print(f"{count:5} {folder}")
        fail_with(self, map(str, found), f"Use the words given, or see ALLOWED in {THIS_FILE}.")


class Matcher(unittest.TestCase):
    """The matcher itself."""

    def words(self, text: str, path: str = "docs/a.md") -> List[str]:
        return [finding.word for finding in findings(path, text)]

    def test_bad_texts_are_found(self) -> None:
        for text, words in {
            "a process whose parent has left": ["whose"],
            "Who knows; WHOEVER": ["who", "whoever"],
            "told by somebody": ["told", "somebody"],
            "he's gone, to him": ["he", "him"],
            "and his reaper, lest it falls": ["his", "lest"],
            "is_keeper(tree) && has_leaf": ["keeper", "leaf"],
            "LEAF_LAST_PID": ["leaf"],
            "whatWhoSees": ["who"],
            r'printf("\nboard\trung");': ["rung", "board"],
            "bequeathed_kib, swept, sweeps": ["bequeathed", "sweeps"],
            "glanced, at a glance, glancing": ["glanced", "glance", "glancing"],
            "in the bracket of rungs near us": ["near us", "rungs", "bracket"],
            "rti_near_us_path": ["near_us"],
            "rti_lives_add(&rti_lives)": ["lives_"],
            "lives_of(3)": ["lives_"],
            "survey, surveyed; headless; census; wishes; hearing; the roll": [
                *["hearing", "census", "roll", "wishes", "survey", "surveyed"],
                *["headless"],
            ],
        }.items():
            with self.subTest(text):
                self.assertCountEqual(self.words(text), words)

    def test_good_texts_pass(self) -> None:
        for text in (
            "the whole of this, the help, what she said, behind, history, there, when",
            "rolled back, enrolled, scrolls, keyboard",
            "molest, latest, at least, wished, listed, celeste",
            "a thread that lives on; long-lived; it outlives_the test",
            "leaflet, leave, leaves, beekeeping, wrung, strung, hear",
            "near usage, nearest, linear use",
            "rt_tracker_glance(t)",
        ):
            with self.subTest(text):
                self.assertEqual(self.words(text), [])

    def test_lives_is_banned_in_names_of_the_library(self) -> None:
        text = "/* A process that lives. */\nstruct x lives;\nfor_lives(x); /* lives */\n"
        self.assertEqual([one.line for one in findings("lib/tree/a.c", text)], [2, 3])
        self.assertEqual(self.words(text, "tests/a.c"), [])

    def test_allowed_names_pass(self) -> None:
        for path, text in (
            ("include/rtrack/rtrack.h", "@param who RT_RUSAGE_SELF"),
            ("include/rtrack/rtrack.h", "RT_API int rt_getrusage(int who, struct rt_rusage *out);"),
            ("lib/api/rusage.c", "if (who != RT_RUSAGE_SELF && who != RT_RUSAGE_CHILDREN)"),
            ("examples/python/rtrack.py", "def glance(self) -> None:"),
            ("examples/rust/rtrack/src/lib.rs", "    let who = match who {"),
            ("lib/os/a.c", "a leaf of the tree /* style: allow, a B-tree has leaves */"),
        ):
            with self.subTest(text):
                self.assertEqual(self.words(text, path), [])

    def test_allowed_names_stay_banned_in_prose(self) -> None:
        for path, text, word in (
            ("include/rtrack/rtrack.h", "the process who waits, int who", "who"),
            ("examples/python/rtrack.py", "a glance at the tree", "glance"),
            ("examples/rust/rtrack/src/lib.rs", "/// Those who wait.", "who"),
            ("docs/a.md", "call rt_tracker_glance() for a glance", "glance"),
        ):
            with self.subTest(text):
                self.assertEqual(self.words(text, path), [word])

    def test_file_names_are_read(self) -> None:
        (finding,) = findings("lib/os/leaf.c", "")
        self.assertEqual((finding.line, finding.word), (0, "leaf"))

    def test_every_allowance_has_a_reason(self) -> None:
        for allowed in ALLOWED:
            self.assertTrue(allowed.reason)


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
