# SPDX-License-Identifier: MIT
"""Check the layers of the library: each object of the static core may call only certain functions,
and no two call each other.

The calls of an object are its undefined symbols."""
import re
import sys
import unittest
from typing import Dict, List, Pattern, Tuple

from circles import Graph, circles
from harness import SOURCE, need, run

CORE = sys.argv.pop(1)  # the archive of the static core

# By the name that the build gives their objects. E.g.: "parse_pid_stat.c" is of "parse/pid_stat.c".
SOURCES: Dict[str, List[str]] = {}
for file in (SOURCE / "lib").rglob("*.c"):
    path = file.relative_to(SOURCE / "lib").as_posix()
    SOURCES.setdefault(path.replace("/", "_"), []).append(path)

# Pure functions on memory, and functions to which the compiler emits calls by itself.
ANYWHERE = set(
    "bcmp memchr memcmp memcpy memmove memrchr memset strchr strcmp strcpy strcspn strlen strncat "
    "strncmp strnlen strrchr strspn strstr memmem bsearch qsort stack_chk_fail "
    "GLOBAL_OFFSET_TABLE_ tls_get_addr".split())
OUTSIDE_PARSERS = set(
    "malloc calloc realloc reallocarray free strdup strndup errno_location".split())
NOWHERE = re.compile(
    r"\w*printf|\w*scanf|strto\w+|ato\w+|setlocale|getenv|setenv|_?exit|abort|system|popen")

# Functions that only these objects may call in addition.
ALLOWED: Dict[str, Pattern[str]] = {
    "os/procfs_linux.c": re.compile(
        r"openat|open|close|pread|read|poll|getdents|readlinkat|faccessat|statvfs|fstatvfs|fstatat|"
        r"fstat|fstatfs|stat|gnu_dev_m\w+|lseek|syscall"
    ),
    "os/platform.c": re.compile(r"clock_get(time|res)|sysconf|getrlimit|getpid|getrusage|syscall"
        r"|uname"),
    # Makes and removes cgroup directories. Checks with kill() whether their creators still exist.
    "os/cgroup/cgroup.c": re.compile(r"mkdir|rmdir|kill|open|write|close|nanosleep"),
    # Copies descriptors for a program, and says what its start does with them.
    "os/process/fd_map.c": re.compile(
        r"posix_spawn_file_actions_\w+|fcntl|close|open|dup2|sysconf|syscall"),
    "os/thread/lock.c": re.compile(r"pthread_mutex\w+"),
    # Opens the libraries of drivers.
    "os/library.c": re.compile(r"dlsym|dlclose|getauxval|open|close|mmap|munmap"),
    "os/thread/interrupt.c": re.compile(r"eventfd|eventfd_read|eventfd_write|close"),
    "os/open_in_root.c": re.compile(r"openat|readlinkat|syscall|close"),
    "os/wakeup.c": re.compile(r"epoll_\w+|timerfd_\w+|getpid|close"),
    "os/thread/thread.c": re.compile(r"pthread_\w+|sigfillset"),
    "os/thread/worker.c": re.compile(r"pthread_(mutex|cond|condattr)_\w+|pthread_(join|detach)"),
    # Starts programs, and reads the output of a program through a pipe.
    "os/process/spawn.c": re.compile(
        r"posix_spawn\w*|sig\w+|environ|pipe2|fcntl|poll|read|close|kill|waitpid|waitid|nanosleep"
        r"|syscall|open|dup2|pthread_sigmask|chdir|set(sid|pgid)|execve|exit|m(un)?map"
    ),
    # Starts a program, and uses the public calls of the tracker.
    "command/command.c": re.compile(
        r"nanosleep|rt_pid_tracker_new|rt_tracker_free|rt_command_wait"
    ),
    # Waits for its end, by pidfd if the kernel has it.
    "command/wait.c": re.compile(r"nanosleep|kill|waitid"),
    # Waits for the end of a program that has lost its supervisor.
    "command/lost_program.c": re.compile(r"nanosleep|waitpid"),
    "os/capability.c": re.compile(r"syscall"),
    "os/process/pidfd.c": re.compile(r"syscall|kill|ppoll|waitid|close"),
    # Members lie in whole cache lines.
    "tree/scan/kernel_account.c": re.compile(r"nanosleep"),
    "tree/member/member_table.c": re.compile(r"posix_memalign"),
    # Reaps the program, and takes the final sample.
    "command/outcome.c": re.compile(r"getrusage|wait4"),
    # Uses the public calls of its tracker.
    "recorder/recorder.c": re.compile(r"getpid|rt_tracker_(processes|free)"),
    "api/peak_poll.c": re.compile(r"rt_tracker_glance"),
    # Name an error.
    "api/obstacle_text.c": re.compile(r"rt_strerror"),
    "api/opts_error.c": re.compile(r"rt_strerror"),
    # Compares the rows of two samples.
    "api/top.c": re.compile(r"rt_row_diff"),
    # Looks at what a failed start was about.
    "command/start_error.c": re.compile(r"faccessat|fcntl|rt_strerror"),
    # Talks to the supervisor through a socket and shared memory.
    "command/supervisor_client.c": re.compile(
        r"socketpair|send|recv|shutdown|p?poll|nanosleep|close|waitpid|kill|m(un)?map|sigfillset"
        r"|fstat"
    ),
    # Does what a supervisor does, in the caller.
    "command/own_supervisor.c": re.compile(
        r"p?poll|waitid|sig\w+|pthread_sigmask|getpid|getrusage|prctl|m(un)?map"),
    # Talks to the tracer likewise, and starts the program by the public call.
    "trace/tracer_client.c": re.compile(r"socketpair|recv|eventfd|close|munmap"),
    "trace/ptrace.c": re.compile(r"close|rt_command_(start|wait|kill|free)"),
    "trace/ptrace_error.c": re.compile(r"rt_strerror"),
    # Receives the kernel's process events through a socket.
    "os/proc_connector.c": re.compile(
        r"socket|bind|getsockname|[gs]etsockopt|send|recvm?msg|recvmmsg|recv|close"),
    # Lists network interfaces, and learns of changes, likewise.
    "os/links.c": re.compile(r"socket|bind|send|recv(from)?|close"),
    "os/taskstats.c": re.compile(
        r"socket|bind|setsockopt|send|recvfrom|recvmmsg|poll|close"),
    # Executes a program in a child.
    "os/process/path_exec.c": re.compile(r"getenv|environ|syscall|strchrnul"),
    # Looks at a helper while it waits for it, and at the signals of the caller.
    "os/process/helper_wait.c": re.compile(r"ppoll|nanosleep|sig\w+"),
    "os/process/reap_later.c": re.compile(r"pthread_(mutex_\w+|once|atfork)"),
    "os/protocol/shared_memory.c": re.compile(r"syscall|getrlimit|fallocate|mmap|fcntl"),
    "os/process/standard_fds.c": re.compile(r"open|close"),
    # Looks for the program of a process.
    "os/process/program_file.c": re.compile(r"readlink|stat|gnu_dev_(major|minor)"),
    # The public calls of a trace. It frees the command that it has started.
    "trace/trace.c": re.compile(r"getpid|rt_command_free"),
    "trace/ring_size.c": re.compile(r"rt_(cgroup_tracker_new|sample|tracker_free)"),
    "trace/error.c": re.compile(r"rt_strerror"),
    # Starts programs, reaps them and counts them: in the supervisor, and in a caller that is its
    # own.
    "supervisor/account_receiver.c": re.compile(r"close"),
    "supervisor/cgroup_cleanup.c": re.compile(
        r"fork|exit|rmdir|nftw|access|sig\w+|syscall|sysconf|close|chdir|nanosleep"),
    "supervisor/cgroup_watch.c": re.compile(r"getpid|stat"),
    "supervisor/launch.c": re.compile(
        r"syscall|mmap|munmap|open|close|write|chdir|set(sid|pgid)|sig\w+|environ|exit"
        r"|waitpid"),
    "supervisor/leader_exit.c": re.compile(r"kill|open|close|syscall"),
    "supervisor/proc_file.c": re.compile(r"open|read|close"),
    "supervisor/process_log.c": re.compile(r"poll"),
    "supervisor/process_text.c": re.compile(r"fallocate|readlink"),
    "supervisor/reaped_io.c": re.compile(r"getpid"),
    "supervisor/record_list.c": re.compile(r"fallocate"),
    "supervisor/supervisor.c": re.compile(r"getrusage|getpid|wait4|waitid"),
    "supervisor/table.c": re.compile(r"mmap|munmap"),
    # Finds files relative to the library.
    "os/origin.c": re.compile(
        r"dladdr|getauxval|open|close|f?stat|fstatat|readlink|gete[ug]id|strnlen"),
    "os/process/helper.c": re.compile(r"open|write|fcntl|close"),
    # Opens the BPF plug-in.
    "bpf/module.c": re.compile(r"dlsym|dlclose|getauxval|close"),
    # Starts the command that is traced.
    "trace/bpf.c": re.compile(r"rt_command_start"),
    "api/rusage.c": re.compile(r"getrusage"),
}


def plain(symbol: str) -> str:
    """Map a symbol to the function name in the source.

    Strips the C library's variants for fortification, large files and standards.
    E.g.: __read_chk and read are both "read"."""
    name = symbol.lstrip("_")
    name = re.sub(r"^isoc\d+_", "", name)
    name = re.sub(r"_chk$", "", name) if name != "stack_chk_fail" else name
    return re.sub(r"64(_time64)?$", "", name)


def symbols(*flags: str) -> Dict[str, List[str]]:
    """Return the symbols of each object, by source path below lib/. E.g.: "parse/scan.c"."""
    found: Dict[str, List[str]] = {}
    for line in run(["nm", "-A", *flags, CORE]).splitlines():
        place, *_, name = line.split()
        member = re.search(r"(\w+\.c)\.o:", place)
        assert member, line
        (source,) = SOURCES[member[1]]  # fails if two have this name
        found.setdefault(source, []).append(name)
    return found


def calls() -> Dict[Tuple[str, str], List[str]]:
    """Return what one source uses of another, by both."""
    defined_by = {
        name: source for source, names in symbols("-g", "--defined-only").items()
        for name in names}
    found: Dict[Tuple[str, str], List[str]] = {}
    for source, names in symbols("-u").items():
        for name in names:
            if name in defined_by:
                found.setdefault((source, defined_by[name]), []).append(name)
    return found


class Layers(unittest.TestCase):
    def test_object_calls_only_functions_of_its_layer(self) -> None:
        found = symbols("-u")
        self.assertGreater(len(found), 30, "this is not the archive of the core")
        for source, names in found.items():
            allowed = ANYWHERE if source.startswith("parse/") else ANYWHERE | OUTSIDE_PARSERS
            extra = ALLOWED.get(source, re.compile("(?!)"))
            for name in map(plain, names):
                with self.subTest(object=source, name=name):
                    self.assertTrue(
                        name.startswith(("rti_", "rts_")) or name in allowed
                        or extra.fullmatch(name), "not allowed in this layer")
                    self.assertTrue(extra.fullmatch(name) or not NOWHERE.fullmatch(name))

    def test_parser_references_only_parsers(self) -> None:
        defined = symbols("-g", "--defined-only")
        parsers = {
            name for source, names in defined.items() if source.startswith("parse/")
            for name in names}
        for source, names in symbols("-u").items():
            if source.startswith("parse/"):
                self.assertEqual({n for n in names if n.startswith("rt")} - parsers, set(), source)

    def test_calls_form_no_circle(self) -> None:
        """Sources that call each other are one that was cut in two."""
        between = calls()
        graph: Graph = {}
        for caller, callee in between:
            graph.setdefault(caller, set()).add(callee)
        for circle in circles(graph):
            steps = [f"{step[0]} calls {', '.join(between[step])} of {step[1]}"
                     for step in zip(circle, circle[1:])]
            with self.subTest(circle[0]):
                self.fail("\n".join(["a circle of calls", *steps]))

    def test_external_names_have_library_prefix(self) -> None:
        for source, names in symbols("-g", "--defined-only").items():
            for name in names:
                with self.subTest(object=source, name=name):
                    self.assertRegex(name, r"^(rti?|rts)_\w+$")


if __name__ == "__main__":
    need("nm")
    unittest.main(verbosity=2)
