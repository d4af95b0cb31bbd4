/* SPDX-License-Identifier: MIT */
/* The supervisor: starts one program, adopts and reaps its orphaned descendants, and reports.
 *
 * It is a separate process because a subreaper adopts every orphan below it and waits for any
 * child. In the host program both would interfere with the host's own children. It formats no text
 * and has no heap, so that it costs next to nothing and the program inherits next to nothing from
 * it: an exec keeps the peak memory of the process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/supervisor_protocol.h"
#include "os/tracer_protocol.h"
#include "supervisor/cgroup_cleanup.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/launch.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define REAPED_MAX 65536 /* in one go; a tree hardly leaves more zombies at once */
/* How much more memory a starter may use at most. It is a program of the same size, with the same
 * arguments and environment. */
#define STARTER_KIB 256
/* A report that is refused, e.g. for lack of memory, is sent again. */
#define SEND_TRIES 5
#define SEND_PAUSE_MS 20
#define FIRST_FREE_FD 3 /* after the standard descriptors */
/* Descriptors are moved to this number or above at first. So none of them is overwritten when
 * release_host() moves them down to FIRST_FREE_FD and up. */
#define HIGH_FD_MIN 11

struct supervisor {
	int socket; /* -1 once the library has closed its end */
	int signals, memory;
	int clock; /* perf event that all descendants inherit; -1 for none */
	/* CPU time that the supervisor had used when the clock was opened. */
	uint64_t self_before_ns;
	struct rti_shared_stats *shared;
	pid_t program; /* 0 once it was reaped */
	bool may_reap;
	bool is_batching; /* events accumulate until batch_ends_ms */
	uint64_t batch_ends_ms;
	struct rti_report report;
};

/* The request of the library, from the arguments. */
struct start_request {
	bool has_list, has_clock, has_new_group, has_new_session;
	const char *cgroup, *cwd;
	char **argv;
};

static uint64_t read_clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the time on the inherited clock without that of the supervisor itself, for which the
 * clock runs too. Returns 0 if there is no clock. */
static uint64_t inherited_clock_ns(const struct supervisor *s)
{
	uint64_t ns, self_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->self_before_ns;

	s->shared->own_io[RTS_READ_CALLS] += s->clock >= 0;
	if (s->clock < 0 || read(s->clock, &ns, sizeof(ns)) != sizeof(ns))
		return 0;
	s->shared->own_io[0] += sizeof(ns);
	return ns > self_ns ? ns - self_ns : 0;
}

static void close_socket(struct supervisor *s)
{
	close(s->socket);
	s->socket = -1;
	s->may_reap = true;
}

/* The library learns from a closed socket that there will be no report: it then does without. So a
 * report that cannot be sent closes it. */
static void send_report(struct supervisor *s, enum rti_report_kind kind)
{
	int tries = SEND_TRIES;

	s->report.kind = kind;
	s->report.monotonic_ns = read_clock_ns(CLOCK_MONOTONIC);
	s->report.clock_ns = inherited_clock_ns(s);
	getrusage(RUSAGE_CHILDREN, &s->report.reaped);
	while (s->socket >= 0 &&
	       send(s->socket, &s->report, sizeof(s->report), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (--tries == 0)
			close_socket(s);
		else
			poll(NULL, 0, SEND_PAUSE_MS);
	}
}

/* Whether the program is the starter of a tracer, which executes another program. */
static bool is_starter(char **argv)
{
	const char *name = strrchr(argv[0], '/');

	return name && strcmp(name + 1, RTI_TRACER_NAME) == 0 && argv[1] &&
	       strcmp(argv[1], RTI_TRACER_START) == 0;
}

static void read_self_status(struct supervisor *s)
{
	char text[4096];

	rts_read_file(s->shared, "/proc/self/status", text, sizeof(text));
	s->report.inherited_maxrss_kib = (int64_t)rts_value_of(text, "VmHWM:", 10);
}

/* Move a descriptor to HIGH_FD_MIN or above. If the host runs with a standard descriptor closed, fd
 * may have that number, and the program would inherit it. Returns the new descriptor or -1. */
static int move_fd_up(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD_MIN);
	int error = errno == EINVAL ? EMFILE : errno; /* HIGH_FD_MIN is above RLIMIT_NOFILE */

	if (fd >= 0)
		close(fd);
	errno = error;
	return moved;
}

/* Open a perf event that counts the CPU time of all threads and processes that descend from this
 * one. Returns 0 or -EOPNOTSUPP. */
static int open_clock(struct supervisor *s)
{
	struct rti_perf_event_attr attr = {
		.type = RTI_PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = RTI_PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		/* Without permission to observe the kernel, the event must exclude it. This
		 * clock counts the time in the kernel nevertheless. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	s->self_before_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->clock = move_fd_up(
	    (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, RTI_PERF_FLAG_FD_CLOEXEC));
	return s->clock < 0 ? -EOPNOTSUPP : 0;
}

/* Close the descriptors of the host and leave its directory. Otherwise the supervisor would keep
 * pipes of the host from ending and its file system from being unmounted. */
static void release_host(struct supervisor *s)
{
	int *kept[] = { &s->socket,
		        &s->signals,
		        &s->memory,
		        &s->clock,
		        rts_process_log_events(),
		        rts_process_log_threads() };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), free_fd = FIRST_FREE_FD;

	for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (*kept[i] < 0)
			continue;
		if (*kept[i] != free_fd)
			dup3(*kept[i], free_fd, O_CLOEXEC);
		*kept[i] = free_fd++;
	}
	if (syscall(SYS_close_range, free_fd, ~0u, 0) < 0) {
		for (int fd = free_fd; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
			close(fd);
	}
	if (chdir("/") < 0)
		s->report.error = errno; /* nothing depends on it */
}

/* Record whether a zombie ignores SIGCHLD: its own children were then reaped without an account. */
static void check_sigchld(struct supervisor *s, pid_t pid)
{
	char text[4096];

	rts_read_pid_file(s->shared, pid, "status", text, sizeof(text));
	if (rts_value_of(text, "SigIgn:\t", 16) >> (SIGCHLD - 1) & 1)
		s->report.ignored_sigchld = 1;
}

/* Returns whether the zombie is gone. */
static bool reap(struct supervisor *s, pid_t pid)
{
	struct rusage use;
	int status;

	/* pid is the program or a process that the supervisor adopted. Its final figures are in
	 * /proc as long as it is a zombie. */
	check_sigchld(s, pid);
	rts_cgroup_watch_check(pid);
	rts_process_log_catch_up();
	rts_process_log_record_zombie(pid);
	if (wait4(pid, &status, 0, &use) != pid)
		return false;
	rts_process_log_record_reaped(pid, status, &use);
	if (pid != s->program)
		return true;
	s->program = 0;
	s->report.status = status;
	send_report(s, RTI_EXITED);
	return true;
}

/* Waiting for a child has failed. If there is one, a filter of system calls refuses it. The
 * supervisor then ends, and the library does without its reports. */
static void check_waiting(struct supervisor *s)
{
	if (errno == ECHILD)
		return;
	s->program = 0;
	if (s->socket >= 0)
		close_socket(s);
}

/* Reap all zombies, but REAPED_MAX at most: if processes exit as fast as they are reaped, the
 * library would wait forever. Returns true if there may be more. */
static bool reap_all(struct supervisor *s)
{
	for (int reaped = 0; reaped < REAPED_MAX; reaped++) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    (info.si_pid && !reap(s, info.si_pid))) {
			check_waiting(s);
			return false;
		}
		if (info.si_pid == 0)
			return false;
	}
	return true;
}

static void handle_request(struct supervisor *s)
{
	siginfo_t child;
	uint32_t request;
	ssize_t n = recv(s->socket, &request, sizeof(request), 0);

	if (n == sizeof(request) && request == RTI_PROCEED)
		s->may_reap = true;
	else if (n == sizeof(request) && request == RTI_ACCOUNT) {
		rts_process_log_finish(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0);
		send_report(s, RTI_ACCOUNTED);
	} else if (n >= 0 || (errno != EINTR && errno != EAGAIN)) {
		close_socket(s);
	}
}

/* Let events accumulate before reading them: a wakeup costs more than an event. Reads them if
 * the time is over. Returns the timeout for poll(2) in ms, or -1 for none. */
static int batch_time_left_ms(struct supervisor *s)
{
	uint64_t now_ms = read_clock_ns(CLOCK_MONOTONIC) / 1000000;

	if (!s->is_batching)
		return -1;
	if (now_ms < s->batch_ends_ms)
		return (int)(s->batch_ends_ms - now_ms);
	s->is_batching = false;
	rts_process_log_update();
	return -1;
}

static void drain_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;
	ssize_t n;

	s->shared->own_io[RTS_READ_CALLS]++;
	n = read(s->signals, &info, sizeof(info));
	if (n > 0)
		s->shared->own_io[0] += (uint64_t)n;
}

static void begin_batch(struct supervisor *s)
{
	s->is_batching = true;
	s->batch_ends_ms =
	    read_clock_ns(CLOCK_MONOTONIC) / 1000000 + (uint64_t)rts_process_log_batch_ms();
}

/* Run until the program has ended and the library has closed the socket. Processes that still run
 * then are reparented to init, as they would be without a supervisor. */
static void supervise(struct supervisor *s)
{
	while (s->program || s->socket >= 0) {
		int batch_ms = batch_time_left_ms(s);
		struct pollfd events[] = {
			{ .fd = s->signals, .events = POLLIN },
			{ .fd = s->socket, .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_events(), .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_threads(),
			  .events = POLLIN },
		};

		if (s->may_reap && reap_all(s))
			batch_ms = 0;
		if (!s->program && s->socket < 0)
			break;
		if (poll(events, sizeof(events) / sizeof(events[0]), batch_ms) < 0)
			continue;
		if (events[2].revents || events[3].revents)
			begin_batch(s);
		if (events[0].revents)
			drain_signals(s);
		if (events[1].revents)
			handle_request(s);
	}
}

/* Whether the supervisor was started by hand or by a library of another release. */
static bool is_mismatch(int argc, char **argv)
{
	return argc < 8 || strcmp(argv[1], RTI_PROTOCOL) != 0;
}

/* Returns 0, or -1 with errno if the descriptors or the memory cannot be used. */
static int parse_arguments(struct supervisor *s, struct start_request *request, char **argv)
{
	s->socket = move_fd_up(atoi(argv[2]));
	s->memory = move_fd_up(atoi(argv[3]));
	if (s->socket < 0 || s->memory < 0)
		return -1;
	s->shared =
	    mmap(NULL, RTI_SHARED_STATS_BYTES + RTI_RECORDS_MAX * sizeof(struct rti_process_record),
	         PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
	*request = (struct start_request){
		.has_list = strchr(argv[4], RTI_START_LIST) != NULL,
		.has_clock = strchr(argv[4], RTI_START_PERF) != NULL,
		.has_new_group = strchr(argv[4], RTI_START_GROUP) != NULL,
		.has_new_session = strchr(argv[4], RTI_START_SESSION) != NULL,
		.cgroup = argv[5],
		.cwd = argv[6],
		.argv = argv + 7,
	};
	return s->shared == MAP_FAILED ? -1 : 0;
}

/* Block all signals in the supervisor. Those to the whole process group are for the program, and
 * the library forwards the others. Sets *mask to the mask for the program. Returns 0 or -1. */
static int block_signals(struct supervisor *s, sigset_t *mask)
{
	sigset_t all, chld;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, mask);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	s->signals = move_fd_up(signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC));
	return s->signals < 0 ? -1 : 0;
}

/* Start the program. Returns 0 or -errno. s->program is then negative if no process could be made
 * in the cgroup or no clock could be opened. */
static int launch(struct supervisor *s, const struct start_request *request, const sigset_t *mask)
{
	const struct rts_launch_opts opts = { .argv = request->argv,
		                              .mask = mask,
		                              .has_new_group = request->has_new_group,
		                              .has_new_session = request->has_new_session };

	if (*request->cwd && chdir(request->cwd) < 0)
		return -errno;
	if (request->has_clock && open_clock(s) < 0) {
		s->program = -1;
		return -EOPNOTSUPP;
	}
	if (!*request->cgroup)
		return rts_launch_here(&opts, &s->program);
	return rts_launch_in_cgroup(&opts, request->cgroup, &s->program, &s->report.placed);
}

/* Returns the directory of v2 among those of the program's cgroup, or "". */
static const char *v2_directory(const char *dirs)
{
	static char path[4096];
	size_t len = *dirs == RTI_DIR_V2 ? strcspn(dirs + 1, "\n") : 0;

	if (len >= sizeof(path))
		len = 0;
	memcpy(path, dirs + 1, len);
	path[len] = '\0';
	return path;
}

int main(int argc, char **argv)
{
	struct supervisor s = { .clock = -1 };
	struct start_request request;
	sigset_t mask;
	uint64_t cpus;
	int err;

	if (is_mismatch(argc, argv))
		return RTI_EXIT_MISMATCH;
	if (parse_arguments(&s, &request, argv) < 0 || block_signals(&s, &mask) < 0)
		return errno;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* This reads a file, so it comes before the reads are counted. */
	cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	rts_proc_file_init(s.shared);
	read_self_status(&s);
	if (is_starter(request.argv))
		s.report.inherited_maxrss_kib += STARTER_KIB;
	rts_cgroup_watch_begin(s.shared, v2_directory(request.cgroup));
	rts_process_log_begin(&(struct rts_process_log_opts){
	    s.shared, &s.memory, request.has_list, getpid(), s.report.inherited_maxrss_kib, cpus });
	*rts_process_log_events() = move_fd_up(*rts_process_log_events());
	*rts_process_log_threads() = move_fd_up(*rts_process_log_threads());
	if (*rts_process_log_events() < 0)
		s.shared->events = RTI_EVENTS_UNAVAILABLE;
	send_report(&s, RTI_STARTING);
	/* The library then does without, and may start the program itself. */
	if (s.socket < 0)
		return EPIPE;
	err = launch(&s, &request, &mask);
	s.report.pid = s.program;
	s.report.error = -err;
	send_report(&s, err == 0 ? RTI_STARTED : s.program < 0 ? RTI_NOT_PLACED : RTI_FAILED);
	if (err == 0) {
		release_host(&s);
		supervise(&s);
	}
	if (*request.cgroup)
		rts_cgroup_cleanup(request.cgroup);
	return 0;
}
