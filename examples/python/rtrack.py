# SPDX-License-Identifier: MIT
"""librtrack for Python, through ctypes: what a process tree or the whole system uses.

    >>> import rtrack
    >>> with rtrack.PidTracker() as tracker:
    ...     work()
    ...     used = tracker.diff()
    >>> used.cores_used, used.read_bytes

Field names, units and meanings are those of <rtrack/rtrack.h>. A figure that could not be read is
None, never 0; ``tracker.obstacle("footprint_bytes")`` returns the reason. The record classes are
built from the field tables of the library when this module is imported, so a later library just has
more fields. An earlier library has fewer fields and functions. A call that needs a function that
the library lacks raises OSError with ENOSYS.

Errors are OSError with the errno of the library. The module loads the library from the path in the
environment variable RTRACK_LIBRARY, or else librtrack.so.0.
"""
from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import errno
import operator
import os
import resource
import select
import signal as signals
import subprocess
import threading
import time
import weakref
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

# Written by tests/abi/update_fields.py.
QUALITY_UNKNOWN = 0
QUALITY_ESTIMATE = 1
QUALITY_LOWER_BOUND = 2
QUALITY_EXACT = 3

HAS_CPU = 1 << 0
HAS_RSS = 1 << 1
HAS_PSS = 1 << 2
HAS_PEAK_RSS = 1 << 3
HAS_IO = 1 << 4
HAS_FAULTS = 1 << 5
HAS_CTXSW = 1 << 6
HAS_PROCESSES = 1 << 7
HAS_THREADS = 1 << 8
HAS_PROCESSES_PEAK = 1 << 9
HAS_CGROUP_MEMORY = 1 << 10
HAS_CGROUP_IO = 1 << 11
HAS_CGROUP_TASKS = 1 << 12
HAS_PROCESSES_SEEN = 1 << 13
HAS_CGROUP_CPU = 1 << 14
HAS_CPU_MODES = 1 << 16
HAS_ACTIVITY = 1 << 17
HAS_MEMORY = 1 << 18
HAS_MEMORY_AVAILABLE = 1 << 19
HAS_SWAP = 1 << 20
HAS_DISK = 1 << 21
HAS_FILESYSTEM = 1 << 22
HAS_NETWORK = 1 << 23
HAS_LOAD = 1 << 24
HAS_PRESSURE_CPU = 1 << 25
HAS_PRESSURE_MEMORY = 1 << 26
HAS_PRESSURE_IO = 1 << 27
HAS_ZFS = 1 << 28
HAS_GPU = 1 << 29
HAS_GPU_MEMORY = 1 << 30
HAS_GPU_ENERGY = 1 << 31
HAS_PEAK_FOOTPRINT = 1 << 34
HAS_IO_CALLS = 1 << 35
HAS_CGROUP_CPU_TIME = 1 << 36
HAS_HUGEPAGES = 1 << 37
HAS_ZFS_ARC = 1 << 38
HAS_CGROUP_MEMORY_SLAB = 1 << 39
HAS_RATE = 1 << 40
HAS_CGROUP_MEMORY_PEAK = 1 << 41
HAS_CGROUP_MEMORY_KERNEL = 1 << 42
HAS_CGROUP_MEMORY_EVENTS = 1 << 43
HAS_CGROUP_OOM_KILLS = 1 << 44
HAS_CGROUP_SWAP = 1 << 45
HAS_CGROUP_TASKS_PEAK = 1 << 46
HAS_VIRTUAL = 1 << 47
HAS_USS = 1 << 48
HAS_IDS = 1 << 49
HAS_OPEN_FDS = 1 << 50
HAS_FOOTPRINT = 1 << 55
HAS_NEEDED = 1 << 56
HAS_TREE_SWAP = 1 << 57
HAS_PEAK_NEEDED = 1 << 58

RUSAGE_SELF = 0
RUSAGE_CHILDREN = -1
RUSAGE_THREAD = 1

TOP_CPU = 1
TOP_MEMORY = 2
TOP_IO = 3

TEXT_COMMAND_LINE = 1
TEXT_CWD = 2

OPT_NO_CHILDREN = 1 << 0
OPT_NETWORK_FILESYSTEMS = 1 << 1
OPT_PROCESS_EVENTS = 1 << 2
OPT_NO_PROCESS_EVENTS = 1 << 9
OPT_NO_MEMORY_READS = 1 << 3
OPT_PSS_READS = 1 << 6
OPT_SESSION = 1 << 7
OPT_IO_WITH_REAPED = 1 << 4
OPT_OWN_LIMITS = 1 << 5
OPT_LIST_PROCESSES = 1 << 8

KIND_PID = 1
KIND_SYSTEM = 2
KIND_CGROUP = 3

REASON_UNWAITED = 1 << 0
REASON_SIGCHLD_IGNORED = 1 << 1
REASON_UNREADABLE = 1 << 2
REASON_LEFT_RUNNING = 1 << 3
REASON_MEMBERS_SKIPPED = 1 << 4
REASON_ORPHANS_UNSEEN = 1 << 5
REASON_UNVERIFIED = 1 << 6
REASON_CLOCK_ABOVE = 1 << 7
REASON_EVENTS_LOST = 1 << 8
REASON_EVENTS_UNHEARD = 1 << 9
REASON_LEFT_CGROUP = 1 << 10
REASON_NO_SUPERVISOR = 1 << 11
REASON_CLOCK_TICKS = 1 << 12
REASON_ACCOUNT_RESET = 1 << 13
REASON_PAST_UNKNOWN = 1 << 14

PSS_READ = 1
PSS_CACHED = 2
PSS_ESTIMATED = 3

SOURCE_PROC = 1
SOURCE_BPF = 2
SOURCE_BPF_ACCOUNT = 3

OBSTACLE_RIGHTS = 1
OBSTACLE_KERNEL = 2
OBSTACLE_OPTIONS = 3
OBSTACLE_LIMIT = 4
OBSTACLE_GONE = 5
OBSTACLE_FORMAT = 6
OBSTACLE_SLOW = 7
OBSTACLE_ERROR = 8
OBSTACLE_UNSEEN = 9

ITEM_IN_TOTAL = 1 << 0
ITEM_PARTITION = 1 << 1
ITEM_VIRTUAL = 1 << 2
ITEM_STALLED = 1 << 3
ITEM_NETWORK = 1 << 4

GPU_NVML = 1
GPU_DRM = 2

ACCOUNTING_AUTO = 0
ACCOUNTING_POLL = 1
ACCOUNTING_WAIT = 2
ACCOUNTING_CGROUP = 3
ACCOUNTING_WAIT_PERF = 4
ACCOUNTING_BPF = 5

COMMAND_LIST_PROCESSES = 1 << 0
COMMAND_NEW_GROUP = 1 << 1
COMMAND_NEW_SESSION = 1 << 2
COMMAND_ONLY_FDS = 1 << 3
COMMAND_KILL_ON_FREE = 1 << 4
COMMAND_SUBREAPER_SELF = 1 << 5

PEAK_PSS = 1
PEAK_RSS = 2
PEAK_CGROUP = 3
PEAK_FOOTPRINT = 4

PROCESS_FINAL = 1 << 0
PROCESS_RUNNING = 1 << 1
PROCESS_NO_EXEC = 1 << 2
PROCESS_CUT = 1 << 3
PROCESS_OWN_IO = 1 << 4

TRACE_BACK_END_AUTO = 0
TRACE_BACK_END_BPF = 1
TRACE_BACK_END_PTRACE = 2

TRACE_CALL_GETRUSAGE = 1 << 0
TRACE_CALL_WAIT4 = 1 << 1
TRACE_CALL_WAITID = 1 << 2

TRACE_OPT_ALL = 1 << 0
TRACE_OPT_NO_CHILDREN = 1 << 1
TRACE_OPT_LIVE_CHILDREN = 1 << 2

TRACE_EVENT_32BIT = 1 << 0
TRACE_EVENT_UNREAD = 1 << 1
TRACE_EVENT_NO_ENTRY = 1 << 2
TRACE_EVENT_EXE_CUT = 1 << 3

RECORDER_KEEP_NEWEST = 1 << 0
RECORDER_PROCESSES = 1 << 1
# End of what is written.

# Seconds that wait() sleeps at most. A signal that arrives while the library does not sleep
# interrupts nothing, so its Python handler runs after the slice.
_WAIT_SLICE = 1.0

_STRUCT_RUSAGE, _STRUCT_METRICS, _STRUCT_OPTS, _STRUCT_COMMAND_OPTS = 1, 2, 12, 13
_TYPE_CHARS, _TYPE_RUSAGE = 6, 7

# The bit that covers each field of the rusage in a larger struct. The other fields have none.
_RUSAGE_HAS = {
    "ru_utime": HAS_CPU,
    "ru_stime": HAS_CPU,
    "ru_maxrss": HAS_PEAK_RSS,
    "ru_minflt": HAS_FAULTS,
    "ru_majflt": HAS_FAULTS,
    "ru_inblock": HAS_IO,
    "ru_oublock": HAS_IO,
    "ru_nvcsw": HAS_CTXSW,
    "ru_nivcsw": HAS_CTXSW,
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("RTRACK_LIBRARY")
    if path:
        return ctypes.CDLL(path)
    try:
        return ctypes.CDLL("librtrack.so.0")
    except OSError as error:
        found = ctypes.util.find_library("rtrack")
        if found != "librtrack.so.0" and found is not None:
            raise ImportError(f"this module needs librtrack.so.0, but found {found}") from None
        raise OSError(f"{error}: install librtrack, or set RTRACK_LIBRARY to the path of its "
                      "librtrack.so.0") from None


class _Field(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("offset", ctypes.c_uint32),
        ("length", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("role", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("has", ctypes.c_uint64),
        ("name", ctypes.c_char * 40),
        ("unit", ctypes.c_char * 16),
        ("text", ctypes.c_char * 104),
    ]


class _Constant(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("group", ctypes.c_uint32),
        ("value", ctypes.c_int64),
        ("name", ctypes.c_char * 48),
        ("text", ctypes.c_char * 144),
    ]


class _Obstacle(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("error", ctypes.c_int32),
        ("pid", ctypes.c_int32),
        ("has", ctypes.c_uint64),
        ("members", ctypes.c_uint64),
        ("members_ever", ctypes.c_uint64),
        ("file", ctypes.c_char * 64),
        ("text", ctypes.c_char * 256),
    ]


class _Opts(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("root", ctypes.c_char_p),
        ("want", ctypes.c_uint64),
        ("max_fds", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("pss_share", ctypes.c_uint32),
        ("pss_hold_us", ctypes.c_uint32),
        ("message_size", ctypes.c_uint32),
        ("reserved_2", ctypes.c_uint32),
        ("message", ctypes.c_char_p),
    ]


class _Fd(ctypes.Structure):
    _fields_ = [("target", ctypes.c_int32), ("source", ctypes.c_int32)]


class _CommandOpts(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("argv", ctypes.POINTER(ctypes.c_char_p)),
        ("envp", ctypes.POINTER(ctypes.c_char_p)),
        ("cwd", ctypes.c_char_p),
        ("tracker", ctypes.POINTER(_Opts)),
        ("accounting", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("fds", ctypes.POINTER(_Fd)),
        ("fd_count", ctypes.c_uint32),
        ("message_size", ctypes.c_uint32),
        ("message", ctypes.c_char_p),
        ("start_timeout_ns", ctypes.c_uint64),
    ]


class _TraceOpts(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("pid", ctypes.c_int32),
        ("calls", ctypes.c_uint32),
        ("back_end", ctypes.c_uint32),
        ("ring_bytes", ctypes.c_uint32),
        ("command", ctypes.POINTER(_CommandOpts)),
        ("message", ctypes.c_char_p),
        ("message_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class _RecorderOpts(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("interval_ns", ctypes.c_uint64),
        ("peak_poll_ns", ctypes.c_uint64),
        ("capacity", ctypes.c_uint32),
        ("rows", ctypes.c_uint32),
        ("wake_after", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


def _missing(name: str) -> Callable[..., Any]:
    """Return what stands in for a function that the loaded library lacks."""

    def refuse(*_: Any) -> Any:
        release = ".".join(map(str, version()))
        raise OSError(errno.ENOSYS, f"{name}() is not in the loaded librtrack, release {release}")

    return refuse


def _declare(lib: ctypes.CDLL) -> None:
    """Set argument types. Without them, ctypes would truncate pointers and sizes to int."""
    handle, out, size = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
    count = ctypes.POINTER(ctypes.c_size_t)
    u32, i32, u64, i64 = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64
    signatures: Dict[str, Tuple[Any, List[Any]]] = {
        "rt_version": (u32, []),
        "rt_domains": (u64, [u32]),
        "rt_default_domains": (u64, [u32]),
        "rt_strerror": (ctypes.c_char_p, [ctypes.c_int]),
        "rt_getrusage": (ctypes.c_int, [ctypes.c_int, out]),
        "rt_pid_getrusage": (ctypes.c_int, [i32, out, ctypes.POINTER(u32)]),
        "rt_is_partition": (ctypes.c_int, [ctypes.c_char_p]),
        "rt_pid_descendants": (ctypes.c_int, [i32, ctypes.POINTER(i32), count]),
        "rt_pid_read": (ctypes.c_int, [i32, u64, out, size]),
        "rt_pid_text": (ctypes.c_int, [i32, u32, ctypes.c_char_p, count]),
        "rt_pid_tracker_new": (ctypes.c_int, [ctypes.POINTER(handle), i32, ctypes.POINTER(_Opts)]),
        "rt_pids_tracker_new": (
            ctypes.c_int,
            [ctypes.POINTER(handle), ctypes.POINTER(i32), size, ctypes.POINTER(_Opts)],
        ),
        "rt_system_tracker_new": (ctypes.c_int, [ctypes.POINTER(handle), ctypes.POINTER(_Opts)]),
        "rt_cgroup_tracker_new": (
            ctypes.c_int, [ctypes.POINTER(handle), ctypes.c_char_p, ctypes.POINTER(_Opts)]
        ),
        "rt_tracker_free": (None, [handle]),
        "rt_sample": (ctypes.c_int, [handle, out, size]),
        "rt_tracker_glance": (ctypes.c_int, [handle]),
        "rt_tracker_read_memory": (ctypes.c_int, [handle]),
        "rt_tracker_status": (ctypes.c_int, [handle, u64]),
        "rt_tracker_obstacle": (ctypes.c_int, [handle, u64, ctypes.POINTER(_Obstacle), size]),
        "rt_diff": (ctypes.c_int, [out, out, out, size]),
        "rt_row_diff": (ctypes.c_int, [u32, out, out, out, size]),
        "rt_tracker_top": (ctypes.c_int, [handle, u32, out, size, count]),
        "rt_command_start": (ctypes.c_int, [ctypes.POINTER(handle), ctypes.POINTER(_CommandOpts)]),
        "rt_command_pid": (i32, [handle]),
        "rt_command_get_info": (ctypes.c_int, [handle, out, size]),
        "rt_command_fd": (ctypes.c_int, [handle]),
        "rt_command_interrupt": (ctypes.c_int, [handle]),
        "rt_tracker_fd": (ctypes.c_int, [handle]),
        "rt_command_tracker": (handle, [handle]),
        "rt_command_signal": (ctypes.c_int, [handle, ctypes.c_int]),
        "rt_command_kill": (ctypes.c_int, [handle]),
        "rt_command_wait": (ctypes.c_int, [handle, i64, out, size]),
        "rt_command_processes": (ctypes.c_int, [handle, out, size, count]),
        "rt_command_process_text": (ctypes.c_int, [handle, size, u32, ctypes.c_char_p, count]),
        "rt_command_free": (None, [handle]),
        "rt_trace_new": (ctypes.c_int, [ctypes.POINTER(handle), ctypes.POINTER(_TraceOpts)]),
        "rt_trace_fd": (ctypes.c_int, [handle]),
        "rt_trace_read": (ctypes.c_int, [handle, out, size, count]),
        "rt_trace_get_totals": (ctypes.c_int, [handle, out, size]),
        "rt_trace_command": (handle, [handle]),
        "rt_trace_free": (None, [handle]),
        "rt_tracker_mark": (ctypes.c_int, [handle, ctypes.c_char_p, ctypes.POINTER(u64)]),
        "rt_tracker_since": (ctypes.c_int, [handle, u64, out, size]),
        "rt_tracker_unmark": (ctypes.c_int, [handle, u64]),
        "rt_recorder_new": (
            ctypes.c_int, [ctypes.POINTER(handle), handle, ctypes.POINTER(_RecorderOpts)]
        ),
        "rt_recorder_fd": (ctypes.c_int, [handle]),
        "rt_recorder_read": (ctypes.c_int, [handle, out, size, count]),
        "rt_recorder_latest": (ctypes.c_int, [handle, out, size]),
        "rt_recorder_processes": (ctypes.c_int, [handle, u64, out, size, count]),
        "rt_recorder_get_totals": (ctypes.c_int, [handle, out, size]),
        "rt_recorder_stop": (ctypes.c_int, [handle]),
        "rt_recorder_free": (None, [handle]),
        "rt_constant_get": (ctypes.c_int, [u32, ctypes.POINTER(_Constant), size]),
        "rt_field_count": (u32, [u32]),
        "rt_field_struct_size": (u32, [u32]),
        "rt_field_get": (ctypes.c_int, [u32, u32, ctypes.POINTER(_Field), size]),
    }
    for name in ("processes", "cpus", "disks", "filesystems", "networks", "zpools", "gpus",
                 "gpu_processes"):
        signatures["rt_tracker_" + name] = (ctypes.c_int, [handle, out, size, count])
    for name, (result, arguments) in signatures.items():
        try:
            function = getattr(lib, name)
        except AttributeError:  # an earlier release
            setattr(lib, name, _missing(name))
        else:
            function.restype, function.argtypes = result, arguments


_lib = _load()
_declare(_lib)


def _error(err: int, filename: Optional[str] = None) -> OSError:
    return OSError(-err, _lib.rt_strerror(err).decode(), filename)


def _check(err: int, filename: Optional[str] = None) -> None:
    if err < 0:
        raise _error(err, filename)


def _int32(value: int) -> int:
    """Check the range: ctypes would truncate a larger number to 32 bits, which is another pid."""
    value = operator.index(value)
    if not -(1 << 31) <= value < 1 << 31:
        raise OverflowError("number does not fit into a C int")
    return value


def _table(struct_id: int) -> List[_Field]:
    fields = [_Field() for _ in range(_lib.rt_field_count(struct_id))]
    for index, field in enumerate(fields):
        _check(_lib.rt_field_get(struct_id, index, ctypes.byref(field), ctypes.sizeof(field)))
    return fields


def _layout(
    name: str, struct_id: int, rusage: Optional[Type[ctypes.Structure]] = None
) -> Type[ctypes.Structure]:
    """Return the ctypes class of a struct. Its size and offsets must be those of the library.

    A struct that the library does not know has no fields."""
    simple = {
        1: ctypes.c_uint32,
        2: ctypes.c_int32,
        3: ctypes.c_uint64,
        4: ctypes.c_int64,
        5: ctypes.c_double,
    }
    table = _table(struct_id)
    fields: List[Tuple[str, Any]] = []
    for field in table:
        if field.type == _TYPE_CHARS:
            kind: Any = ctypes.c_char * field.length
        elif field.type == _TYPE_RUSAGE:
            kind = rusage
        else:
            kind = simple[field.type]
        fields.append((field.name.decode(), kind))
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    for field in table:
        place = getattr(made, field.name.decode())
        if (place.offset, place.size) != (field.offset, field.length):
            raise ImportError(f"{name}.{field.name.decode()}: offset differs from librtrack")
    if ctypes.sizeof(made) != _lib.rt_field_struct_size(struct_id):
        raise ImportError(f"{name}: size differs from librtrack")
    return made


_Rusage = _layout("rt_rusage", _STRUCT_RUSAGE)
_RUSAGE_NAMES = [field.name.decode() for field in _table(_STRUCT_RUSAGE)]
if len(_RUSAGE_NAMES) != resource.struct_rusage.n_sequence_fields:
    raise ImportError("struct rt_rusage: its fields are not those of resource.struct_rusage")


def _struct_rusage(raw: Any, is_known: Callable[[int, str], bool]) -> resource.struct_rusage:
    return resource.struct_rusage(
        tuple(
            getattr(raw, name) if is_known(i, name) else None
            for i, name in enumerate(_RUSAGE_NAMES)
        )
    )


class Record:
    """The values of one C struct, by the names of its fields. Unknown values are None."""

    _raw_type: Type[ctypes.Structure]
    _struct_id: int
    _has: Mapping[str, int] = {}
    _masks: Mapping[str, Sequence[str]] = {}
    """The fields with one bit for each known figure of a rusage, by the field that has it."""
    units: Mapping[str, str] = {}
    """The UCUM unit of each field."""
    texts: Mapping[str, str] = {}
    """What each field is, in English: part of a sentence. Empty from a library before 0.3."""

    def __init__(self, raw: Optional[ctypes.Structure] = None) -> None:
        self._raw: Any = raw if raw is not None else self._raw_type()

    def __getattr__(self, name: str) -> Any:
        # Called only for names without a property. Its presence makes type checkers accept the
        # fields, which are added at run time.
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._has)

    def as_dict(self) -> Dict[str, Any]:
        """Return all fields by name."""
        return {name: getattr(self, name) for name in self._has}

    def _bits(self, name: str) -> int:
        return self._has["cpu_user_ns" if name == "cpu_seconds" else name]

    def is_complete(self, name: str) -> bool:
        """Return whether a field is exact: neither unknown nor a lower bound nor an estimate."""
        has = self._bits(name)
        return getattr(self._raw, "valid", has) & has == has

    def quality(self, name: str) -> str:
        """Return how sure a field is: "exact", "at least", "about" or "unknown"."""
        has = self._bits(name)
        if not self._is_known(has):
            return "unknown"
        if getattr(self._raw, "estimated", 0) & has:
            return "about"
        return "at least" if getattr(self._raw, "partial", 0) & has else "exact"

    def _is_known(self, has: int) -> bool:
        raw = self._raw
        doubtful = getattr(raw, "partial", 0) | getattr(raw, "estimated", 0)
        return (getattr(raw, "valid", has) | doubtful) & has == has

    def __repr__(self) -> str:
        values = self.as_dict().items()
        known = (f"{name}={value!r}" for name, value in values if value is not None)
        return f"{type(self).__name__}({', '.join(known)})"


def _property(field: _Field) -> property:
    name, has = field.name.decode(), field.has

    def get_number(self: Record) -> Any:
        return getattr(self._raw, name) if self._is_known(has) else None

    def get_text(self: Record) -> Optional[str]:
        return os.fsdecode(getattr(self._raw, name)) if self._is_known(has) else None

    def get_rusage(self: Record) -> Optional[resource.struct_rusage]:
        if name in self._masks:
            masks = [getattr(self._raw, mask) for mask in self._masks[name]]
            known = lambda i, _: any(mask >> i & 1 for mask in masks)  # noqa: E731
            return _struct_rusage(getattr(self._raw, name), known) if any(masks) else None
        return _struct_rusage(
            getattr(self._raw, name), lambda _, part: self._is_known(_RUSAGE_HAS.get(part, 0))
        )

    getters = {_TYPE_CHARS: get_text, _TYPE_RUSAGE: get_rusage}
    unit = field.unit.decode() or "none"
    return property(getters.get(field.type, get_number), doc=f"Unit: {unit}")


def _cpu_seconds(self: Record) -> Optional[float]:
    is_known = self._is_known(self._has["cpu_user_ns"])
    return (self._raw.cpu_user_ns + self._raw.cpu_system_ns) / 1e9 if is_known else None


_RecordType = TypeVar("_RecordType", bound=Type[Record])


def _record(struct_id: int) -> Callable[[_RecordType], _RecordType]:
    """Add the properties to a record class, from the library's field table of the struct."""

    def fill(cls: _RecordType) -> _RecordType:
        table = _table(struct_id)
        cls._raw_type = _layout(cls.__name__, struct_id, _Rusage)
        cls._struct_id = struct_id
        cls._has = {field.name.decode(): field.has for field in table}
        cls.units = {field.name.decode(): field.unit.decode() for field in table}
        cls.texts = {field.name.decode(): field.text.decode() for field in table}
        for field in table:
            setattr(cls, field.name.decode(), _property(field))
        if "cpu_user_ns" in cls._has:
            doc = "CPU time in user and kernel mode together, in seconds. quality() takes it, too."
            setattr(cls, "cpu_seconds", property(_cpu_seconds, doc=doc))
        return cls

    return fill


@_record(2)
class Metrics(Record):
    """struct rt_metrics: one sample."""


@_record(3)
class Delta(Record):
    """struct rt_delta: the difference of two samples."""


@_record(4)
class Outcome(Record):
    """struct rt_outcome: what a program and its descendants used, after it has ended."""


@_record(5)
class Process(Record):
    """struct rt_process: one member of a process tree."""


@_record(6)
class Cpu(Record):
    """struct rt_cpu: one CPU."""


@_record(7)
class Disk(Record):
    """struct rt_disk: one block device."""


@_record(8)
class Filesystem(Record):
    """struct rt_filesystem: one file system."""


@_record(9)
class Network(Record):
    """struct rt_network: one network interface."""


@_record(10)
class Zpool(Record):
    """struct rt_zpool: one ZFS pool."""


@_record(19)
class Gpu(Record):
    """struct rt_gpu: one GPU, or one partition of it."""


@_record(20)
class GpuProcess(Record):
    """struct rt_gpu_process: what one process uses of one GPU."""


@_record(11)
class CommandProcess(Record):
    """struct rt_command_process: one process of a command."""

    @property
    def is_final(self) -> bool:
        """The process was seen as a zombie or its reaper reported it, so its figures are final."""
        return bool(self.flags & PROCESS_FINAL)

    @property
    def is_running(self) -> bool:
        """The process was still running when the list was made."""
        return bool(self.flags & PROCESS_RUNNING)

    @property
    def has_executed(self) -> bool:
        """It is not known to have only forked. Otherwise its texts are those of its parent."""
        return not self.flags & PROCESS_NO_EXEC

    @property
    def is_cut(self) -> bool:
        """The command line is cut."""
        return bool(self.flags & PROCESS_CUT)

    @property
    def has_own_io(self) -> bool:
        """``own_read_bytes`` and ``own_write_bytes`` are known."""
        return bool(self.flags & PROCESS_OWN_IO)


@_record(17)
class TraceEvent(Record):
    """struct rt_trace_event: one traced call.

    ``rusage`` and ``live_children`` are None if the call has none. Bit i of
    ``live_children_partial`` is set if field i of ``live_children`` is a lower bound.
    """

    _masks = {
        "rusage": ["rusage_valid"],
        "live_children": ["live_children_valid", "live_children_partial"],
    }

    @property
    def is_32bit(self) -> bool:
        """It is a call of the 32-bit ABI."""
        return bool(self.flags & TRACE_EVENT_32BIT)

    @property
    def is_unread(self) -> bool:
        """The call has returned figures, but they could not be read."""
        return bool(self.flags & TRACE_EVENT_UNREAD)


@_record(21)
class CommandInfo(Record):
    """struct rt_command_info: what a command runs as."""


@_record(18)
class TraceTotals(Record):
    """struct rt_trace_totals: what a trace has done so far."""


@_record(23)
class RecorderTotals(Record):
    """struct rt_recorder_totals: what a recorder has done so far."""


@_record(24)
class Peaks(Record):
    """struct rt_peaks: the largest figures of a tree since a mark."""


class Ended(ProcessLookupError):
    """All followed processes have ended. ``metrics`` holds the last totals."""

    metrics: Metrics


class OutcomeLost(ChildProcessError):
    """The exit status of a command is lost: the supervisor was killed, or other code took it.

    ``outcome`` holds what was measured.
    """

    outcome: Outcome


class Obstacle(NamedTuple):
    """Why a domain of the last sample is not complete, and what would help."""

    kind: int
    """OBSTACLE_ value, or 0 if there is none."""
    errno: int
    """Error number, or 0 if the domain is complete."""
    pid: int
    """The process at which it was met first, or 0."""
    file: str
    """Below /proc, or below /proc/PID if there is a process."""
    members: int
    """Members of the tree that it was met at in the last sample."""
    members_ever: int
    """The same, of all samples so far."""
    text: str
    """An English sentence or two for people."""


def version() -> Tuple[int, int, int]:
    """Return the release of the loaded library."""
    number = _lib.rt_version()
    return number >> 16, number >> 8 & 0xFF, number & 0xFF


class Constant(NamedTuple):
    """One constant of the library's header."""

    value: int
    group: int
    text: str


def constants() -> Dict[str, Constant]:
    """Return the constants of the loaded library by their names in C, those of this module too.

    A later library may have bits that this module does not name.
    """
    found: Dict[str, Constant] = {}
    raw = _Constant()
    while _lib.rt_constant_get(len(found), ctypes.byref(raw), ctypes.sizeof(raw)) == 0:
        found[raw.name.decode()] = Constant(raw.value, raw.group, raw.text.decode())
    return found


def domains(kind: int) -> int:
    """Return the HAS_ bits of all that trackers of a KIND_ can measure."""
    return int(_lib.rt_domains(kind))


def default_domains(kind: int) -> int:
    """Return the HAS_ bits that a tracker measures if it is asked for none."""
    return int(_lib.rt_default_domains(kind))


def getrusage(who: int) -> resource.struct_rusage:
    """Work like resource.getrusage(), for RUSAGE_SELF, RUSAGE_CHILDREN or RUSAGE_THREAD.

    Raises ValueError for any other value.
    """
    who = _int32(who)
    if who not in (RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD):
        raise ValueError("invalid who parameter")
    raw = _Rusage()
    _check(_lib.rt_getrusage(who, ctypes.byref(raw)))
    return _struct_rusage(raw, lambda _i, _name: True)


def pid_getrusage(pid: Optional[int] = None) -> resource.struct_rusage:
    """Return these fields of any live process, by default the caller. Unknown fields are None."""
    raw, valid = _Rusage(), ctypes.c_uint32()
    pid = os.getpid() if pid is None else _int32(pid)
    _check(_lib.rt_pid_getrusage(pid, ctypes.byref(raw), ctypes.byref(valid)))
    return _struct_rusage(raw, lambda i, _: bool(valid.value >> i & 1))


def pid_read(pid: Optional[int] = None, want: int = 0) -> Process:
    """Return some figures of one process, by default the caller, without a tracker.

    ``want`` has the HAS_ bits of the figures; 0 is CPU time, RSS, page faults and threads. Only the
    files that they need are read, each once. Other figures are None.
    """
    out = Process()
    pid = os.getpid() if pid is None else _int32(pid)
    if not 0 <= operator.index(want) < 1 << 64:
        raise OverflowError("want does not fit into 64 bits")
    _check(_lib.rt_pid_read(pid, want, ctypes.byref(out._raw), ctypes.sizeof(out._raw)))
    return out


def _pid_text(pid: Optional[int], text: int) -> bytes:
    pid = os.getpid() if pid is None else _int32(pid)
    room = 4096
    while True:
        buffer, size = ctypes.create_string_buffer(room), ctypes.c_size_t(room)
        _check(_lib.rt_pid_text(pid, text, buffer, ctypes.byref(size)))
        if size.value <= room:
            return buffer.raw[: size.value]
        room = size.value


def pid_command_line(pid: Optional[int] = None) -> List[str]:
    """Return the arguments of a process, by default the caller. Empty for a zombie."""
    text = _pid_text(pid, TEXT_COMMAND_LINE)
    return [os.fsdecode(argument) for argument in text.split(b"\0")] if text else []


def pid_cwd(pid: Optional[int] = None) -> str:
    """Return the working directory of a process, by default the caller. Empty for a zombie."""
    return os.fsdecode(_pid_text(pid, TEXT_CWD))


def pid_descendants(pid: Optional[int] = None) -> List[int]:
    """Return the descendants of a process, by default the caller, parents before their children."""
    pid = os.getpid() if pid is None else _int32(pid)
    room = 64
    while True:
        pids, count = (ctypes.c_int32 * room)(), ctypes.c_size_t(room)
        _check(_lib.rt_pid_descendants(pid, pids, ctypes.byref(count)))
        if count.value <= room:
            return pids[: count.value]
        room = count.value + count.value // 4  # it may have grown by the next call


def is_partition(name: str) -> bool:
    """Return whether a block device is a partition of another one, by its kernel name.

    Raises OSError (ENODEV) if there is no such device.
    """
    result: int = _lib.rt_is_partition(os.fsencode(name))
    _check(result, name)
    return result > 0


def diff(before: Metrics, after: Metrics) -> Delta:
    """Return the difference from one sample of a tracker to a later one. It only calculates."""
    out = Delta()
    raw = out._raw
    first, second = ctypes.byref(before._raw), ctypes.byref(after._raw)
    _check(_lib.rt_diff(first, second, ctypes.byref(raw), ctypes.sizeof(raw)))
    return out


_Row = TypeVar("_Row", bound=Record)


def row_diff(before: _Row, after: _Row) -> _Row:
    """Return what one process, CPU, disk or other row of a list has done between two samples.

    Counters are subtracted; all else is that of the later row. Raises OSError (ESTALE) if the rows
    are of different items.
    """
    out = type(after)()
    raw, first, second = out._raw, ctypes.byref(before._raw), ctypes.byref(after._raw)
    _check(
        _lib.rt_row_diff(after._struct_id, first, second, ctypes.byref(raw), ctypes.sizeof(raw))
    )
    return out


_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def _options(
    flags: int,
    root: Optional[_Path],
    want: int,
    max_fds: int,
    pss_share: int = 0,
    pss_hold_us: int = 0,
) -> _Opts:
    return _Opts(
        size=ctypes.sizeof(_Opts),
        flags=flags,
        root=None if root is None else os.fsencode(root),
        want=want,
        max_fds=max_fds,
        pss_share=pss_share,
        pss_hold_us=pss_hold_us,
    )


def _receive_message(
    opts: Union[_Opts, _CommandOpts], struct_id: int
) -> ctypes.Array[ctypes.c_char]:
    """Return where the library puts the message about a failure.

    A library before 0.3 does not know the message, and would refuse options that have one.
    """
    message = ctypes.create_string_buffer(512)
    if _lib.rt_field_struct_size(struct_id) >= ctypes.sizeof(opts):
        opts.message = ctypes.cast(message, ctypes.c_char_p)
        opts.message_size = ctypes.sizeof(message)
    return message


def _make_tracker(call: Callable[..., int], opts: _Opts) -> int:
    """Call with room for a handle, and the options. A failure is an exception that says more."""
    handle = ctypes.c_void_p()
    message = _receive_message(opts, _STRUCT_OPTS)
    err = call(ctypes.byref(handle), ctypes.byref(opts))
    if err < 0 and message.value:
        raise OSError(-err, os.fsdecode(message.value))
    _check(err)
    return _made(handle)


def _start_ticks(directory: bytes) -> bytes:
    """Return the start time of a process, field 22 of its stat. The name may have any byte."""
    with open(os.path.join(directory, b"stat"), "rb") as stat:
        return stat.read().rpartition(b")")[2].split()[19]


def _own_pid(root: Optional[_Path]) -> int:
    """Return the pid of the caller below a root, where another pid namespace may number it.

    Raises ValueError if that root does not show the caller. E.g.: a copy of the files of another
    machine, which may have a process of the same number.
    """
    path = b"" if root is None else os.fsencode(root)
    if not path.strip(b"/"):
        return os.getpid()
    proc = os.path.join(path, b"proc")
    if not os.path.isdir(proc):
        return os.getpid()  # the library says what is wrong with that root
    try:
        pid = int(os.readlink(os.path.join(proc, b"self")))
        if _start_ticks(b"%b/%d" % (proc, pid)) == _start_ticks(b"/proc/self"):
            return pid
    except (OSError, ValueError, IndexError):
        pass
    raise ValueError(f"{os.fsdecode(proc)} does not show this process: give its pid there")


def _flags(
    children: bool, events: Optional[bool], memory_reads: bool, pss_reads: bool
) -> int:
    return (
        (0 if children else OPT_NO_CHILDREN)
        | {None: 0, True: OPT_PROCESS_EVENTS, False: OPT_NO_PROCESS_EVENTS}[events]
        | (0 if memory_reads else OPT_NO_MEMORY_READS)
        | (OPT_PSS_READS if pss_reads else 0)
    )


def _rows(call: Callable[..., int], kind: Type[_Row], *handle: int) -> List[_Row]:
    """Return all rows of one of the library's list functions."""
    count, row_size = ctypes.c_size_t(0), ctypes.sizeof(kind._raw_type)
    _check(call(*handle, None, row_size, ctypes.byref(count)))
    rows = (kind._raw_type * count.value)()
    if count.value:
        _check(call(*handle, rows, row_size, ctypes.byref(count)))
    return [kind(row) for row in rows]


def _made(handle: ctypes.c_void_p) -> int:
    assert handle.value
    return handle.value


# Commands with kill_on_free that are not closed, by the process that has started them.
_to_kill: Dict[int, int] = {}
_killing = threading.RLock()


def _free_killed(handle: int) -> None:
    """Free a command with kill_on_free, unless the end of the interpreter kills it just now."""
    with _killing:
        is_kept = _to_kill.pop(handle, None) is not None
    if is_kept:
        _lib.rt_command_free(handle)


@atexit.register
def _kill_commands() -> None:
    while True:
        with _killing:
            if not _to_kill:
                return
            handle, owner = _to_kill.popitem()
        if owner == os.getpid():
            _lib.rt_command_kill(handle)


def _finalize(owner: object, free: Callable[[int], Any], handle: int) -> Callable[[], Any]:
    """Free a handle with its owner, but not at the end of the interpreter.

    A daemon thread may then be in a call with it, and the kernel takes all back anyway.
    """
    finalizer = weakref.finalize(owner, free, handle)
    finalizer.atexit = False
    return finalizer


class Tracker:
    """The base of all trackers. A context manager, safe to share among threads."""

    _handle: Optional[int]
    _close: Callable[[], Any]
    _last: Metrics

    def __init__(self, handle: int, command: Optional[Command] = None) -> None:
        # A tracker must have one user at a time, and ctypes lets other threads run during a call.
        # The lock is reentrant because of signal handlers: Python may run one in this thread while
        # the thread holds the lock.
        self._lock = command._lock if command else threading.RLock()
        self._handle = handle
        self._command = command  # if not None, it owns the handle and must outlive this object
        if command:
            self._close = lambda: None
        else:
            self._close = _finalize(self, _lib.rt_tracker_free, handle)
        try:
            self._last = self.sample()
        except Ended as ended:
            if not command:
                raise
            self._last = ended.metrics

    def _live(self) -> int:
        if self._handle is None:
            raise ValueError("tracker is closed")
        return self._handle

    def sample(self) -> Metrics:
        """Take a sample. Raises Ended if all followed processes have ended."""
        out = Metrics()
        with self._lock:
            err = _lib.rt_sample(self._live(), ctypes.byref(out._raw), ctypes.sizeof(out._raw))
            error = _error(err) if err < 0 else None
            if isinstance(error, ProcessLookupError):
                ended = Ended(*error.args)
                ended.metrics = out
                raise ended
            if error:
                raise error
            self._last = out
            return out

    def diff(self) -> Delta:
        """Take a sample, and return the difference from the previous one.

        The constructor takes the first sample.
        """
        with self._lock:
            before = self._last
            return diff(before, self.sample())

    def read_memory(self) -> None:
        """Have the next sample read all that ``footprint_bytes`` and ``needed_bytes`` rest on.

        That sample takes 11 to 16 ms for each GiB that the members have. A system has no members.
        """
        with self._lock:
            _check(_lib.rt_tracker_read_memory(self._live()))

    def obstacle(self, field: str) -> Optional[OSError]:
        """Return why a field of the last sample is not complete, or None if it is."""
        has = Metrics._has[field]
        with self._lock:
            err = _lib.rt_tracker_status(self._live(), has) if has else 0
        return _error(err) if err < 0 else None

    def explain(self, has: int) -> Obstacle:
        """Return why a domain (a HAS_ bit) is not complete in the last sample, in detail."""
        raw = _Obstacle()
        with self._lock:
            _check(
                _lib.rt_tracker_obstacle(
                    self._live(), has, ctypes.byref(raw), ctypes.sizeof(raw)
                )
            )
        return Obstacle(
            raw.kind,
            -raw.error,
            raw.pid,
            os.fsdecode(raw.file),
            raw.members,
            raw.members_ever,
            raw.text.decode(),
        )

    def close(self) -> None:
        """Release all resources of the tracker. It may be called more than once."""
        with self._lock:
            self._handle = None
            self._close()

    def __enter__(self: _TrackerType) -> _TrackerType:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _list(self, call: Callable[..., int], kind: Type[_Row]) -> List[_Row]:
        with self._lock:
            return _rows(call, kind, self._live())

    def processes(self) -> List[Process]:
        """Return the members of a tree or cgroup in the last sample, the root first.

        Of a system, all processes, if it was made with ``processes``."""
        return self._list(_lib.rt_tracker_processes, Process)

    def top(self, count: int = 5, order: int = TOP_CPU) -> List[Process]:
        """Return the processes that used most between the last two samples, the largest first.

        ``order`` is TOP_CPU, TOP_MEMORY or TOP_IO. Rows are differences, as of row_diff(). Those
        that have ended meanwhile are among them."""
        rows, room = (Process._raw_type * count)(), ctypes.c_size_t(count)
        row_size = ctypes.sizeof(Process._raw_type)
        with self._lock:
            _check(_lib.rt_tracker_top(self._live(), order, rows, row_size, ctypes.byref(room)))
        return [Process(row) for row in rows[: room.value]]

    def gpus(self) -> List[Gpu]:
        """Return the GPUs; of a tree, those that its members have open. Needs HAS_GPU in ``want``.

        Partitions come after their device."""
        return self._list(_lib.rt_tracker_gpus, Gpu)

    def gpu_processes(self) -> List[GpuProcess]:
        """Return the processes that use GPUs: of a system those of NVIDIA, of a tree all.

        Needs HAS_GPU in ``want``."""
        return self._list(_lib.rt_tracker_gpu_processes, GpuProcess)


_TrackerType = TypeVar("_TrackerType", bound=Tracker)


class PidTracker(Tracker):
    """Follows a process, by default the caller, and all its descendants.

    ``pid`` may be a list of several, which are then one tree. With ``session`` it is any process of
    a session, or its number, and all processes of the session are followed.

    The tracker receives an event from the kernel for every fork and exit, if the caller is
    permitted to receive them. Then even very short-lived processes are counted, provided that
    sample() or glance() is called often enough. With ``events`` it insists, and has BPF programs
    account for the tree where it can; with ``events=False`` it receives none. With ``root``,
    ``pid`` is the number below it, and the caller is found by its proc/self; ValueError if it is
    not there.

    ``pss_share`` and ``pss_hold_us`` limit the cost of walking page tables, as in struct rt_opts.
    Without ``memory_reads`` none is walked: then the footprint is estimated where processes share
    memory. With ``pss_reads``, each sample reads PSS, as far as these limits allow.

    Without ``children``, ``io_with_reaped`` has the I/O of the process as the kernel counts it:
    with that of children that it waited for.
    """

    def __init__(
        self,
        pid: Union[int, Sequence[int], None] = None,
        *,
        children: bool = True,
        session: bool = False,
        events: Optional[bool] = None,
        io_with_reaped: bool = False,
        root: Optional[_Path] = None,
        want: int = 0,
        max_fds: int = 0,
        memory_reads: bool = True,
        pss_reads: bool = False,
        pss_share: int = 0,
        pss_hold_us: int = 0,
    ) -> None:
        flags = _flags(children, events, memory_reads, pss_reads)
        flags |= OPT_IO_WITH_REAPED if io_with_reaped else 0
        flags |= OPT_SESSION if session else 0
        opts = _options(flags, root, want, max_fds, pss_share, pss_hold_us)
        # Not a default argument, which would keep the pid of the importing process after a fork.
        if pid is None:
            pid = _own_pid(root)
        pids = [_int32(one) for one in (pid if isinstance(pid, Sequence) else [pid])]
        self.pid = pids[0] if pids else 0
        array = (ctypes.c_int32 * len(pids))(*pids)

        def make(handle: Any, known: Any) -> int:
            if len(pids) == 1:  # also an earlier release
                return _lib.rt_pid_tracker_new(handle, self.pid, known)  # type: ignore
            return _lib.rt_pids_tracker_new(handle, array, len(pids), known)  # type: ignore

        super().__init__(_make_tracker(make, opts))

    @classmethod
    def _borrow(cls, handle: int, command: Command) -> PidTracker:
        self = cls.__new__(cls)
        self.pid = command.pid
        Tracker.__init__(self, handle, command)
        return self

    def glance(self) -> None:
        """Peak poll: update memory peaks and process events between two samples.

        It costs less than a sample.
        """
        with self._lock:
            _check(_lib.rt_tracker_glance(self._live()))

    def mark(self, label: str = "") -> Mark:
        """Set a mark: it tells the peaks of the tree from here on. 64 can be set at a time."""
        return Mark(self, label)

    def fileno(self) -> int:
        """Return a descriptor for an event loop. It is readable if the root has ended.

        With ``events`` it is readable, too, when processes have forked or ended anywhere on the
        system. sample() and glance() clear it. The tracker of a command has none: its command has.
        """
        with self._lock:
            fd: int = _lib.rt_tracker_fd(self._live())
        _check(fd)
        return fd


class Mark:
    """A moment of a tree, from which its peaks are kept. A context manager:

    >>> with tracker.mark("load") as mark:
    ...     load()
    >>> mark.peaks().peak_footprint_bytes

    Samples and peak polls raise the peaks, and so does a Recorder, which takes them by itself.
    """

    def __init__(self, tracker: PidTracker, label: str) -> None:
        number = ctypes.c_uint64()
        with tracker._lock:
            _check(_lib.rt_tracker_mark(tracker._live(), label.encode(), ctypes.byref(number)))
        self._tracker = tracker
        self._id: Optional[int] = number.value
        self._last = Peaks()

    def peaks(self) -> Peaks:
        """Return the peaks from the mark until now, or until it was removed."""
        with self._tracker._lock:
            if self._id is None:
                return self._last
            out = Peaks()
            raw = out._raw
            handle = self._tracker._live()
            _check(_lib.rt_tracker_since(handle, self._id, ctypes.byref(raw), ctypes.sizeof(raw)))
            return out

    def remove(self) -> None:
        """Remove the mark. Its peaks so far stay. It may be called more than once."""
        with self._tracker._lock:
            self._last = self.peaks()
            if self._id is not None:
                _check(_lib.rt_tracker_unmark(self._tracker._live(), self._id))
            self._id = None

    def __enter__(self) -> Mark:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class CgroupTracker(Tracker):
    """Follows a cgroup, as a service or a container is one, by the kernel's own account.

    ``name`` is a path below the mounts ("/system.slice/cron.service"), the directory of the cgroup
    in one hierarchy ("/sys/fs/cgroup/memory/a"), or a line of /proc/PID/cgroup. ``memory_reads``
    and the rest are those of PidTracker.
    """

    def __init__(
        self,
        name: _Path,
        *,
        root: Optional[_Path] = None,
        want: int = 0,
        max_fds: int = 0,
        memory_reads: bool = True,
        pss_reads: bool = False,
        pss_share: int = 0,
        pss_hold_us: int = 0,
    ) -> None:
        flags = _flags(True, None, memory_reads, pss_reads)
        opts = _options(flags, root, want, max_fds, pss_share, pss_hold_us)
        self.name = os.fsencode(name)
        if b"\0" in self.name:
            raise ValueError("embedded null byte")
        super().__init__(
            _make_tracker(
                lambda handle, known: _lib.rt_cgroup_tracker_new(handle, self.name, known), opts
            )
        )


class SystemTracker(Tracker):
    """Follows the whole system. With ``processes``, its list of processes, too. E.g.:

    with SystemTracker(processes=True) as tracker:
        time.sleep(1)
        tracker.sample()
        for process in tracker.top():
            print(process.pid, process.comm, process.cpu_user_ns + process.cpu_system_ns)

    With ``own_limits``, the fields of cgroups have the figures of the caller's own cgroup, and the
    tightest limits that hold for it.
    """

    def __init__(
        self,
        *,
        root: Optional[_Path] = None,
        want: int = 0,
        max_fds: int = 0,
        network_filesystems: bool = False,
        own_limits: bool = False,
        processes: bool = False,
    ) -> None:
        flags = OPT_NETWORK_FILESYSTEMS if network_filesystems else 0
        flags |= OPT_OWN_LIMITS if own_limits else 0
        flags |= OPT_LIST_PROCESSES if processes else 0
        opts = _options(flags, root, want, max_fds)
        super().__init__(_make_tracker(_lib.rt_system_tracker_new, opts))

    def cpus(self) -> List[Cpu]:
        """Return the online CPUs, by number."""
        return self._list(_lib.rt_tracker_cpus, Cpu)

    def disks(self) -> List[Disk]:
        """Return the block devices. Partitions and virtual devices are included and marked."""
        return self._list(_lib.rt_tracker_disks, Disk)

    def filesystems(self) -> List[Filesystem]:
        """Return the file systems that have blocks (not proc and similar ones)."""
        return self._list(_lib.rt_tracker_filesystems, Filesystem)

    def networks(self) -> List[Network]:
        """Return the network interfaces. Loopback and virtual ones are included and marked."""
        return self._list(_lib.rt_tracker_networks, Network)

    def zpools(self) -> List[Zpool]:
        """Return the ZFS pools."""
        return self._list(_lib.rt_tracker_zpools, Zpool)


def _strings(items: Sequence[bytes]) -> Any:
    return (ctypes.c_char_p * (len(items) + 1))(*items, None)


class HasFileno(Protocol):
    """A file, a socket, or anything else with a descriptor."""

    def fileno(self) -> int:
        """Return the descriptor."""


def _source(source: Union[int, HasFileno, None]) -> int:
    if source is None:
        return -1
    if source == subprocess.DEVNULL:
        return -2
    return _int32(source if isinstance(source, int) else source.fileno())


def _command_options(
    argv: Sequence[_Path],
    *,
    env: Optional[Mapping[str, str]] = None,
    cwd: Optional[_Path] = None,
    accounting: int = ACCOUNTING_AUTO,
    children: bool = True,
    events: bool = False,
    list_processes: bool = False,
    fds: Optional[Mapping[int, Union[int, HasFileno, None]]] = None,
    only_fds: bool = False,
    new_group: bool = False,
    new_session: bool = False,
    kill_on_free: bool = False,
    want: int = 0,
    max_fds: int = 0,
    memory_reads: bool = True,
    pss_reads: bool = False,
    pss_share: int = 0,
    pss_hold_us: int = 0,
    start_timeout: float = 0,
) -> Tuple[_CommandOpts, Any]:
    """Return the options of a command, and the buffer for what is wrong with them."""
    if isinstance(argv, (str, bytes)):
        raise TypeError("argv is a sequence of arguments, not a string")
    words = [os.fsencode(word) for word in argv]
    pairs = None
    if env is not None:
        pairs = [os.fsencode(f"{key}={value}") for key, value in env.items()]
    tracker_flags = _flags(children, events, memory_reads, pss_reads)
    tracker = _options(tracker_flags, None, want, max_fds, pss_share, pss_hold_us)
    flags = (
        (COMMAND_LIST_PROCESSES if list_processes else 0)
        | (COMMAND_NEW_GROUP if new_group else 0)
        | (COMMAND_NEW_SESSION if new_session else 0)
        | (COMMAND_ONLY_FDS if only_fds else 0)
        | (COMMAND_KILL_ON_FREE if kill_on_free else 0)
    )
    entries = [_Fd(_int32(number), _source(source)) for number, source in (fds or {}).items()]
    opts = _CommandOpts(
        size=ctypes.sizeof(_CommandOpts),
        flags=flags,
        argv=_strings(words),
        envp=None if pairs is None else _strings(pairs),
        cwd=None if cwd is None else os.fsencode(cwd),
        tracker=ctypes.pointer(tracker),
        accounting=accounting,
        fds=(_Fd * len(entries))(*entries) if entries else None,
        fd_count=len(entries),
        start_timeout_ns=round(start_timeout * 1e9),
    )
    return opts, _receive_message(opts, _STRUCT_COMMAND_OPTS)


class Command:
    """Starts a program, and follows it and its descendants.

    ``list_processes`` makes the library record every process, for processes(). ``events`` has the
    same meaning as for PidTracker, and matters only with ACCOUNTING_POLL: the other accounting
    methods request events anyway.

    ``fds`` has the descriptors that the program gets besides those that it inherits, by their
    number in the program. The value is a number or a file of the caller, where it stays open, or
    None to close the descriptor, or subprocess.DEVNULL for /dev/null. With ``only_fds`` it inherits
    0, 1 and 2 alone. ``new_group`` and ``new_session`` make it the leader of a process group or
    session. With ``kill_on_free``, close() and the end of the interpreter end all that still runs;
    else it runs on. ``start_timeout`` is the time in seconds until the program is executed, at
    most; 0: no bound.

    ``memory_reads``, ``pss_reads`` and their limits are those of PidTracker.

    >>> with rtrack.Command(["make", "-j4"]) as command:
    ...     outcome = command.wait()
    """

    _close: Callable[[], Any]

    def __init__(
        self,
        argv: Sequence[_Path],
        *,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[_Path] = None,
        accounting: int = ACCOUNTING_AUTO,
        children: bool = True,
        events: bool = False,
        list_processes: bool = False,
        fds: Optional[Mapping[int, Union[int, HasFileno, None]]] = None,
        only_fds: bool = False,
        new_group: bool = False,
        new_session: bool = False,
        kill_on_free: bool = False,
        want: int = 0,
        max_fds: int = 0,
        memory_reads: bool = True,
        pss_reads: bool = False,
        pss_share: int = 0,
        pss_hold_us: int = 0,
        start_timeout: float = 0,
    ) -> None:
        opts, message = _command_options(
            argv,
            env=env,
            cwd=cwd,
            accounting=accounting,
            children=children,
            events=events,
            list_processes=list_processes,
            fds=fds,
            only_fds=only_fds,
            new_group=new_group,
            new_session=new_session,
            kill_on_free=kill_on_free,
            want=want,
            max_fds=max_fds,
            memory_reads=memory_reads,
            pss_reads=pss_reads,
            pss_share=pss_share,
            pss_hold_us=pss_hold_us,
            start_timeout=start_timeout,
        )
        handle = ctypes.c_void_p()
        err = _lib.rt_command_start(ctypes.byref(handle), ctypes.byref(opts))
        if err < 0 and message.value:
            name = os.fsdecode(argv[0]) if argv else None
            raise OSError(-err, os.fsdecode(message.value), name)
        _check(err)
        self._hold(_made(handle))
        if kill_on_free:
            with _killing:
                _to_kill[_made(handle)] = os.getpid()
        free = _free_killed if kill_on_free else _lib.rt_command_free
        self._close = _finalize(self, free, _made(handle))

    def _hold(self, handle: int) -> None:
        # The library has a lock of its own, so the first of these only keeps close() from freeing
        # what another thread uses. wait() holds the second one instead: nothing but close() and
        # another wait() has to wait for it. Both are reentrant, as that of a tracker is.
        self._lock = threading.RLock()
        self._waiting = threading.RLock()
        self._is_interrupted = False
        self._handle: Optional[int] = handle
        self.pid: int = _lib.rt_command_pid(self._handle)
        self._tracker = PidTracker._borrow(_lib.rt_command_tracker(self._handle), self)

    @classmethod
    def _borrow(cls, handle: int) -> Command:
        """Return the command of a trace, which frees it."""
        self = cls.__new__(cls)
        self._hold(handle)
        self._close = lambda: None
        return self

    def _live(self) -> int:
        if self._handle is None:
            raise ValueError("command is closed")
        return self._handle

    @property
    def tracker(self) -> PidTracker:
        """The tracker of the process tree. It is valid until the command is closed."""
        return self._tracker

    @property
    def accounting(self) -> int:
        """The accounting method that the command runs at: an ACCOUNTING_ value."""
        return int(self._info().accounting)

    @property
    def start_ns(self) -> int:
        """When the program was started, by time.monotonic_ns()."""
        return int(self._info().start_ns)

    def _info(self) -> CommandInfo:
        out = CommandInfo()
        with self._lock:
            size = ctypes.sizeof(out._raw)
            _check(_lib.rt_command_get_info(self._live(), ctypes.byref(out._raw), size))
        return out

    def signal(self, number: int) -> None:
        """Send a signal to the program. Raises ProcessLookupError if it has ended.

        It may be called while another thread is in wait().
        """
        with self._lock:
            _check(_lib.rt_command_signal(self._live(), _int32(number)))

    def kill(self) -> None:
        """Kill the program and its descendants, also those that it left running.

        It may be called while another thread is in wait(), which then returns.
        """
        with self._lock:
            _check(_lib.rt_command_kill(self._live()))

    def fileno(self) -> int:
        """Return a descriptor for an event loop. Call dispatch() whenever it is readable.

        It belongs to the command. So selectors and loop.add_reader() take the command itself.
        Raises OSError with EOPNOTSUPP before Linux 5.3.
        """
        with self._lock:
            fd: int = _lib.rt_command_fd(self._live())
        _check(fd)
        return fd

    def dispatch(self) -> bool:
        """Do what is due, without waiting. Return whether the program has ended.

        wait() then returns the outcome at once.
        """
        with self._lock:
            err = _lib.rt_command_wait(self._live(), 0, None, 0)
        if err not in (0, -errno.ETIMEDOUT, -errno.ECHILD):
            raise _error(err)
        return bool(err != -errno.ETIMEDOUT)

    def wait(self, timeout: Optional[float] = None) -> Outcome:
        """Wait for the program, and return what it used.

        Raises TimeoutError if it is still running after ``timeout`` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + max(timeout, 0)
        patience = -1 if timeout is None or timeout > threading.TIMEOUT_MAX else max(timeout, 0)
        if not self._waiting.acquire(timeout=patience):
            raise _error(-errno.ETIMEDOUT)
        try:
            return self._wait_until(deadline)
        finally:
            self._waiting.release()

    def _wait_until(self, deadline: Optional[float]) -> Outcome:
        while True:
            left = _WAIT_SLICE if deadline is None else deadline - time.monotonic()
            slice_ns = int(min(max(left, 0), _WAIT_SLICE) * 1e9)
            out = Outcome()
            size = ctypes.sizeof(out._raw)
            err = _lib.rt_command_wait(self._live(), slice_ns, ctypes.byref(out._raw), size)
            error = _error(err) if err < 0 else None
            if error is None:
                return out
            if isinstance(error, ChildProcessError):
                lost = OutcomeLost(*error.args)
                lost.outcome = out
                raise lost
            if isinstance(error, InterruptedError) and self._is_interrupted:
                self._is_interrupted = False
                raise InterruptedError(errno.EINTR, "interrupt() was called")
            # Signal handlers run by now. One raises an exception if the wait must end.
            is_in_time = deadline is None or time.monotonic() < deadline
            if not isinstance(error, InterruptedError) and not (
                isinstance(error, TimeoutError) and is_in_time
            ):
                raise error

    def interrupt(self) -> None:
        """End the wait() of another thread, or else the next one, by an InterruptedError.

        The program runs on, and may be waited for again.
        """
        with self._lock:
            handle = self._live()
            self._is_interrupted = True
            _check(_lib.rt_command_interrupt(handle))

    def processes(self) -> List[CommandProcess]:
        """Return all processes of the command, by start time.

        Call wait() first. Needs ``list_processes``.
        """
        try:
            with self._lock:
                return _rows(_lib.rt_command_processes, CommandProcess, self._live())
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            text = "the command was started without list_processes=True"
            raise OSError(error.errno, text) from None

    def process_text(self, row: int, text: int) -> bytes:
        """Return a text (``TEXT_``) of a process: b"" if it is not known.

        ``row`` is its place in the list of processes(). The arguments are separated by NUL.
        """
        length = ctypes.c_size_t(0)
        call = _lib.rt_command_process_text
        with self._lock:
            _check(call(self._live(), row, text, None, ctypes.byref(length)))
            buffer = ctypes.create_string_buffer(length.value + 1)
            _check(call(self._live(), row, text, buffer, ctypes.byref(length)))
        return buffer.raw[: length.value]

    def command_line(self, row: int) -> List[str]:
        """Return the arguments of a process, decoded by os.fsdecode(): [] if they are unknown."""
        text = self.process_text(row, TEXT_COMMAND_LINE)
        return [os.fsdecode(word) for word in text.split(b"\0")] if text else []

    def close(self) -> None:
        """Release the command. A program that is still running continues to run.

        With ``kill_on_free`` it is killed, with all that it has started.

        Waits for a wait() on another thread.
        """
        with self._waiting, self._lock:
            self._handle = None
            self._tracker._handle = None
            self._close()

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *exc: object) -> None:
        """Wait for the program, like subprocess.Popen. On an exception, kill the program first."""
        try:
            if exc[0] is not None:
                self.signal(signals.SIGKILL)
            self.wait()
        except (ProcessLookupError, ChildProcessError):
            pass
        finally:
            self.close()


class Trace:
    """Traces the calls of getrusage(2) that processes make: each with its figures.

    Either ``argv`` is a command to start, or ``pid`` is a process to trace with its descendants,
    or ``whole_system`` is true. ``calls`` has TRACE_CALL_ bits. Other keyword arguments are those
    of Command, such as ``env`` and ``fds``. Raises OSError with a sentence that says what would
    help if the calls cannot be traced.

    It is a context manager, and iterates over the calls until all traced processes have ended:

    >>> with rtrack.Trace(["python3", "-m", "timeit"]) as trace:
    ...     for event in trace:
    ...         print(event.comm, event.pid, event.result, event.rusage)
    """

    _ROOM = 64  # events that one call of the library returns

    def __init__(
        self,
        argv: Optional[Sequence[_Path]] = None,
        *,
        pid: Optional[int] = None,
        whole_system: bool = False,
        calls: int = TRACE_CALL_GETRUSAGE,
        back_end: int = TRACE_BACK_END_AUTO,
        children: bool = True,
        live_children: bool = False,
        ring_bytes: int = 0,
        **command: Any,
    ) -> None:
        message = ctypes.create_string_buffer(512)
        opts = _TraceOpts(
            size=ctypes.sizeof(_TraceOpts),
            flags=(TRACE_OPT_ALL if whole_system else 0)
            | (0 if children else TRACE_OPT_NO_CHILDREN)
            | (TRACE_OPT_LIVE_CHILDREN if live_children else 0),
            pid=0 if pid is None else _int32(pid),
            calls=calls,
            back_end=back_end,
            ring_bytes=ring_bytes,
            message=ctypes.cast(message, ctypes.c_char_p),
            message_size=ctypes.sizeof(message),
        )
        if argv is not None:
            opts.command = ctypes.pointer(_command_options(argv, **command)[0])
        elif command:
            raise TypeError("options of a command without a command")
        handle = ctypes.c_void_p()
        err = _lib.rt_trace_new(ctypes.byref(handle), ctypes.byref(opts))
        if err < 0 and message.value:
            raise OSError(-err, os.fsdecode(message.value))
        _check(err)
        self._lock = threading.RLock()  # as that of a tracker
        self._handle: Optional[int] = _made(handle)
        self._close = _finalize(self, _lib.rt_trace_free, _made(handle))
        started = _lib.rt_trace_command(self._handle)
        self._command = Command._borrow(started) if started else None

    def _live(self) -> int:
        if self._handle is None:
            raise ValueError("trace is closed")
        return self._handle

    @property
    def command(self) -> Optional[Command]:
        """The command that was started, or None. It is valid until the trace is closed."""
        return self._command

    def fileno(self) -> int:
        """Return a descriptor for an event loop: readable when read() has something to return."""
        with self._lock:
            fd: int = _lib.rt_trace_fd(self._live())
        _check(fd)
        return fd

    def read(self) -> List[TraceEvent]:
        """Return some of the calls that wait, oldest first. Does not wait: the list may be empty.

        Raises ProcessLookupError if all traced processes have ended and no call waits.
        """
        rows, count = (TraceEvent._raw_type * self._ROOM)(), ctypes.c_size_t(self._ROOM)
        row_size = ctypes.sizeof(TraceEvent._raw_type)
        with self._lock:
            _check(_lib.rt_trace_read(self._live(), rows, row_size, ctypes.byref(count)))
        return [TraceEvent(row) for row in rows[: count.value]]

    def events(self, timeout: Optional[float] = None) -> Iterator[TraceEvent]:
        """Iterate over the calls, and wait for each.

        Ends when all traced processes have ended, or when none has made a call for ``timeout``
        seconds.
        """
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                found = self.read()
            except ProcessLookupError:
                return
            yield from found
            if found:
                deadline = None if timeout is None else time.monotonic() + timeout
                continue
            left = _WAIT_SLICE if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return
            # A poll of a trace that another thread has closed meanwhile ends after a slice.
            poll.poll(min(left, _WAIT_SLICE) * 1000)

    def __iter__(self) -> Iterator[TraceEvent]:
        return self.events()

    def totals(self) -> TraceTotals:
        """Return what was traced so far: ``read``, ``lost`` and the back end in use."""
        out = TraceTotals()
        with self._lock:
            size = ctypes.sizeof(out._raw)
            _check(_lib.rt_trace_get_totals(self._live(), ctypes.byref(out._raw), size))
        return out

    def close(self) -> None:
        """End the trace. Processes that still run continue to run."""
        with self._lock:
            if self._command:
                self._command.close()
            self._handle = None
            self._close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: object) -> None:
        """End the trace. On an exception, kill its command first."""
        try:
            if exc[0] is not None and self._command:
                self._command.signal(signals.SIGKILL)
        except (ProcessLookupError, ValueError):
            pass
        finally:
            self.close()


class Samples(Sequence[Metrics]):
    """The samples of one Recorder.read(), in one piece of memory. Each item is a Metrics.

    A column needs no loop, whatever it is for: column() is a memoryview with a stride, and numpy
    takes all of them at once:

    >>> numpy.asarray(samples.column("footprint_bytes"))
    >>> numpy.frombuffer(samples.buffer, samples.dtype())["cpu_user_ns"]

    These are the numbers as they are: the columns "valid", "partial" and "estimated" have the HAS_
    bits of those that are known.
    """

    _codes = {1: "I", 2: "i", 3: "Q", 4: "q", 5: "d"}
    _fields = {field.name.decode(): field for field in _table(_STRUCT_METRICS)}

    def __init__(self, memory: bytearray, count: int) -> None:
        self._size = ctypes.sizeof(Metrics._raw_type)
        self._count = count
        self.buffer = memoryview(memory)[: count * self._size]
        """All samples as bytes, one after the other."""

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        start = range(self._count)[index] * self._size
        return Metrics(Metrics._raw_type.from_buffer(self.buffer, start))

    def column(self, name: str) -> memoryview:
        """Return one field of all samples: a memoryview of numbers."""
        field = self._fields[name]
        numbers = self.buffer.cast(self._codes[field.type])
        return numbers[field.offset // field.length :: self._size // field.length]

    @staticmethod
    def dtype() -> Dict[str, Any]:
        """Return what numpy.dtype() takes."""
        return _dtype(_STRUCT_METRICS)


def _dtype(struct_id: int) -> Dict[str, Any]:
    codes = {1: "u4", 2: "i4", 3: "u8", 4: "i8", 5: "f8", _TYPE_RUSAGE: None}
    table = _table(struct_id)
    return {
        "names": [field.name.decode() for field in table],
        "formats": [
            codes.get(field.type, f"S{field.length}") or _dtype(_STRUCT_RUSAGE) for field in table
        ],
        "offsets": [field.offset for field in table],
        "itemsize": _lib.rt_field_struct_size(struct_id),
    }


class Recorder:
    """Samples a tracker at a fixed rate, by a thread of the library, which needs no GIL.

    ``interval`` and ``peak_poll`` are in seconds; without ``peak_poll``, peaks are polled for as
    often as it costs little, and with infinity never. ``rows`` processes of each sample are kept,
    those with the most CPU time; 0 keeps none. A full ring of ``capacity`` samples drops the new
    ones, or with ``keep_newest`` the oldest. A context manager:

    >>> with rtrack.Recorder(tracker, interval=0.001) as recorder:
    ...     work()
    ...     recorder.stop()
    ...     samples = recorder.read()

    The tracker then belongs to the recorder, and is closed with it: its sample() is refused, all
    else of it works. That of a command is borrowed.
    """

    def __init__(
        self,
        tracker: Tracker,
        *,
        interval: float = 1.0,
        peak_poll: Optional[float] = None,
        capacity: int = 0,
        keep_newest: bool = False,
        rows: int = 0,
        wake_after: int = 0,
    ) -> None:
        opts = _RecorderOpts(
            size=ctypes.sizeof(_RecorderOpts),
            flags=(RECORDER_KEEP_NEWEST if keep_newest else 0)
            | (RECORDER_PROCESSES if rows else 0),
            interval_ns=_ns(interval),
            peak_poll_ns=0 if peak_poll is None else _ns(peak_poll),
            capacity=capacity,
            rows=rows,
            wake_after=wake_after,
        )
        handle = ctypes.c_void_p()
        with tracker._lock:
            _check(
                _lib.rt_recorder_new(ctypes.byref(handle), tracker._live(), ctypes.byref(opts))
            )
            self._handle: Optional[int] = _made(handle)
            self._free = _finalize(self, _lib.rt_recorder_free, _made(handle))
            self._tracker = tracker
            if tracker._command is None:
                # It is freed with the recorder, which it must not outlive.
                tracker._close.detach()  # type: ignore[attr-defined]
                tracker._close = self.close

    def _live(self) -> int:
        if self._handle is None:
            raise ValueError("recorder is closed")
        return self._handle

    def fileno(self) -> int:
        """Return a descriptor for an event loop: readable when read() has something to return."""
        fd: int = _lib.rt_recorder_fd(self._live())
        _check(fd)
        return fd

    def read(self) -> Samples:
        """Take the samples that wait, oldest first. Does not wait: there may be none.

        Raises ProcessLookupError if none waits and there will be no more: all followed processes
        have ended, or the recorder was stopped.
        """
        with self._tracker._lock:
            count = ctypes.c_size_t(max(self.totals().waiting, 1))
            size = ctypes.sizeof(Metrics._raw_type)
            memory = bytearray(count.value * size)
            room = (ctypes.c_char * len(memory)).from_buffer(memory)
            _check(_lib.rt_recorder_read(self._live(), room, size, ctypes.byref(count)))
        return Samples(memory, count.value)

    def latest(self) -> Metrics:
        """Return the newest sample, which stays in the ring."""
        out = Metrics()
        size = ctypes.sizeof(out._raw)
        with self._tracker._lock:
            _check(_lib.rt_recorder_latest(self._live(), ctypes.byref(out._raw), size))
        return out

    def processes(self, sample: Metrics) -> List[Process]:
        """Return the ``rows`` processes that had the most CPU time in a sample."""
        with self._tracker._lock:
            return _rows(_lib.rt_recorder_processes, Process, self._live(), sample.monotonic_ns)

    def totals(self) -> RecorderTotals:
        """Return what was recorded so far: ``taken``, ``dropped``, ``missed`` and ``waiting``."""
        out = RecorderTotals()
        size = ctypes.sizeof(out._raw)
        with self._tracker._lock:
            _check(_lib.rt_recorder_get_totals(self._live(), ctypes.byref(out._raw), size))
        return out

    def stop(self) -> None:
        """Take a last sample, and end the thread. What waits can still be read."""
        with self._tracker._lock:
            _check(_lib.rt_recorder_stop(self._live()))

    def close(self) -> None:
        """Stop, and close the tracker, too, unless it is a command's."""
        with self._tracker._lock:
            self._handle = None
            if self._tracker._command is None:
                self._tracker._handle = None
            self._free()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _ns(seconds: float) -> int:
    """Convert a time. One that does not fit is endless."""
    if not seconds >= 0:
        raise ValueError(f"not a time: {seconds}")
    return int(min(seconds * 1e9, (1 << 64) - 1025))
