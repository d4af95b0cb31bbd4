/* SPDX-License-Identifier: MIT */
/* The supervisor as a process of its own, which speaks with the library through a socket.
 *
 * It is a separate process because a subreaper adopts every orphan below it and waits for any
 * child. In the host program both would interfere with the host's own children. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/protocol/shared_memory.h"
#include "os/protocol/supervisor_protocol.h"
#include "supervisor/cgroup_cleanup.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"
#include "supervisor/supervisor.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* A report that is refused, e.g. for lack of memory, is sent again. */
#define SEND_TRIES 5
#define SEND_PAUSE_MS 20
#define NAP_NS 5000000
#define FIRST_FREE_FD 3 /* after the standard descriptors */
/* Descriptors are moved to this number or above at first. So none of them is overwritten when
 * release_host() moves them down to FIRST_FREE_FD and up. */
#define HIGH_FD_MIN 11

static struct rts_supervisor supervisor;
static int library = -1; /* socket; -1 once the library has closed its end */
static int signals = -1;

static void close_socket(void)
{
	close(library);
	library = -1;
	supervisor.may_reap = true;
}

/* The library learns from a closed socket that there will be no report: it then does without. So a
 * report that cannot be sent closes it. */
static void send_report(struct rts_supervisor *s)
{
	int tries = SEND_TRIES;

	while (library >= 0 &&
	       send(library, &s->report, sizeof(s->report), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (--tries == 0)
			close_socket();
		else
			poll(NULL, 0, SEND_PAUSE_MS);
	}
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

/* Close the descriptors of the host and leave its directory. Otherwise the supervisor would keep
 * pipes of the host from ending and its file system from being unmounted. */
static void release_host(void)
{
	int *kept[] = { &library,
		        &signals,
		        &supervisor.memory,
		        rts_process_log_events(),
		        rts_process_log_threads(),
		        rts_process_log_accounts() };
	const size_t count = sizeof(kept) / sizeof(kept[0]);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), free_fd = FIRST_FREE_FD;
	int fds_max = (int)sysconf(_SC_OPEN_MAX);
	bool is_moved = true;

	for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	}
	for (size_t i = 0; i < count; i++) {
		if (*kept[i] < 0)
			continue;
		if (*kept[i] != free_fd && dup3(*kept[i], free_fd, O_CLOEXEC) < 0)
			is_moved = false;
		else
			*kept[i] = free_fd++;
	}
	if (is_moved && syscall(SYS_close_range, free_fd, ~0u, 0) == 0)
		fds_max = 0;
	/* One by one, before Linux 5.9 or where a filter of system calls is in the way. */
	for (int fd = FIRST_FREE_FD; fd < fds_max && fd < 65536; fd++) {
		bool is_kept = false;

		for (size_t i = 0; i < count; i++)
			is_kept |= *kept[i] == fd;
		if (!is_kept)
			close(fd);
	}
	if (chdir("/") < 0)
		supervisor.report.error = errno; /* nothing depends on it */
}

/* Returns true if there may be more zombies. If a filter of system calls refuses to wait, the
 * supervisor ends, and the library does without its reports. */
static bool reap_all(void)
{
	bool has_more;

	if (rts_reap_all(&supervisor, &has_more) < 0) {
		supervisor.program = 0;
		if (library >= 0)
			close_socket();
	}
	return has_more;
}

static void handle_request(void)
{
	uint32_t request;
	ssize_t n = recv(library, &request, sizeof(request), MSG_DONTWAIT);

	if (n == sizeof(request) && request == RTI_PROCEED)
		supervisor.may_reap = true;
	else if (n == sizeof(request) && request == RTI_ACCOUNT)
		rts_account(&supervisor);
	else if (n >= 0 || (errno != EINTR && errno != EAGAIN))
		close_socket();
}

static void drain_signals(void)
{
	struct rti_shared_stats *shared = supervisor.shared;
	struct signalfd_siginfo info;
	ssize_t n;

	shared->own_io[RTS_READ_CALLS]++;
	n = read(signals, &info, sizeof(info));
	if (n > 0)
		shared->own_io[0] += (uint64_t)n;
}

/* If poll(2) fails, e.g. since a filter of system calls refuses it, look at all of them now and
 * then. None of the reads blocks. */
static void look_at_all(struct pollfd *events, nfds_t count)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	nanosleep(&nap, NULL);
	for (nfds_t i = 0; i < count; i++)
		events[i].revents = events[i].fd < 0 ? 0 : POLLIN;
}

/* Run until the program has ended and the library has closed the socket. Processes that still run
 * then are reparented to init, as they would be without a supervisor. */
static void supervise(void)
{
	const struct rts_supervisor *s = &supervisor;

	while (s->program || library >= 0) {
		int batch_ms = rts_batch_left_ms(&supervisor);
		struct pollfd events[] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = library, .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_events(), .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_threads(),
			  .events = POLLIN },
			{ .fd = s->is_batching ? -1 : *rts_process_log_accounts(),
			  .events = POLLIN },
		};
		const nfds_t count = sizeof(events) / sizeof(events[0]);

		if (s->may_reap && reap_all())
			batch_ms = 0;
		if (!s->program && library < 0)
			break;
		if (poll(events, count, batch_ms) < 0)
			look_at_all(events, count);
		if (events[2].revents || events[3].revents || events[4].revents)
			rts_begin_batch(&supervisor);
		if (events[0].revents)
			drain_signals();
		if (events[1].revents)
			handle_request();
	}
}

/* Returns 0, or -1 with errno if the descriptors or the memory cannot be used. */
static int parse_arguments(struct rts_request *request, char **argv)
{
	library = move_fd_up(atoi(argv[2]));
	supervisor.memory = move_fd_up(atoi(argv[3]));
	if (library < 0 || supervisor.memory < 0)
		return -1;
	supervisor.shared =
	    mmap(NULL,
	         strchr(argv[4], RTI_START_LIST) ? RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX
	                                         : RTI_SHARED_STATS_BYTES,
	         PROT_READ | PROT_WRITE, MAP_SHARED, supervisor.memory, 0);
	*request = (struct rts_request){
		.has_list = strchr(argv[4], RTI_START_LIST) != NULL,
		.has_new_group = strchr(argv[4], RTI_START_GROUP) != NULL,
		.has_new_session = strchr(argv[4], RTI_START_SESSION) != NULL,
		.is_counted = strchr(argv[4], RTI_START_COUNTED) != NULL,
		.cgroup = argv[5],
		.cwd = argv[6],
		.argv = argv + 7,
	};
	if (supervisor.shared == MAP_FAILED)
		return -1;
	rti_shared_memory_protect(supervisor.memory);
	return 0;
}

/* Block all signals in the supervisor. Those to the whole process group are for the program, and
 * the library forwards the others. Sets *mask to the mask for the program. Returns 0 or -1. */
static int block_signals(sigset_t *mask)
{
	sigset_t all, chld;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, mask);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	signals = move_fd_up(signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC));
	return signals < 0 ? -1 : 0;
}

/* Returns 0 or -errno. */
static int begin(const struct rts_request *request)
{
	/* This reads a file, so it comes before the reads are counted. */
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	int err = rts_begin(&supervisor, request, cpus);

	if (err < 0)
		return err;
	*rts_process_log_events() = move_fd_up(*rts_process_log_events());
	*rts_process_log_threads() = move_fd_up(*rts_process_log_threads());
	*rts_process_log_accounts() = move_fd_up(*rts_process_log_accounts());
	if (*rts_process_log_events() < 0)
		supervisor.shared->events = RTI_EVENTS_UNAVAILABLE;
	return 0;
}

int main(int argc, char **argv)
{
	struct rts_request request;
	enum rti_report_kind kind;
	sigset_t mask;
	int err;

	/* Started by hand, or by a library of another release. */
	if (argc < 8 || strcmp(argv[1], RTI_SUPERVISOR_NAME) != 0)
		return RTI_EXIT_MISMATCH;
	/* By the path it may have another name, e.g. the number of a descriptor. */
	prctl(PR_SET_NAME, RTI_SUPERVISOR_NAME);
	supervisor.deliver = send_report;
	if (parse_arguments(&request, argv) < 0 || block_signals(&mask) < 0)
		return errno;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	err = begin(&request);
	if (err < 0)
		return -err;
	rts_report(&supervisor, RTI_STARTING);
	/* The library then does without, and may start the program itself. */
	if (library < 0)
		return EPIPE;
	kind = rts_start(&supervisor, &request, &mask);
	rts_report(&supervisor, kind);
	if (kind == RTI_STARTED) {
		release_host();
		/* Where that is allowed, processes are read before others reap them. The program
		 * has been started, so it does not inherit this. */
		if (request.has_list)
			setpriority(PRIO_PROCESS, 0, -20);
		supervise();
	}
	if (*request.cgroup)
		rts_cgroup_cleanup(request.cgroup);
	return 0;
}
