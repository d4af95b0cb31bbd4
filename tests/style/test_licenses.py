# SPDX-License-Identifier: MIT
"""Each file has a copyright holder and a licence, and LICENSES/ has its text, as REUSE asks.

A file states both itself or is covered by .reuse/dep5. Sources always repeat their licence in their
first lines, so that it stays with a source that is copied elsewhere.
"""
import os
import re
import shutil
import subprocess
import unittest
from typing import Dict, List, NamedTuple, Optional, Pattern, Set

from harness import SOURCE
from sources import fail_with, is_frozen, need_checkout, read, tracked

DEP5 = ".reuse/dep5"
HEAD_LINES = 5

C_SOURCES = (".c", ".h", ".def", ".h.in", ".cpp", ".hpp")
SOURCES = (*C_SOURCES, ".py", ".sh", ".rs", ".awk", ".bash-completion", ".fish", ".zsh",
           ".1")
WITHOUT_TAG = {"examples/rust/rtrack-sys/src/bindings.rs": "written by bindgen"}

# Split, so that reuse does not read them as the tags of this file.
LICENSE_TAG = re.compile("SPDX-" + r"License-Identifier:\s*([\w.+() -]*[\w.+)])")
COPYRIGHT_TAG = re.compile("SPDX-" + r"FileCopyrightText:\s*\S")

# How the full text of a licence begins and ends.
ENDS = {
    "MIT": ("MIT License", "SOFTWARE."),
    "GPL-2.0-only": ("GNU GENERAL PUBLIC LICENSE", "Public License instead of this License."),
}


class Stated(NamedTuple):
    copyright: Optional[str]
    license: Optional[str]


class Paragraph(NamedTuple):
    files: List[Pattern[str]]
    stated: Stated


def parse_dep5(text: str) -> List[Paragraph]:
    """The paragraphs about files, in their order."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", text.strip()):
        fields: Dict[str, str] = {}
        name = ""
        for line in block.split("\n"):
            if line[:1].isspace():
                fields[name] += line
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if "Files" in fields:
            stated = Stated(fields.get("Copyright"), fields.get("License"))
            files = [wildcard(word) for word in fields["Files"].split()]
            paragraphs.append(Paragraph(files, stated))
    return paragraphs


def wildcard(text: str) -> Pattern[str]:
    """A "*" of dep5 matches slashes too."""
    return re.compile(re.escape(text).replace(r"\*", ".*").replace(r"\?", "."))


def in_dep5(paragraphs: List[Paragraph], path: str) -> Stated:
    for paragraph in reversed(paragraphs):
        if any(files.fullmatch(path) for files in paragraph.files):
            return paragraph.stated
    return Stated(None, None)


def in_file(text: str) -> Stated:
    head = "\n".join(text.split("\n")[:HEAD_LINES])
    holder, expression = COPYRIGHT_TAG.search(head), LICENSE_TAG.search(head)
    return Stated(holder and holder[0], expression and expression[1])


def names(expression: str) -> Set[str]:
    """The licences of an expression such as "MIT OR GPL-2.0-only"."""
    return set(re.findall(r"[\w.+-]+", expression)) - {"AND", "OR", "WITH"}


def head_of(path: str) -> str:
    """The first lines. Files of the fuzzing corpus are not all UTF-8."""
    return (SOURCE / path).read_bytes()[:4096].decode("utf-8", "replace")


class Licenses(unittest.TestCase):
    paths: List[str] = []
    paragraphs: List[Paragraph] = []

    @classmethod
    def setUpClass(cls) -> None:
        cls.paths = tracked()
        cls.paragraphs = parse_dep5(read(DEP5))

    def test_files_are_covered(self) -> None:
        """Every tracked file has a copyright holder and a licence."""
        findings = []
        for path in self.paths:
            covered, own = in_dep5(self.paragraphs, path), in_file(head_of(path))
            if not (covered.copyright or own.copyright):
                findings.append(f"{path}:1: no copyright holder")
            if not (covered.license or own.license):
                findings.append(f"{path}:1: no licence")
        fail_with(self, findings, f"Add the file to {DEP5}.")

    def test_sources_name_their_license(self) -> None:
        """Every source has a licence line of its own, which agrees with .reuse/dep5."""
        findings = []
        for path in self.paths:
            covered, own = in_dep5(self.paragraphs, path), in_file(head_of(path))
            is_source = path.endswith(SOURCES) and path not in WITHOUT_TAG and not is_frozen(path)
            if is_source and not own.license:
                findings.append(f"{path}:1: no licence line")
            elif own.license and covered.license and own.license != covered.license:
                findings.append(f"{path}:1: has {own.license}, but {covered.license} in {DEP5}")
        fail_with(
            self,
            findings,
            "Begin the file with SPDX-" + f"License-Identifier and its licence, the one in {DEP5}.",
        )

    def test_texts_of_licenses_are_here(self) -> None:
        """LICENSES/ has the full texts of the licences that are in use, and no others."""
        used = {name for path in self.paths for name in names(in_file(head_of(path)).license or "")}
        used |= {name for one in self.paragraphs for name in names(one.stated.license or "")}
        texts = (path for path in self.paths if path.startswith("LICENSES/"))
        here = {path[len("LICENSES/") : -len(".txt")] for path in texts}
        findings = [f"LICENSES/{name}.txt:1: missing, but in use" for name in sorted(used - here)]
        findings += [f"LICENSES/{name}.txt:1: in use by no file" for name in sorted(here - used)]
        for name in sorted(used & here):
            text = read(f"LICENSES/{name}.txt").strip()
            begin, end = ENDS.get(name, ("", ""))
            if not text or not text.startswith(begin) or not text.endswith(end):
                findings.append(f"LICENSES/{name}.txt:1: not the full text")
        fail_with(self, findings, "Add the text that spdx.org has under this name.")
        self.assertEqual(read("LICENSES/MIT.txt"), read("LICENSE"), "these two must be the same")

    @unittest.skipUnless(shutil.which("reuse"), "no reuse here: only our own rules checked")
    def test_reuse_lint(self) -> None:
        """The tool of the REUSE specification finds nothing to mend."""
        # It asks git which files are ignored. The checkout may belong to another user.
        trust = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(
            ["reuse", "lint"],
            cwd=SOURCE,
            env={**os.environ, **trust},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)


class Reader(unittest.TestCase):
    """The reader of .reuse/dep5 and of licence lines itself."""

    TEXT = (
        "Format: x\n\nFiles: *\nCopyright: 2026 A\nLicense: MIT\n\n"
        "Files: a/*.c\n b?c\nLicense: X OR MIT\n"
    )

    def test_last_paragraph_counts(self) -> None:
        paragraphs = parse_dep5(self.TEXT)
        self.assertEqual(in_dep5(paragraphs, "z/y"), Stated("2026 A", "MIT"))
        for path in ("a/b/c.c", "bxc"):
            self.assertEqual(in_dep5(paragraphs, path), Stated(None, "X OR MIT"))
        self.assertEqual(in_dep5(paragraphs[1:], "z/y"), Stated(None, None))

    def test_lines_of_comments(self) -> None:
        tag = "SPDX-" + "License-Identifier: MIT OR GPL-2.0-only"
        for line in (f"/* {tag} */", f"// {tag}", f"# {tag}", f'.\\" {tag}', f"<!-- {tag} -->"):
            with self.subTest(line):
                self.assertEqual(in_file(line), Stated(None, "MIT OR GPL-2.0-only"))
        self.assertEqual(in_file("\n" * HEAD_LINES + tag), Stated(None, None))

    def test_names_of_an_expression(self) -> None:
        self.assertEqual(names("MIT OR (GPL-2.0-only AND X)"), {"MIT", "GPL-2.0-only", "X"})


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
