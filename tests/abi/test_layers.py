# SPDX-License-Identifier: MIT
"""Which object of the static core may call what: the layers of the library, read off its undefined names."""
import re
import sys
import unittest
from typing import Dict, List, Pattern

from harness import need, run

CORE = sys.argv.pop(1)  # the archive of the static core

# Pure functions on memory, and what compilers call on their own.
ANYWHERE = set(
    "bcmp memchr memcmp memcpy memmove memrchr memset strchr strcmp strcpy strcspn strlen strncat strncmp strnlen "
    "strrchr strspn strstr bsearch qsort stack_chk_fail GLOBAL_OFFSET_TABLE_ tls_get_addr".split()
)
OUTSIDE_PARSERS = set("malloc calloc realloc reallocarray free strdup strndup errno_location".split())
NOWHERE = re.compile(r"\w*printf|\w*scanf|strto\w+|ato\w+|setlocale|getenv|setenv|_?exit|abort|system|popen")

# What only these objects may use besides.
ALLOWED: Dict[str, Pattern[str]] = {
    "os/procfs.c": re.compile(
        r"openat|open|close|pread|read|poll|getdents|readlinkat|faccessat|statvfs|fstatvfs|fstatat|stat|gnu_dev_m\w+|lseek|syscall"
    ),
    "os/platform.c": re.compile(r"clock_gettime|sysconf|getrlimit|getpid"),
    # Makes and removes directories that are cgroups, and asks whether their makers live.
    "os/cgroup.c": re.compile(r"mkdir|rmdir|kill|open|write|close"),
    "os/worker.c": re.compile(r"pthread_\w+|sigfillset"),
    # Starts programs and reads the output of one through a pipe.
    "os/spawn.c": re.compile(r"posix_spawn\w*|sig\w+|environ|pipe2|fcntl|poll|read|close|kill|waitpid|waitid"),
    # Starts a program, and stands upon the tracker's public calls.
    "command/command.c": re.compile(
        r"nanosleep|waitpid|rt_pid_tracker_new|rt_sample|rt_tracker_free"
    ),
    # Waits for its end, by a pidfd where there are any.
    "command/wait.c": re.compile(r"nanosleep|kill|waitid|rt_tracker_glance"),
    "command/outcome.c": re.compile(r"wait4|rt_sample"),
    "os/pidfd.c": re.compile(r"syscall|kill|ppoll|close"),
    # Members lie in whole cache lines.
    "tree/member_table.c": re.compile(r"posix_memalign"),
    # Talks with the supervisor through a socket and shared memory.
    "command/supervisor_client.c": re.compile(r"socketpair|send|recv|p?poll|nanosleep|close|waitpid|kill|syscall|memfd_create|getrlimit|fallocate|m(un)?map"),
    # The kernel's process events come through a socket.
    "os/proc_connector.c": re.compile(r"socket|bind|getsockname|[gs]etsockopt|send|recvm?msg|recvmmsg|recv|close"),
    # Finds what lies beside the library.
    "os/origin.c": re.compile(r"dladdr|getauxval"),
    # Opens its plug-in.
    "bpf/loader.c": re.compile(r"dlopen|dlsym|dlclose|getauxval"),
    "api/rusage.c": re.compile(r"getrusage"),
}


def plain(symbol: str) -> str:
    """The name as sources have it: without the C library's variants for checks, large files and standards."""
    name = symbol.lstrip("_")
    name = re.sub(r"^isoc\d+_", "", name)
    name = re.sub(r"_chk$", "", name) if name != "stack_chk_fail" else name
    return re.sub(r"64(_time64)?$", "", name)


def symbols(*flags: str) -> Dict[str, List[str]]:
    """Names of every object, by its source path below lib/ ("parse/scan.c")."""
    found: Dict[str, List[str]] = {}
    for line in run(["nm", "-A", *flags, CORE]).splitlines():
        place, *_, name = line.split()
        member = re.search(r"(\w+\.c)\.o:", place)
        assert member, line
        found.setdefault(member[1].replace("_", "/", 1), []).append(name)
    return found


class Layers(unittest.TestCase):
    def test_every_object_calls_only_what_its_layer_may(self) -> None:
        found = symbols("-u")
        self.assertGreater(len(found), 30, "these are not the objects of the core")
        for source, names in found.items():
            allowed = ANYWHERE if source.startswith("parse/") else ANYWHERE | OUTSIDE_PARSERS
            own = ALLOWED.get(source, re.compile("(?!)"))
            for name in map(plain, names):
                with self.subTest(object=source, name=name):
                    self.assertTrue(name.startswith("rti_") or name in allowed or own.fullmatch(name), "not its layer")
                    self.assertIsNone(NOWHERE.fullmatch(name))

    def test_parsers_use_only_parsers(self) -> None:
        defined = symbols("-g", "--defined-only")
        parsers = {name for source, names in defined.items() if source.startswith("parse/") for name in names}
        for source, names in symbols("-u").items():
            if source.startswith("parse/"):
                self.assertEqual({n for n in names if n.startswith("rt")} - parsers, set(), source)

    def test_external_names_are_ours(self) -> None:
        for source, names in symbols("-g", "--defined-only").items():
            for name in names:
                with self.subTest(object=source, name=name):
                    self.assertRegex(name, r"^rti?_\w+$")


if __name__ == "__main__":
    need("nm")
    unittest.main(verbosity=2)
