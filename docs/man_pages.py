# SPDX-License-Identifier: MIT
"""Make manual pages of what Doxygen writes for man.

Doxygen makes one page for each topic and struct, with names such as "lists", without the functions
in NAME, and with escapes that mandoc(1) does not know. This makes a page for each public function,
so that "man rt_sample" finds one, of the part about it and its part of docs/details.md; one for
each struct; one for each topic, e.g. librtrack-lists(3rtrack); librtrack-details(3rtrack); and
librtrack(3rtrack), which lists them.

Usage: man_pages.py DOXYGEN_OUTPUT OUTPUT VERSION
"""
import datetime
import os
import pathlib
import re
import shutil
import sys
import time
from typing import Dict, List, NamedTuple

SECTION = "3rtrack"
# The groups of the headers, in their order.
TOPICS = ("versioning", "domains", "rusage", "processes", "pids", "trackers", "diff", "lists",
          "commands", "trace", "recorder", "fields")
INCLUDE = ["#include <rtrack/rtrack.h>", ".br"]
UNITS = [".SH UNITS",
         "The name of a figure ends in its unit: _ns is nanoseconds, _bytes bytes, _us",
         "microseconds; without one it is a number. Times of getrusage(2) fields are in seconds.",
         "rt_field_get(3rtrack) returns the unit of every field."]
ERRORS = [".SH ERRORS",
          "A call that returns int returns 0 or more, or a negative errno value:",
          "rt_strerror(3rtrack) returns its text. Those of each call stand with its return values.",
          "Any call may return -EFAULT (a pointer is NULL), -EINVAL (a size is wrong, a flag or an",
          "option unknown), -E2BIG (options are longer than the library knows), -ENOMEM, -EMFILE",
          "or -ENFILE."]
# The rule of rtrack.h about calls that fill an array with items of a sample.
LIST = [".PP",
        "*count is the room (0: the array may be NULL), and receives the number of items, which",
        "may be more. The call reads no file. -EOPNOTSUPP: no such list, or not wanted; -ENODATA:",
        "no sample, or the list could not be read."]
# The fields of a struct are later than it where the page of units says so.
HISTORY_OF_STRUCT = [
    ".SH HISTORY", "The page \\(lqUnits and definitions\\(rq of the reference says",
    "since when a field is there."]
HISTORY = [".SH HISTORY", "What has no \\(lqSince\\(rq is there since librtrack 0.1."]


# As for anything that is built to be the same each time, if SOURCE_DATE_EPOCH is set.
DATE = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())),
                                       datetime.timezone.utc).strftime("%Y-%m-%d")


class Topic(NamedTuple):
    name: str
    brief: str
    description: List[str]  # lines of the part before the functions
    lines: List[str]
    functions: Dict[str, List[str]]  # the lines about each


def tidy(lines: List[str]) -> List[str]:
    """Drop what mandoc warns of: unknown fonts, empty paragraphs and blank lines."""
    result: List[str] = []
    is_literal = False
    for line in lines:
        line = line.replace("\\fC", "\\fB").rstrip()
        is_literal = line == ".nf" or (is_literal and line != ".fi")
        if not line and not is_literal:
            continue
        is_gap = line in (".PP", ".br", ".sp")
        if is_gap and (not result or re.match(r"\.(SH|SS|PP|br|sp)\b", result[-1])):
            continue
        if line.startswith((".SH", ".SS", ".PP", ".IP")):
            while result and result[-1] in (".PP", ".br", ".sp"):
                result.pop()
        result.append(line)
    while result and result[-1] in (".PP", ".br", ".sp"):
        result.pop()
    return result


def title(name: str, version: str) -> List[str]:
    return [f'.TH "{name}" "{SECTION}" "{DATE}" "librtrack {version}" "librtrack"', ".ad l", ".nh"]


def sections(lines: List[str], level: str) -> Dict[str, List[str]]:
    """Return the lines of each section below its heading."""
    found: Dict[str, List[str]] = {}
    part: List[str] = []
    for line in lines:
        heading = re.match(rf'\.{level} "?(.*?)"?$', line)
        if heading:
            part = found.setdefault(heading[1], [])
        else:
            part.append(line)
    return found


def read_topic(path: pathlib.Path) -> Topic:
    lines = path.read_text().splitlines()
    parts = sections(lines, "SH")
    brief = re.sub(r"^.*? \\- ", "", parts["NAME"][0])
    functions = {}
    for heading, text in sections(parts.get("Function Documentation", []), "SS").items():
        name = re.search(r"(rt_\w+) \(", heading)
        if name:
            prototype = re.sub(r" +\(", "(", heading.replace("* ", "*")) + ";"
            functions[name[1]] = [prototype, *text]
    return Topic(path.name.partition(".")[0], brief, parts.get("Detailed Description", []), lines,
                 functions)


def read_details(path: pathlib.Path) -> Dict[str, List[str]]:
    """Return the lines about each function and struct."""
    found: Dict[str, List[str]] = {}
    for part in sections(path.read_text().splitlines(), "SH").values():
        for heading, text in sections(part, "SS").items():
            found[re.sub(r"\\f[BP]|\(\)", "", heading)] = text
    return found


def more(details: Dict[str, List[str]], name: str) -> List[str]:
    return [".SH DETAILS", *details[name]] if name in details else []


def sentence(lines: List[str]) -> str:
    """Return the first sentence of a text, for NAME."""
    text = " ".join(line for line in lines if line and not line.startswith("."))
    first = re.split(r"\\&\.(?: |$)|\.(?: |$)", text)[0].replace("\\fC", "").replace("\\fB", "")
    return re.sub(r"\\f[PIR]|\\&", "", first).strip()


def page_of_function(topic: Topic, name: str, details: Dict[str, List[str]],
                     version: str) -> List[str]:
    prototype, *text = topic.functions[name]
    about = [f".SH {topic.brief.upper()}", *topic.description] if topic.description else []
    is_list = name.startswith("rt_tracker_") and prototype.endswith("size_t *count);")
    return [*title(name, version), ".SH NAME", f"{name} \\- {sentence(text)}", ".SH SYNOPSIS",
            *INCLUDE, f'.BI "{prototype}"', ".SH DESCRIPTION", *text,
            *(LIST if is_list else []), *about, *more(details, name), *UNITS, *ERRORS, *HISTORY,
            ".SH SEE ALSO",
            f"librtrack({SECTION}), librtrack-{topic.name}({SECTION}), "
            f"librtrack-details({SECTION})"]


def page_of_topic(topic: Topic, version: str) -> List[str]:
    body = topic.lines[next(i for i, line in enumerate(topic.lines)
                            if line.startswith(".SH SYNOPSIS")) + 1:]
    end = next((i for i, line in enumerate(body) if line.startswith('.SH "Author"')), len(body))
    names = ", ".join([f"librtrack-{topic.name}", *topic.functions])
    headings = {'.SH "Detailed Description"': ".SH DESCRIPTION",
                '.SH "Function Documentation"': ".SH FUNCTIONS",
                '.SH "Macro Definition Documentation"': ".SH CONSTANTS"}
    return [*title(f"librtrack-{topic.name}", version), ".SH NAME", f"{names} \\- {topic.brief}",
            ".SH SYNOPSIS", *INCLUDE, *(headings.get(line, line) for line in body[:end]), *UNITS,
            *ERRORS, *HISTORY, ".SH SEE ALSO", f"librtrack({SECTION})"]


def page_of_details(path: pathlib.Path, version: str) -> List[str]:
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('.SH "'))
    return [*title("librtrack-details", version), ".SH NAME",
            "librtrack-details \\- details of calls, options and reasons", *lines[start:],
            ".SH SEE ALSO", f"librtrack({SECTION})"]


def page_of_struct(path: pathlib.Path, details: Dict[str, List[str]], version: str) -> List[str]:
    lines = path.read_text().splitlines()
    parts = sections(lines, "SH")
    name = path.name.partition(".")[0]
    about = parts.get("Detailed Description", [])
    body = {part: text for part, text in parts.items() if part not in ("NAME", "Author")}
    page = [*title(name, version), ".SH NAME", f"{name} \\- {sentence(about)}"]
    for part, text in body.items():
        page += [".SH " + {"Detailed Description": "DESCRIPTION",
                           "Field Documentation": "FIELDS"}.get(part, part)]
        page += [*(INCLUDE if part == "SYNOPSIS" else []),
                 *(line for line in text if not line.startswith("\\fC#include"))]
    return [*page, *more(details, name), *UNITS, *HISTORY_OF_STRUCT, ".SH SEE ALSO",
            f"librtrack({SECTION}), librtrack-details({SECTION})"]


def overview(topics: List[Topic], structs: List[str], version: str) -> List[str]:
    page = [*title("librtrack", version), ".SH NAME",
            "librtrack \\- what a process tree or the whole system uses", ".SH SYNOPSIS", *INCLUDE,
            "cc ... $(pkg-config --cflags --libs rtrack)", ".SH DESCRIPTION",
            "Each function, struct and topic has a page. Figures that could not be read are never",
            "0: a set of bits says which are exact, lower bounds or estimates."]
    for topic in topics:
        page += [f'.SS "{topic.brief}: librtrack-{topic.name}({SECTION})"',
                 ", ".join(f"{name}({SECTION})" for name in topic.functions)]
    page += ['.SS "Structs"', ", ".join(f"{name}({SECTION})" for name in structs)]
    return [*page, *UNITS, *ERRORS, *HISTORY, ".SH SEE ALSO", "rtrack(1), getrusage(2), proc(5)"]


def main() -> None:
    source, output, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    topics = [read_topic(source / f"{name}.{SECTION}") for name in TOPICS]
    structs = sorted(source.glob(f"rt_*.{SECTION}"))
    details = read_details(source / f"details.{SECTION}")
    pages = {"librtrack": overview(topics, [path.name.partition(".")[0] for path in structs],
                                   version)}
    pages["librtrack-details"] = page_of_details(source / f"details.{SECTION}", version)
    for topic in topics:
        pages[f"librtrack-{topic.name}"] = page_of_topic(topic, version)
        for name in topic.functions:
            pages[name] = page_of_function(topic, name, details, version)
    for path in structs:
        pages[path.name.partition(".")[0]] = page_of_struct(path, details, version)
    if output.exists():
        shutil.rmtree(output)
    output.mkdir(parents=True)
    for name, lines in pages.items():
        (output / f"{name}.{SECTION}").write_text("\n".join(tidy(lines)) + "\n")


if __name__ == "__main__":
    main()
