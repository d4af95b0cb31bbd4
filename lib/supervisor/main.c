/* SPDX-License-Identifier: MIT */
/* The supervisor: starts one program, adopts and reaps what that leaves behind, and reports.
 *
 * A process of its own, because a subreaper adopts every orphan below it and waits for any
 * child: in the host program both would meddle with the host's own children. It formats nothing
 * and keeps no heap, so that what it costs and what it bequeaths to the program (an exec hands
 * the peak memory on) is next to nothing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
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

#include "os/supervisor_protocol.h"
#include "supervisor/cgroup_cleanup.h"
#include "supervisor/launch.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define MOST_REAPED 65536 /* at a time: a tree can hardly leave more at once */
#define FIRST_FREE 3      /* after the standard descriptors */
#define ABOVE_THE_KEPT 11 /* where none is in the way when they are moved down at last */

struct supervisor {
	int socket; /* -1 once the library has let go */
	int signals, memory;
	int clock;              /* inherited by all that we start; -1 for none */
	uint64_t own_before_ns; /* CPU time that we had used when it was opened */
	struct rti_shared_stats *shared;
	pid_t program; /* 0 once it was reaped */
	bool may_reap, is_batching;
	uint64_t batch_ends_ms;
	struct rti_report report;
	/* the cgroup (v2) that the program was started in; "" when not known */
	char cgroup_path[1024];
	size_t cgroup_path_len;
};

/* What was wished for, as the library gave it. */
struct start_request {
	bool has_list, has_clock;
	const char *cgroup, *cwd;
	char **argv;
};

static uint64_t read_clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* It runs for us as well. */
static uint64_t inherited_clock_ns(const struct supervisor *s)
{
	uint64_t ns, own_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->own_before_ns;

	if (s->clock < 0 || read(s->clock, &ns, sizeof(ns)) != sizeof(ns))
		return 0;
	s->shared->own_io[0] += sizeof(ns);
	return ns > own_ns ? ns - own_ns : 0;
}

static void send_report(struct supervisor *s, enum rti_report_kind kind)
{
	s->report.kind = kind;
	s->report.monotonic_ns = read_clock_ns(CLOCK_MONOTONIC);
	s->report.clock_ns = inherited_clock_ns(s);
	getrusage(RUSAGE_CHILDREN, &s->report.reaped);
	if (s->socket >= 0 && send(s->socket, &s->report, sizeof(s->report), MSG_NOSIGNAL) < 0)
		s->report.error = errno; /* the library is gone; the program goes on */
}

static void record_own_maxrss(struct supervisor *s)
{
	char text[4096];

	rts_read_file(s->shared, "/proc/self/status", text, sizeof(text));
	s->report.inherited_maxrss_kib = (int64_t)rts_value_of(text, "VmHWM:", 10);
}

/* A low descriptor of the host may be closed, and ours would then be the program's. */
static int move_up(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_THE_KEPT);

	if (fd >= 0)
		close(fd);
	return moved;
}

/* Counts the time of all threads and processes that come from us. */
static int open_clock(struct supervisor *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		/* who may not see into the kernel must say so; this clock counts there all the
		 * same */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	s->own_before_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->clock =
	    move_up((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
	return s->clock < 0 ? -EOPNOTSUPP : 0;
}

/* Descriptors of the host that we kept open would keep pipes from ending, and its directory from
 * being unmounted. */
static void release_host(struct supervisor *s)
{
	int *cached[] = { &s->socket, &s->signals, &s->memory, &s->clock,
		          rts_process_log_events() };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), free_fd = FIRST_FREE;

	for (int fd = 0; fd < FIRST_FREE; fd++) {
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	}
	for (size_t i = 0; i < sizeof(cached) / sizeof(cached[0]); i++) {
		if (*cached[i] < 0)
			continue;
		if (*cached[i] != free_fd)
			dup3(*cached[i], free_fd, O_CLOEXEC);
		*cached[i] = free_fd++;
	}
	if (syscall(SYS_close_range, free_fd, ~0u, 0) < 0) {
		for (int fd = free_fd; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
			close(fd);
	}
	if (chdir("/") < 0)
		s->report.error = errno; /* nothing depends on it */
}

static void check_sigchld(struct supervisor *s, pid_t pid)
{
	char text[4096];

	rts_read_pid_file(s->shared, pid, "status", text, sizeof(text));
	if (rts_value_of(text, "SigIgn:\t", 16) >> (SIGCHLD - 1) & 1)
		s->report.ignored_sigchld = 1;
}

/* Our own, and the leaf below it. */
static void record_cgroup(struct supervisor *s, const char *file)
{
	char text[1024];
	ssize_t n = rts_read_file(s->shared, "/proc/self/cgroup", text, sizeof(text));
	const char *at = n > 0 ? strstr(text, "0::/") : NULL, *name = strrchr(file, '/');
	size_t len = at ? strcspn(at, "\n") : 0;

	if (!at || len + (name ? strlen(name) : 0) >= sizeof(s->cgroup_path))
		return;
	memcpy(s->cgroup_path, at, len);
	if (len == strlen("0::/"))
		len--; /* the root ends in the slash */
	if (name)
		memcpy(s->cgroup_path + len, name, strlen(name));
	s->cgroup_path_len = len + (name ? strlen(name) : 0);
	s->cgroup_path[s->cgroup_path_len] = '\0';
}

/* What those use who have left is in no account of that cgroup. */
static void check_cgroup(struct supervisor *s, pid_t pid)
{
	char text[1024];
	ssize_t n = rts_read_pid_file(s->shared, pid, "cgroup", text, sizeof(text));
	const char *at = n > 0 ? strstr(text, "0::/") : NULL;

	if (s->cgroup_path_len && at &&
	    (strncmp(at, s->cgroup_path, s->cgroup_path_len) != 0 ||
	     !strchr("/\n", at[s->cgroup_path_len])) &&
	    s->cgroup_path_len > strlen("0::"))
		s->report.left_cgroup = 1;
}

static void reap(struct supervisor *s, pid_t pid)
{
	struct rusage use;
	int status;

	/* A process that we adopted, or the program: their last words are in /proc as long as
	 * they are zombies. */
	check_sigchld(s, pid);
	check_cgroup(s, pid);
	rts_process_log_catch_up();
	rts_process_log_record_zombie(pid);
	if (wait4(pid, &status, 0, &use) != pid)
		return;
	rts_process_log_record_reaped(pid, status, &use);
	if (pid != s->program)
		return;
	s->program = 0;
	s->report.status = status;
	send_report(s, RTI_EXITED);
}

/* All who have ended, unless they end as fast as they are reaped: then the library would wait
 * for ever. 1 when some may be left. */
static bool reap_all(struct supervisor *s)
{
	for (int reaped = 0; reaped < MOST_REAPED; reaped++) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return false;
		reap(s, info.si_pid);
	}
	return true;
}

static void handle_request(struct supervisor *s)
{
	uint32_t request;
	ssize_t n = recv(s->socket, &request, sizeof(request), 0);

	if (n == sizeof(request) && request == RTI_PROCEED)
		s->may_reap = true;
	else if (n == sizeof(request) && request == RTI_ACCOUNT) {
		rts_process_log_finish();
		send_report(s, RTI_ACCOUNTED);
	} else if (n >= 0 || (errno != EINTR && errno != EAGAIN)) {
		close(s->socket);
		s->socket = -1;
		s->may_reap = true;
	}
}

/* Events are left to gather for a while, for to be woken by each would cost more than they do. */
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
	ssize_t n = read(s->signals, &info, sizeof(info));

	if (n > 0)
		s->shared->own_io[0] += (uint64_t)n;
}

static void begin_batch(struct supervisor *s)
{
	s->is_batching = true;
	s->batch_ends_ms =
	    read_clock_ns(CLOCK_MONOTONIC) / 1000000 + (uint64_t)rts_process_log_batch_ms();
}

/* Ends when the program has ended and the library has let go. Whoever runs on then is init's to
 * reap, as without us. */
static void supervise(struct supervisor *s)
{
	while (s->program || s->socket >= 0) {
		int batch_ms = batch_time_left_ms(s);
		struct pollfd events[] = {
			{ .fd = s->signals, .events = POLLIN },
			{ .fd = s->socket, .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_events(), .events = POLLIN },
		};

		if (s->may_reap && reap_all(s))
			batch_ms = 0;
		if (!s->program && s->socket < 0)
			break;
		if (poll(events, 3, batch_ms) < 0)
			continue;
		if (events[2].revents)
			begin_batch(s);
		if (events[0].revents)
			drain_signals(s);
		if (events[1].revents)
			handle_request(s);
	}
}

/* By hand, or by a library of another release: not for us. */
static int parse_arguments(struct supervisor *s, struct start_request *w, int argc, char **argv)
{
	if (argc < 8 || strcmp(argv[1], RTI_PROTOCOL) != 0)
		return -1;
	s->socket = move_up(atoi(argv[2]));
	s->memory = move_up(atoi(argv[3]));
	if (s->socket < 0 || s->memory < 0)
		return -1;
	s->shared =
	    mmap(NULL, RTI_SHARED_STATS_BYTES + RTI_RECORDS_MAX * sizeof(struct rti_process_record),
	         PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
	*w = (struct start_request){
		.has_list = strchr(argv[4], RTI_START_LIST) != NULL,
		.has_clock = strchr(argv[4], RTI_START_PERF) != NULL,
		.cgroup = argv[5],
		.cwd = argv[6],
		.argv = argv + 7,
	};
	return s->shared == MAP_FAILED ? -1 : 0;
}

/* Signals to the whole process group are for the program; the library forwards the rest. Ours
 * stay blocked. */
static int block_signals(struct supervisor *s, sigset_t *mask)
{
	sigset_t all, chld;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, mask);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	s->signals = move_up(signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC));
	return s->signals < 0 ? -1 : 0;
}

static int launch(struct supervisor *s, const struct start_request *w, const sigset_t *mask)
{
	int cgroup;

	if (*w->cwd && chdir(w->cwd) < 0)
		return -errno;
	if (w->has_clock && open_clock(s) < 0) {
		s->program = -1;
		return -EOPNOTSUPP;
	}
	if (!*w->cgroup)
		return rts_launch_here(w->argv, mask, &s->program);
	cgroup = open(w->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rts_launch_in_cgroup(w->argv, mask, cgroup, &s->program);
}

int main(int argc, char **argv)
{
	struct supervisor s = { .clock = -1 };
	struct start_request w;
	sigset_t mask;
	int err;

	if (parse_arguments(&s, &w, argc, argv) < 0 || block_signals(&s, &mask) < 0)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rts_files_init(s.shared);
	record_own_maxrss(&s);
	record_cgroup(&s, w.cgroup);
	rts_process_log_begin(&(struct rts_process_log_opts){
	    s.shared, &s.memory, w.has_list, getpid(), s.report.inherited_maxrss_kib });
	*rts_process_log_events() = move_up(*rts_process_log_events());
	if (*rts_process_log_events() < 0)
		s.shared->events = RTI_EVENTS_UNAVAILABLE;
	send_report(&s, RTI_STARTING);
	err = launch(&s, &w, &mask);
	s.report.pid = s.program;
	s.report.error = -err;
	send_report(&s, err == 0 ? RTI_STARTED : s.program < 0 ? RTI_NOT_PLACED : RTI_FAILED);
	if (err == 0) {
		release_host(&s);
		supervise(&s);
	}
	if (*w.cgroup)
		rts_cgroup_cleanup(w.cgroup);
	return 0;
}
