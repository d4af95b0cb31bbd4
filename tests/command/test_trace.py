# SPDX-License-Identifier: MIT
"""Tests of rtrack trace with calls that the test made up: what it writes, and how it ends.

A preloaded library returns them in place of a trace. So no right is needed, and each call is known
to the bit. test_trace_live.py has real calls.
"""
from __future__ import annotations

import calendar
import ctypes
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
import unittest
from typing import Any, Dict, List

import header
import rtrack as binding
from harness import HEADER
from rtrack_command import (PATIENCE_S, RTRACK, Case, commands_of, in_locale, is_alive, read_jsonl,
                            rtrack, wait_until)

PRELOAD = sys.argv.pop(1)
NS = 1_000_000_000
SELF, CHILDREN, THREAD = 0, -1, 1
ALL_VALID = 0xFFFF
NOON = 1_700_000_000 * NS  # 2023-11-14 22:13:20 UTC
# What /proc/PID/comm can have, and names that would break a line, a terminal or JSON.
HOSTILE = [
    b"a\nb", b"\x1b[2J", b'"}\n{"', b"\xff\xfe", b"tab\there", b"back\\slash", b"\xc2\x9b31m", b"",
    "ä".encode(), b"a]b[1]", "\u202egnp.sh".encode(),
    "a\u2066b\u2069".encode(), "\u200e\u200f\u061c".encode(), "a\u2028b".encode()]

CONTROLS = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"

# The fields of Tracee's JSON in v0.24, in its order.
TRACEE = [
    "timestamp", "threadStartTime", "processorId", "processId", "cgroupId", "threadId",
    "parentProcessId", "hostProcessId", "hostThreadId", "hostParentProcessId", "userId",
    "mountNamespace", "pidNamespace", "processName", "executable", "hostName", "containerId",
    "container", "kubernetes", "eventId", "eventName", "matchedPolicies", "argsNum", "returnValue",
    "syscall", "stackAddresses", "contextFlags", "threadEntityId", "processEntityId",
    "parentEntityId", "args"]


def murmur3(data: bytes, seed: int) -> int:
    """Return the hash MurmurHash3 (x86, 32 bits) of whole words."""
    def rotated(x: int, bits: int) -> int:
        return (x << bits | x >> (32 - bits)) & 0xFFFFFFFF

    h = seed
    for word, in struct.iter_unpack("<I", data):
        h ^= rotated(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
        h = (rotated(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h ^ h >> 16


def entity_hash(number: int, start: int) -> int:
    return murmur3(struct.pack(">IQ", number, start), seed=0x18273645)


def entity_id(host_tid: int, start_ns: int) -> int:
    """Return what Tracee makes of the start since 1970."""
    return entity_hash(host_tid, start_ns - start_ns % 100_000_000)


def event(**fields: Any) -> bytes:
    """Return the bytes of one event. Names of rusage fields set that figure, and its bit."""
    raw = binding.TraceEvent._raw_type()
    values = {
        "call": binding.TRACE_CALL_GETRUSAGE, "comm": b"prog", "exe": b"/bin/prog", "pid": 4711,
        "tid": 4711, "ppid": 42, "host_pid": 14711, "host_tid": 14711, "host_ppid": 1042,
        "monotonic_ns": 5 * NS, "realtime_ns": NOON + 123456789, "duration_ns": 700, "cpu": 1,
        "ns_pid": 7, "ns_tid": 8, "ns_ppid": 1, "uid": 1000, "thread_start_ns": 30 * NS,
        "process_start_ns": 20 * NS, "parent_start_ns": 10 * NS, "cgroup_id": 77,
        "mount_namespace": 88, "pid_namespace": 99, "usage_address": 0x7ffc12345678,
        "host_name": b"pod", "rusage_valid": ALL_VALID, **fields}
    raw.size = ctypes.sizeof(raw)
    for name, value in values.items():
        if name.startswith("ru_"):
            setattr(raw.rusage, name, value)
        elif name.startswith("live_children_ru_"):
            setattr(raw.live_children, name[len("live_children_") :], value)
        else:
            setattr(raw, name, value)
    return bytes(raw)


class Fake(Case):
    def env(self, *events: bytes, **more: Any) -> Dict[str, str]:
        path = self.dir / "events"
        path.write_bytes(b"".join(events))
        fakes = {f"FAKE_{name.upper()}": str(value) for name, value in more.items()}
        return {**os.environ, "LC_ALL": "C", "TZ": "UTC", "LD_PRELOAD": PRELOAD,
                "FAKE_EVENTS": str(path), **fakes}

    def lines(self, form: str, *events: bytes, words: List[str] = [],
              env: Dict[str, str] = {}) -> List[str]:
        """Return the lines that rtrack trace writes for these events."""
        path = self.dir / "calls"
        done = rtrack("trace", "-q", "-f", form, *words, "-o", path, "true",
                      env={**self.env(*events), **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = path.read_bytes().decode()
        self.assertTrue(text.endswith("\n"))
        return text.split("\n")[:-1]


class Text(Fake):
    def line(self, **fields: Any) -> str:
        """Return the line of one call, without its time and its process."""
        line, = self.lines("text", event(**fields))
        self.assertRegex(line, r"^22:13:20\.123456 prog\[4711\] ")
        return line.partition("] ")[2]

    def test_successful_call_has_figures_that_are_not_0(self) -> None:
        line = self.line(ru_utime=0.12, ru_stime=0.000412, ru_maxrss=10035, ru_minflt=1234,
                         ru_inblock=8, ru_nivcsw=3)
        self.assertEqual(
            line, "getrusage(RUSAGE_SELF) = 0 {utime=0.12 s, stime=0.000412 s, maxrss=9.8 MiB, "
            "minflt=1234, inblock=8, nivcsw=3}")

    def test_whole_line_reads_as_in_the_manual(self) -> None:
        line, = self.lines("text", event(comm=b"python3", ru_utime=1, ru_maxrss=2))
        self.assertEqual(
            line, "22:13:20.123456 python3[4711] getrusage(RUSAGE_SELF) = 0 {utime=1.00 s, "
            "stime=0.00 s, maxrss=2.0 KiB}")

    def test_arguments_of_getrusage_have_names_or_numbers(self) -> None:
        for scope, name in ((CHILDREN, "RUSAGE_CHILDREN"), (THREAD, "RUSAGE_THREAD"), (-2, "-2")):
            self.assertIn(f"getrusage({name}) = 0 ", self.line(who=scope))

    def test_errors_have_names(self) -> None:
        for number, text in ((errno.EINVAL, "EINVAL (Invalid argument)"),
                             (errno.EFAULT, "EFAULT (Bad address)"),
                             (errno.EINTR, "EINTR (Interrupted system call)"),
                             (errno.EACCES, "EACCES (Permission denied)"),
                             (errno.EXDEV, f"error {errno.EXDEV} ({os.strerror(errno.EXDEV)})")):
            self.assertEqual(self.line(who=7, result=-number, rusage_valid=0),
                             f"getrusage(7) = -1 {text}")

    def test_wait_calls_have_their_arguments(self) -> None:
        wait4 = {"call": binding.TRACE_CALL_WAIT4, "who": -1}
        self.assertEqual(self.line(**wait4, wait_options=os.WNOHANG, rusage_valid=0),
                         "wait4(-1, WNOHANG) = 0")
        self.assertEqual(self.line(**wait4, wait_options=os.WUNTRACED, rusage_valid=0),
                         "wait4(-1, WUNTRACED) = 0")
        self.assertTrue(self.line(**wait4, result=4712).startswith("wait4(-1, 0) = 4712 {utime="))
        self.assertEqual(
            self.line(call=binding.TRACE_CALL_WAITID, who=1, wait_id=4712, rusage_valid=0,
                      wait_options=os.WEXITED | os.WSTOPPED | 0x40000000 | 0x100),
            "waitid(P_PID, 4712, WSTOPPED|WEXITED|__WALL|0x100) = 0")

    def test_remarks_follow_call(self) -> None:
        remarks = ((binding.TRACE_EVENT_UNREAD, " = 0 {unreadable}"),
                   (binding.TRACE_EVENT_UNREAD | binding.TRACE_EVENT_32BIT,
                    " = 0 {unreadable} (32-bit)"),
                   (binding.TRACE_EVENT_NO_ENTRY, " = 0 (began before the trace)"))
        for flags, remark in remarks:
            self.assertEqual(self.line(flags=flags, rusage_valid=0),
                             "getrusage(RUSAGE_SELF)" + remark)

    def test_figures_that_are_not_valid_are_unknown(self) -> None:
        self.assertEqual(self.line(rusage_valid=ALL_VALID & ~0b101 & ~(1 << 14)).split(" ", 3)[3],
                         "{utime=?, stime=0.00 s, maxrss=?, nvcsw=?}")

    def test_live_children_come_second(self) -> None:
        line = self.line(who=CHILDREN, ru_utime=2, live_children_valid=ALL_VALID,
                         live_children_ru_utime=0.5, live_children_ru_maxrss=1024)
        self.assertEqual(
            line, "getrusage(RUSAGE_CHILDREN) = 0 {utime=2.00 s, stime=0.00 s, maxrss=0 B} + live "
            "children {utime=0.50 s, stime=0.00 s, maxrss=1.0 MiB}")

    def test_lower_bounds_of_live_children_are_marked(self) -> None:
        bounds = 0b111 | 1 << 14 | 1 << 15
        line = self.line(who=CHILDREN, live_children_valid=ALL_VALID & ~bounds,
                         live_children_partial=bounds & ~(1 << 15),
                         live_children_ru_utime=0.5, live_children_ru_maxrss=1024,
                         live_children_ru_minflt=7)
        self.assertEqual(line.partition(" + live children ")[2],
                         "{utime>=0.50 s, stime>=0.00 s, maxrss>=1.0 MiB, minflt=7, nvcsw>=0, "
                         "nivcsw=?}")

    def test_processes_have_pid_and_other_threads_their_tid(self) -> None:
        lines = self.lines("text", event(tid=4713), event(pid=0, tid=0),
                           event(pid=0, tid=0, host_tid=5), event(pid=0, tid=0, host_pid=0))
        names = ["prog[4711/4713]", "prog[host 14711]", "prog[host 14711/5]", "prog[host ?/14711]"]
        self.assertEqual([line.split(" ", 1)[1].partition("] ")[0] + "]" for line in lines], names)

    def test_time_is_local(self) -> None:
        line, = self.lines("text", event(), env={"TZ": "XYZ-05:30"})
        self.assertTrue(line.startswith("03:43:20.123456 "), line)

    def test_hostile_names_break_no_line_and_no_terminal(self) -> None:
        for locale in ("C", "C.UTF-8"):
            lines = self.lines("text", *(event(comm=comm) for comm in HOSTILE),
                               env=in_locale(locale))
            self.assertEqual(len(lines), len(HOSTILE))
            for line in lines:
                self.assertRegex(line, r"\[4711\] getrusage\(RUSAGE_SELF\) = 0 \{")
                self.assertFalse(re.search(CONTROLS, line), repr(line))
            self.assertIn(" ??[4711] ", lines[3])
            self.assertEqual("ä" in lines[8], locale == "C.UTF-8")
            self.assertIn(" ?gnp.sh[4711] ", lines[10])


class JsonLines(Fake):
    def objects(self, *events: bytes, words: List[str] = []) -> List[Dict[str, Any]]:
        rows = [json.loads(line) for line in self.lines("jsonl", *events, words=words)]
        self.assertEqual((rows[-1]["type"], rows[-1]["calls"]), ("totals", len(rows) - 1))
        return rows[:-1]

    def test_keys_are_the_fields_of_the_struct(self) -> None:
        structs = header.read(HEADER).structs
        figures = [field.name for field in structs["rt_rusage"].fields]
        keys = ["type"]
        for field in structs["rt_trace_event"].fields:
            if field.name == "rusage":
                keys += figures
            elif field.name == "live_children":
                keys += ["live_children_" + name for name in figures]
            elif field.name not in ("size", "rusage_valid", "live_children_valid", "reserved"):
                keys.append(field.name)
        found, = self.objects(event(live_children_valid=ALL_VALID), words=["--live-children"])
        self.assertEqual(sorted(found), sorted(keys))
        found, = self.objects(event())
        self.assertEqual(sorted(found), sorted(k for k in keys if not k.startswith("live_")))

    def test_lower_bounds_of_live_children_are_named(self) -> None:
        found, = self.objects(
            event(who=CHILDREN, live_children_valid=ALL_VALID & ~0b1011, live_children_partial=0b11,
                  live_children_ru_utime=0.5), words=["--live-children"])
        self.assertEqual(found["live_children_partial"], ["ru_utime", "ru_stime"])
        self.assertEqual((found["live_children_ru_utime"], found["live_children_ru_maxrss"]),
                         (0.5, 0))
        self.assertIsNone(found["live_children_ru_ixrss"])

    def test_values_are_those_of_the_event(self) -> None:
        found, = self.objects(
            event(who=CHILDREN, lost=3, ru_utime=0.25, ru_nvcsw=1 << 40, uid=0xFFFFFFFE,
                  usage_address=(1 << 64) - 1, monotonic_ns=(1 << 63) + 1))
        self.assertEqual(found["type"], "call")
        self.assertEqual((found["call"], found["who"], found["result"]), ("getrusage", -1, 0))
        self.assertEqual((found["ru_utime"], found["ru_nvcsw"], found["lost"]), (0.25, 1 << 40, 3))
        self.assertEqual((found["sequence"], found["uid"], found["flags"]), (0, 0xFFFFFFFE, []))
        self.assertEqual(found["usage_address"], (1 << 64) - 1)
        self.assertEqual(found["monotonic_ns"], (1 << 63) + 1)
        self.assertEqual((found["pid"], found["host_ppid"], found["exe"]),
                         (4711, 1042, "/bin/prog"))
        self.assertEqual((found["ns_pid"], found["ns_tid"], found["ns_ppid"]), (7, 8, 1))
        self.assertEqual(
            [found[name] for name in ("thread_start_ns", "process_start_ns", "parent_start_ns")],
            [30 * NS, 20 * NS, 10 * NS])
        self.assertEqual((found["host_name"], found["status_address"]), ("pod", 0))

    def test_failed_call_has_no_figures(self) -> None:
        found, = self.objects(event(who=-5, result=-errno.EINVAL, rusage_valid=0))
        self.assertEqual((found["who"], found["result"]), (-5, -errno.EINVAL))
        self.assertEqual({found[key] for key in found if key.startswith("ru_")}, {None})

    def test_unknown_values_are_null(self) -> None:
        unknown = ["pid", "tid", "ppid", "host_pid", "host_tid", "host_ppid", "ns_pid", "ns_tid",
                   "ns_ppid", "thread_start_ns", "process_start_ns", "parent_start_ns",
                   "cgroup_id", "mount_namespace", "pid_namespace"]
        found, = self.objects(
            event(**{name: 0 for name in unknown}, exe=b"", host_name=b"", flags=0b1111,
                  rusage_valid=0, uid=0xFFFFFFFF, cpu=0xFFFFFFFF))
        unknown += ["exe", "host_name", "duration_ns", "uid", "cpu"]
        self.assertEqual({found[name] for name in unknown}, {None})
        self.assertEqual(found["flags"], ["32bit", "unread", "no_entry", "exe_cut"])

    def test_hostile_names_are_one_object_each(self) -> None:
        events = [event(comm=name, exe=b"/" + name, host_name=name) for name in HOSTILE]
        for form in ("jsonl", "tracee"):
            lines = self.lines(form, *events)
            self.assertEqual(len(lines), len(HOSTILE) + (form == "jsonl"))
            for line, name in zip(lines, HOSTILE):
                found = json.loads(line)
                comm = found["comm"] if form == "jsonl" else found["processName"]
                host_name = found["host_name"] if form == "jsonl" else found["hostName"]
                self.assertIn(host_name, (comm, None if form == "jsonl" else ""))
                try:
                    self.assertEqual(comm, name.decode())
                except UnicodeDecodeError:
                    self.assertEqual(comm, "\ufffd" * len(name))

    def test_last_row_has_what_was_lost_after_the_last_call(self) -> None:
        done = rtrack("trace", "-q", "-f", "jsonl", "-o", self.dir / "calls", "true",
                      env=self.env(event(lost=3), lost=1234567))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = read_jsonl(self.dir / "calls")
        self.assertEqual([row["lost"] for row in rows], [3] * (len(rows) - 1) + [1234567])
        self.assertEqual((rows[-1]["type"], rows[-1]["calls"]), ("totals", len(rows) - 1))

    def test_suffix_of_file_chooses_format(self) -> None:
        path = self.dir / "calls.jsonl"
        rtrack("trace", "-q", "-o", path, "true", env=self.env(event()))
        self.assertEqual(read_jsonl(path)[0]["call"], "getrusage")


class Tracee(Fake):
    def objects(self, *events: bytes) -> List[Dict[str, Any]]:
        return [json.loads(line) for line in self.lines("tracee", *events)]

    def test_fields_are_in_order_of_tracee(self) -> None:
        for found in self.objects(event(), event(call=binding.TRACE_CALL_WAIT4),
                                  event(call=binding.TRACE_CALL_WAITID)):
            self.assertEqual(list(found), TRACEE)
            self.assertEqual(found["argsNum"], len(found["args"]))

    def test_getrusage_has_values_of_event(self) -> None:
        found, = self.objects(event(who=CHILDREN, flags=binding.TRACE_EVENT_32BIT))
        self.assertEqual(found["timestamp"], NOON + 123456789)
        self.assertEqual([found[name] for name in TRACEE[2:14]],
                         [1, 7, 77, 8, 1, 14711, 14711, 1042, 1000, 88, 99, "prog"])
        self.assertEqual((found["executable"], found["hostName"], found["containerId"]),
                         ({"path": "/bin/prog"}, "pod", ""))
        self.assertEqual((found["container"], found["kubernetes"]), ({}, {}))
        number = {"x86_64": "98", "aarch64": "165"}.get(os.uname().machine, found["eventId"])
        self.assertEqual((found["eventId"], found["eventName"], found["syscall"]),
                         (number, "getrusage", "getrusage"))
        self.assertEqual((found["matchedPolicies"], found["stackAddresses"]), ([""], None))
        self.assertEqual(found["contextFlags"], {"containerStarted": False, "isCompat": True})
        self.assertEqual(found["args"], [
            {"name": "who", "type": "int32", "value": -1},
            {"name": "usage", "type": "trace.Pointer", "value": 0x7ffc12345678}])

    def test_start_of_thread_is_since_1970(self) -> None:
        found, = self.objects(event())
        boot = binding.time.time_ns() - binding.time.clock_gettime_ns(binding.time.CLOCK_BOOTTIME)
        self.assertLess(abs(found["threadStartTime"] - boot - 30 * NS), 60 * NS)

    def test_wait_calls_have_their_arguments(self) -> None:
        wait4, waitid = self.objects(
            event(call=binding.TRACE_CALL_WAIT4, who=-1, wait_options=1, status_address=4096,
                  result=5),
            event(call=binding.TRACE_CALL_WAITID, who=1, wait_id=5, result=-errno.ECHILD))
        self.assertEqual([(a["name"], a["value"]) for a in wait4["args"]],
                         [("pid", -1), ("wstatus", 4096), ("options", 1),
                          ("rusage", 0x7ffc12345678)])
        self.assertEqual([(a["name"], a["value"]) for a in waitid["args"]],
                         [("idtype", 1), ("id", 5), ("infop", 0), ("options", 0),
                          ("rusage", 0x7ffc12345678)])
        self.assertEqual((wait4["returnValue"], waitid["returnValue"]), (5, -errno.ECHILD))
        if os.uname().machine == "x86_64":
            self.assertEqual((wait4["eventId"], waitid["eventId"]), ("61", "247"))

    def test_entity_ids_are_those_of_tracee(self) -> None:
        # Known pairs of its hash.
        self.assertEqual(entity_hash(1, 2), 0xD25F0E74)
        self.assertEqual(entity_hash(0x12345678, 0x123456789ABCDEF0), 0xB065052C)
        for found in self.objects(*(event(thread_start_ns=30 * NS + i * 50_000_000)
                                    for i in range(4))):
            self.assertEqual(found["threadEntityId"], entity_id(14711, found["threadStartTime"]))
        found, = self.objects(event())
        start = found["threadStartTime"]
        self.assertEqual(found["processEntityId"], entity_id(14711, start - 10 * NS))
        self.assertEqual(found["parentEntityId"], entity_id(1042, start - 20 * NS))

    def test_entity_without_start_or_number_on_the_host_has_id_0(self) -> None:
        names = ("threadEntityId", "processEntityId", "parentEntityId")
        for fields in ({"thread_start_ns": 0, "process_start_ns": 0, "parent_start_ns": 0},
                       {"host_pid": 0, "host_tid": 0, "host_ppid": 0}):
            found, = self.objects(event(**fields))
            self.assertEqual([found[name] for name in names], [0, 0, 0])

    def test_unknown_host_name_is_empty(self) -> None:
        """The name of this host would be false: the namespace may be another one."""
        found, = self.objects(event(host_name=b""))
        self.assertEqual(found["hostName"], "")


class TraceeV1beta1(Fake):
    def line(self, **fields: Any) -> str:
        line, = self.lines("tracee-v1beta1", event(**fields))
        return line

    def object(self, **fields: Any) -> Dict[str, Any]:
        found = json.loads(self.line(**fields))
        assert isinstance(found, dict)
        return found

    def test_line_of_getrusage_is_that_of_tracee(self) -> None:
        line = self.line(who=CHILDREN, flags=binding.TRACE_EVENT_32BIT)
        start, = re.findall(r'"start_time":"([^"]*)"', line)
        ids = re.findall(r'"unique_id":(\d+)', line)
        expected = """\
{"timestamp":"2023-11-14T22:13:20.123456789Z","id":99,"name":"getrusage",\
"policies":{"matched":[""]},"workload":{"process":{"executable":{"path":"/bin/prog"},\
"unique_id":%s,"host_pid":14711,"pid":7,"real_user":{"id":1000},"thread":{"start_time":"%s",\
"name":"prog","unique_id":%s,"host_tid":14711,"tid":8,"syscall":"getrusage","compat":true},\
"ancestors":[{"unique_id":%s,"host_pid":1042,"pid":1}]}},"data":[{"name":"who","int32":-1},\
{"name":"usage","pointer":"%d"},{"name":"returnValue","int64":"0"}]}"""
        self.assertEqual(line, expected % (ids[0], start, ids[1], ids[2], 0x7ffc12345678))

    def test_wait_calls_have_numbers_and_data_of_tracee(self) -> None:
        found = self.object(call=binding.TRACE_CALL_WAIT4, who=-1, wait_options=1,
                            status_address=2**64 - 1, usage_address=0, result=4712)
        self.assertEqual((found["id"], found["name"]), (62, "wait4"))
        self.assertEqual(found["workload"]["process"]["thread"]["syscall"], "wait4")
        self.assertEqual(found["data"], [
            {"name": "pid", "int32": -1}, {"name": "wstatus", "pointer": "18446744073709551615"},
            {"name": "options", "int32": 1}, {"name": "rusage", "pointer": "0"},
            {"name": "returnValue", "int64": "4712"}])
        found = self.object(call=binding.TRACE_CALL_WAITID, who=1, wait_id=5, wait_options=4,
                            status_address=16, usage_address=32, result=-errno.ECHILD)
        self.assertEqual((found["id"], found["name"]), (248, "waitid"))
        self.assertEqual(found["data"], [
            {"name": "idtype", "int32": 1}, {"name": "id", "int32": 5},
            {"name": "infop", "pointer": "16"}, {"name": "options", "int32": 4},
            {"name": "rusage", "pointer": "32"}, {"name": "returnValue", "int64": "-10"}])

    def test_times_have_no_zeros_at_their_end(self) -> None:
        for ns, digits in ((0, ""), (1, ".000000001"), (120_000_000, ".12"),
                           (999_999_999, ".999999999"), (10_000, ".00001")):
            self.assertEqual(self.object(realtime_ns=NOON + ns)["timestamp"],
                             f"2023-11-14T22:13:20{digits}Z")

    def test_start_and_ids_are_those_of_the_other_form(self) -> None:
        new = self.object()["workload"]["process"]
        old = json.loads(self.lines("tracee", event())[0])
        seconds, _, digits = new["thread"]["start_time"].rstrip("Z").partition(".")
        self.assertRegex(seconds, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
        whole = calendar.timegm(binding.time.strptime(seconds, "%Y-%m-%dT%H:%M:%S"))
        start = whole * NS + int(digits.ljust(9, "0"))
        # Both programs compare the clocks for themselves.
        self.assertLess(abs(start - old["threadStartTime"]), 60 * NS)
        self.assertEqual(new["thread"]["unique_id"], entity_id(14711, start))
        self.assertEqual(new["unique_id"], entity_id(14711, start - 10 * NS))
        self.assertEqual(new["ancestors"][0]["unique_id"], entity_id(1042, start - 20 * NS))

    def test_what_is_unknown_is_left_out(self) -> None:
        process = self.object(exe=b"", comm=b"", uid=2**32 - 1, thread_start_ns=0,
                              process_start_ns=0, parent_start_ns=0)["workload"]["process"]
        self.assertEqual(process, {
            "unique_id": 0, "host_pid": 14711, "pid": 7,
            "thread": {"unique_id": 0, "host_tid": 14711, "tid": 8, "syscall": "getrusage"}})

    def test_hostile_names_are_one_object_each_without_bytes_that_are_no_text(self) -> None:
        names = [name for name in HOSTILE if name]
        lines = self.lines("tracee-v1beta1", *(event(comm=name, exe=name) for name in names))
        self.assertEqual(len(lines), len(names))
        for name, line in zip(names, lines):
            process = json.loads(line)["workload"]["process"]
            text = name.decode(errors="ignore")
            self.assertEqual((process["executable"]["path"], process["thread"]["name"]),
                             (text, text))


class Summary(Fake):
    def summary(self, *events: bytes, words: List[str] = [], **more: Any) -> str:
        done = rtrack("trace", "-o", "/dev/null", *words, "true", env=self.env(*events, **more))
        self.assertEqual(done.returncode, 0)
        return done.stderr

    def test_calls_are_counted_by_process_and_argument(self) -> None:
        failed = {"result": -errno.EINVAL, "rusage_valid": 0}
        output = self.summary(
            *[event(pid=7, tid=7, comm=b"few")] * 2, *[event()] * 1200,
            *[event(who=CHILDREN)] * 3, *[event(who=9, **failed)] * 4,
            event(call=binding.TRACE_CALL_WAIT4, tid=4713, comm=b"thread"))
        self.assertEqual(output, """\
rtrack: traced 1,210 calls of 2 processes by bpf, 4 failed, 0 lost
         1,200  getrusage(RUSAGE_SELF)  by prog[4711]
             3  getrusage(RUSAGE_CHILDREN)
             4  getrusage(another argument), 4 failed
             1  wait4
             2  getrusage(RUSAGE_SELF)  by few[7]
""")

    def test_many_processes_are_cut(self) -> None:
        events = [event(pid=pid, tid=pid) for pid in range(1, 4001)]
        lines = self.summary(*events, *events[:12]).splitlines()
        self.assertEqual(len(lines), 12)
        self.assertIn("traced 4,012 calls of 4,000 processes", lines[0])
        self.assertEqual(lines[-1], "         3,992  by 3,990 more processes")
        self.assertTrue(lines[1].endswith(" 2  getrusage(RUSAGE_SELF)  by prog[1]"), lines[1])

    def test_lost_calls_are_reported_even_if_quiet(self) -> None:
        for words in ([], ["-q"]):
            lines = self.summary(event(), words=words, lost=1234567).splitlines()
            self.assertRegex(lines[0], "^rtrack: .*1,234,567.* lost: .* --ring-bytes may help$")
            self.assertEqual("traced 1 call of 1 process by bpf" in lines[0], not words)
            self.assertEqual(len([line for line in lines if "lost" in line]), 1)

    def test_no_calls_are_reported(self) -> None:
        self.assertEqual(self.summary(), "rtrack: traced 0 calls by bpf, 0 failed, 0 lost\n")

    def test_hostile_name_in_summary_is_printable(self) -> None:
        output = self.summary(event(comm=b"\x1b[2J\n"))
        self.assertIn("by ?[2J\\n[4711]\n", output)


class Ends(Fake):
    def test_exit_code_and_signal_of_command_are_kept(self) -> None:
        for code, expected in (("exit 7", 7), ("kill -9 $$", 128 + signal.SIGKILL)):
            done = rtrack("trace", "-q", "sh", "-c", code, env=self.env(event()))
            self.assertEqual(done.returncode, expected)
            self.assertIn("getrusage(RUSAGE_SELF)", done.stderr)

    def test_command_that_cannot_start_has_exit_code_of_env(self) -> None:
        self.assertEqual(rtrack("trace", "/nonexistent", env=self.env()).returncode, 127)
        self.assertEqual(rtrack("trace", "/etc/passwd", env=self.env()).returncode, 126)

    def test_command_that_cannot_start_is_named_once_as_by_run(self) -> None:
        script = self.dir / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        for program in ("no-such-program-anywhere", "./nonexistent", "/etc/passwd/x",
                        "/etc/passwd", "", str(script)):
            done = rtrack("trace", "--", program)
            self.assertEqual(done.stderr, rtrack("run", "--", program).stderr)
            self.assertRegex(done.stderr, f"^rtrack: cannot run '{program}': .*\n$")

    def test_script_that_names_no_shell_is_refused_with_a_hint(self) -> None:
        script = self.dir / "script"
        script.write_text("echo\n")
        script.chmod(0o755)
        done = rtrack("trace", "--", script)
        self.assertEqual((done.returncode, done.stderr),
                         (126, f"rtrack: cannot run '{script}': not an executable format; a script "
                               "needs a first line such as #!/bin/sh\n"))

    def test_trace_that_cannot_begin_says_why_and_returns_125(self) -> None:
        for number in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOPKG):
            for words, what in ((["true"], ""), (["--pid", "1"], " process 1"), (["--all"], "")):
                done = rtrack("trace", *words, env=self.env(error=number))
                self.assertEqual(done.returncode, 125)
                self.assertEqual(done.stderr, f"rtrack: cannot trace{what}: a fake reason\n")

    def test_calls_go_to_standard_error_of_command_and_else_to_output(self) -> None:
        done = rtrack("trace", "-q", "echo", "out", env=self.env(event()))
        self.assertEqual(done.stdout, "out\n")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        for words in (["--all"], ["--pid", str(os.getpid())]):
            done = rtrack("trace", "-q", *words, env=self.env(event()))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("getrusage(RUSAGE_SELF)", done.stdout)
            done = rtrack("trace", "-q", "-f", "jsonl", *words, env=self.env(event()))
            self.assertEqual(json.loads(done.stdout.splitlines()[0])["pid"], 4711)

    def test_signals_are_forwarded_to_command(self) -> None:
        process = self.start([RTRACK, "trace", "-q", "sleep", "60"], env=self.env(end=0),
                             stderr=subprocess.PIPE)
        wait_until(lambda: commands_of(process.pid))
        child = commands_of(process.pid)[0]
        process.send_signal(signal.SIGINT)  # which the terminal sends to the command
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 128 + signal.SIGTERM)
        self.assertFalse(is_alive(child))

    def test_signal_ends_trace_of_pid_with_summary(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            path = self.dir / "calls"
            path.write_text("")
            process = self.start([RTRACK, "trace", "--all", "-o", path], text=True,
                                 env=self.env(event(), end=0), stderr=subprocess.PIPE)
            wait_until(lambda: path.read_text().count("\n") == 1)
            process.send_signal(number)
            _, output = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 0)
            self.assertIn("traced 1 call of 1 process", output)

    def test_duration_ends_trace(self) -> None:
        done = rtrack("trace", "--all", "-d", "0.1", env=self.env(event(), end=0))
        self.assertEqual(done.returncode, 0)
        self.assertIn("traced 1 call", done.stderr)

    def test_end_of_command_ends_trace_though_calls_could_follow(self) -> None:
        done = rtrack("trace", "-q", "sh", "-c", "exit 4", env=self.env(event(), end=0))
        self.assertEqual(done.returncode, 4)

    def test_killed_helper_process_is_reported(self) -> None:
        done = rtrack("trace", "-q", "sh", "-c", "exit 4", env=self.env(end=errno.ECHILD))
        self.assertEqual((done.returncode, done.stderr),
                         (4, "rtrack: the trace ends here: its helper process was killed\n"))

    def test_helper_process_that_stayed_stopped_returns_125(self) -> None:
        done = rtrack("trace", "sleep", "1000", env=self.env(event(), end=errno.ETIMEDOUT))
        self.assertEqual(done.returncode, 125)
        self.assertIn("rtrack: the trace ends here: its helper process was stopped or frozen",
                      done.stderr)
        self.assertIn("traced 1 call of 1 process by bpf, 0 failed, 0 lost; interrupted",
                      done.stderr)

    def test_idle_trace_uses_no_cpu_time(self) -> None:
        pid = os.posix_spawn(RTRACK, [RTRACK, "trace", "-q", "sleep", "1"], self.env(end=0))
        _, status, used = os.wait4(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertLess(used.ru_utime + used.ru_stime, 0.5)


class Unwritable(Fake):
    def test_full_device_keeps_exit_code_of_command(self) -> None:
        for form in ("text", "jsonl", "tracee", "tracee-v1beta1"):
            done = rtrack("trace", "-q", "-f", form, "-o", "/dev/full", "sh", "-c",
                          "echo done; exit 3", env=self.env(event(), rounds=1000))
            self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("/dev/full", done.stderr)

    def test_full_device_ends_trace_of_others_with_1(self) -> None:
        for words in (["--all"], ["--pid", str(os.getpid())]):
            done = rtrack("trace", "-q", "-o", "/dev/full", *words, env=self.env(event(), end=0))
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_file_at_size_limit_has_whole_lines(self) -> None:
        import resource
        path = self.dir / "calls.jsonl"
        limits = (100_000, resource.RLIM_INFINITY)
        done = rtrack("trace", "-q", "-o", path, "sh", "-c", "exit 3",
                      env=self.env(event(), rounds=1000),
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
        rows = [row for row in read_jsonl(path) if row["type"] == "call"]
        self.assertEqual([row["sequence"] for row in rows], list(range(len(rows))))
        self.assertGreater(path.stat().st_size, 98_000)

    def test_closed_pipe_ends_trace_of_others(self) -> None:
        reader, writer = os.pipe()
        process = self.start([RTRACK, "trace", "-q", "--all"], stdout=writer, text=True,
                             stderr=subprocess.PIPE, env=self.env(event(), rounds=100_000_000))
        os.close(writer)
        os.read(reader, 1000)
        os.close(reader)
        _, output = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, output), (1, ""))

    def test_closed_pipe_lets_command_finish(self) -> None:
        mark = self.dir / "mark"
        reader, writer = os.pipe()
        process = self.start([RTRACK, "trace", "-q", "-o", f"/dev/fd/{writer}", "sh", "-c",
                              f"sleep 0.3; touch {mark}; exit 5"], pass_fds=[writer], text=True,
                             stderr=subprocess.PIPE, env=self.env(event(), rounds=100_000, end=0))
        os.close(writer)
        os.read(reader, 1000)
        os.close(reader)
        _, output = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, mark.exists()), (5, True), output)

    def test_unopenable_output_starts_nothing(self) -> None:
        mark = self.dir / "mark"
        done = rtrack("trace", "-o", self.dir / "no/file", "touch", mark, env=self.env())
        self.assertEqual((done.returncode, mark.exists()), (125, False))


class Options(Fake):
    def test_wrong_options_return_2_and_name_help(self) -> None:
        wrong = (
            [], ["--pid", "1", "true"], ["--all", "true"], ["--all", "--pid", "1"],
            ["--calls", "", "true"], ["--calls", "getrusage,", "true"],
            ["--calls", "gettid", "true"], ["--back-end", "dtrace", "true"],
            ["--back-end", "ptrace", "--all"], ["--back-end", "ptrace", "--pid", "1"],
            ["-f", "csv", "true"], ["--pid", "0"], ["--pid", "x"], ["--no-children", "--all"],
            ["-d", "1", "true"], ["-d", "0", "--all"], ["--ring-bytes", "0", "true"],
            ["--ring-bytes", "67108865", "true"], ["-f", "jsonl", "true"], ["-o", "", "true"])
        for words in wrong:
            done = rtrack("trace", *words, env=self.env(event()))
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("Try 'rtrack trace --help'.", done.stderr, words)

    def test_right_options_are_accepted(self) -> None:
        right = (["--calls", "getrusage,wait4,waitid"], ["--calls", "wait4"], ["--no-children"],
                 ["--back-end", "auto"], ["--back-end", "bpf"], ["--back-end", "ptrace"],
                 ["--ring-bytes", "67108864"], ["--live-children"], ["-f", "text"],
                 ["-f", "tracee", "-o", "-"], ["-f", "tracee-v1beta1", "-o", "-"])
        for words in right:
            done = rtrack("trace", *words, "--", "true", env=self.env(event()))
            self.assertEqual(done.returncode, 0, (words, done.stderr))

    def test_words_of_command_are_left_alone(self) -> None:
        done = rtrack("trace", "-q", "-o", "/dev/null", "echo", "-q", "--pid", "1",
                      env=self.env(event()))
        self.assertEqual(done.stdout, "-q --pid 1\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
