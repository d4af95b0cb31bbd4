# SPDX-License-Identifier: MIT
"""Check that the pages lead on: links to files, names of sources, notes that internals.md lists."""
import pathlib
import re
import unittest
from typing import Iterator, Set, Tuple

import header
from harness import HEADER, SOURCE

INTERNALS = SOURCE / "docs/internals.md"
NOTES = sorted((SOURCE / "docs/notes").glob("*.md"))
PAGES = [*SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md"), *SOURCE.glob("docs/*/*.md")]
MAX_LINES = 300
FOLDERS = ("lib", "examples", "tests", "include")


def links(page: pathlib.Path) -> Iterator[str]:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match(r"https?:|@ref|#", link):
            yield link.partition("#")[0]


def sources() -> Set[str]:
    """The files of the sources, and each with fewer folders: internals.md leaves them out."""
    found: Set[str] = set()
    for folder in FOLDERS:
        for path in (SOURCE / folder).rglob("*.*"):
            parts = path.relative_to(SOURCE).parts
            found.update("/".join(parts[i:]) for i in range(len(parts)))
    return found


def named(page: pathlib.Path) -> Iterator[Tuple[str, str]]:
    text = page.read_text()
    for name in re.findall(r"[\w./-]*\w\.(?:bpf\.c|c|h|py|sh)\b", text):
        if "FILE" not in name:
            yield page.name, name


class Pages(unittest.TestCase):
    def test_links_lead_to_files(self) -> None:
        dead = [(page.name, link) for page in PAGES for link in links(page)
                if not (page.parent / link).exists()]
        self.assertEqual(dead, [])
        self.assertGreater(sum(len(list(links(page))) for page in PAGES), 50)

    def test_sources_that_internals_and_notes_name_exist(self) -> None:
        known = sources()
        names = [pair for page in (INTERNALS, *NOTES) for pair in named(page)]
        self.assertEqual([pair for pair in names if pair[1] not in known], [])
        self.assertGreater(len(names), 100)

    def test_internals_lists_every_note(self) -> None:
        listed = set(links(INTERNALS))
        self.assertEqual([note.name for note in NOTES if f"notes/{note.name}" not in listed], [])

    def test_ten_questions_lead_to_calls_and_sections(self) -> None:
        text = (SOURCE / "docs/mainpage.md").read_text()
        section = text.partition("\n## Ten questions\n")[2].partition("\n## ")[0]
        answers = re.split(r"^- \*\*", section, flags=re.MULTILINE)[1:]
        self.assertEqual(len(answers), 10)
        calls = [set(re.findall(r"\brt_\w+(?=\()", answer)) for answer in answers]
        known, labels = header.read(HEADER), set(re.findall(r"\{#(\w+)\}", "".join(
            page.read_text() for page in PAGES)))
        self.assertEqual(set().union(*calls) - set(known.functions), set())
        self.assertEqual(set(re.findall(r"@ref (\w+)", section)) - labels, set())
        constants = set(re.findall(r"`(RT_\w+)`", section))
        self.assertEqual(constants - set(known.numbers), set())
        for answer, found in zip(answers, calls):
            self.assertTrue(found or "rt_metrics." in answer, answer)

    def test_internals_can_be_read_at_once(self) -> None:
        self.assertLessEqual(len(INTERNALS.read_text().splitlines()), MAX_LINES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
