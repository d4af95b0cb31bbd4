/* SPDX-License-Identifier: MIT */
/* The library's side of a supervisor: finds it, starts a program under it, receives its reports. */
#include "command/supervisor_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/descendants.h"
#include "command/own_supervisor.h"
#include "os/platform.h"
#include "os/process/fd_map.h"
#include "os/process/helper.h"
#include "os/process/helper_wait.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "os/protocol/shared_memory.h"
#include "util/arith.h"
#include "util/decimal.h"

#define NS_PER_S 1000000000
#define END_MAX_NS 200000000 /* of a supervisor that has nothing left to do */
#define NAP_NS 100000        /* where there is no pidfd to wait by (before Linux 5.3) */
#define NAPS_MAX 20000       /* what is not reaped then stays a zombie */
/* Between two looks where a filter of system calls refuses to wait. */
#define SLEEP_BLIND_NS 5000000
/* A request that is refused, e.g. for lack of memory, is sent again. */
#define SEND_TRIES 5
#define SEND_PAUSE_NS 20000000

/* Element 0, the path of the supervisor, is set by the caller. */
static const char **make_argv(const char *socket, const char *memory,
                              const struct rti_supervisor_opts *opts)
{
	const struct rti_spawn *program = &opts->program;
	size_t count = 0;
	const char **argv;

	while (program->argv[count])
		count++;
	argv = malloc((count + 8) * sizeof(*argv));
	if (!argv)
		return NULL;
	argv[1] = RTI_SUPERVISOR_NAME;
	argv[2] = socket;
	argv[3] = memory;
	argv[4] = opts->start_flags;
	argv[5] = opts->cgroup;
	argv[6] = program->cwd ? program->cwd : "";
	memcpy(argv + 7, program->argv, (count + 1) * sizeof(*argv));
	return argv;
}

/* The caller may do without a supervisor, so the result is -EOPNOTSUPP and s->error says why. */
static int set_error(struct rti_supervisor *s, int err)
{
	s->error = err;
	return -EOPNOTSUPP;
}

/* The supervisor gets the descriptors of the program, which inherits them. So its own must not have
 * their numbers. */
static int spawn_with(struct rti_supervisor *s, const struct rti_supervisor_opts *opts, int socket,
                      int memory)
{
	char socket_text[RTI_DECIMAL_MAX], memory_text[RTI_DECIMAL_MAX];
	struct rti_spawn supervisor = opts->program;
	struct rti_origin_file *file; /* too large for the stack of a small thread */
	const char **argv;
	int err;

	rti_decimal(socket_text, (uint64_t)socket);
	rti_decimal(memory_text, (uint64_t)memory);
	argv = make_argv(socket_text, memory_text, opts);
	file = argv ? malloc(sizeof(*file)) : NULL;
	if (!file) {
		free(argv);
		return -ENOMEM;
	}
	supervisor.use_path = false;
	supervisor.cwd = NULL;
	/* These are for the program; see its flags. */
	supervisor.has_new_group = false;
	supervisor.has_new_session = false;
	supervisor.keep_fd[0] = socket;
	supervisor.keep_fd[1] = memory;
	err = rti_helper_spawn(RTI_SUPERVISOR_NAME, &supervisor, argv, file, &s->supervisor_pid);
	if (file->dir >= 0)
		close(file->dir);
	free(file);
	free(argv);
	return rti_helper_is_missing(err) ? set_error(s, -ENOPKG) : err;
}

static int spawn_supervisor(struct rti_supervisor *s, const struct rti_supervisor_opts *opts,
                            int socket)
{
	const struct rti_spawn *program = &opts->program;
	int socket_copy = rti_fd_map_copy(program->fds, program->fd_count, socket);
	int memory_copy = rti_fd_map_copy(program->fds, program->fd_count, s->memory);
	int err = socket_copy < 0 ? socket_copy : memory_copy;

	if (socket_copy >= 0 && memory_copy >= 0)
		err = spawn_with(s, opts, socket_copy, memory_copy);
	if (socket_copy >= 0)
		close(socket_copy);
	if (memory_copy >= 0)
		close(memory_copy);
	return err;
}

/* Receive the next report. Returns 0; -EAGAIN if there is none now; -ECHILD if there will be
 * none. */
static int receive_report(struct rti_supervisor *s, int flags)
{
	struct rti_report report;
	ssize_t n;

	do {
		n = recv(s->socket, &report, sizeof(report), flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	/* A signal to the pid of a program that has none would go to a whole group. */
	if (n != sizeof(report) || report.kind > RTI_ACCOUNTED ||
	    (report.kind == RTI_STARTED && report.pid <= 1))
		return -ECHILD;
	rti_supervisor_keep_report(s, &report);
	return 0;
}

static int receive_next(struct rti_supervisor *s)
{
	return s->is_own ? rti_own_supervisor_work(s) : receive_report(s, MSG_DONTWAIT);
}

/* Receive the next report until a time of CLOCK_MONOTONIC. A signal to the caller does not end the
 * wait, and does not make it longer. Returns 0, -ETIMEDOUT or -ECHILD. */
static int receive_until(struct rti_supervisor *s, int64_t end_ns)
{
	struct rti_supervisor_sleep sleep;
	int err;

	while ((err = receive_next(s)) == -EAGAIN) {
		int64_t left_ns = end_ns - (int64_t)rti_monotonic_ns();

		if (left_ns <= 0)
			return -ETIMEDOUT;
		rti_supervisor_prepare_sleep(s, -1, &sleep);
		rti_supervisor_sleep(&sleep, left_ns);
	}
	return err;
}

/* The supervisor ends at once, unless it runs on with its program or is frozen: then it is reaped
 * later. It may have been stopped. Returns whether it has been reaped here. */
static bool wait_for_exit(const struct rti_supervisor *s, bool runs_on, int *status)
{
	const struct timespec nap = { .tv_nsec = NAP_NS }, timeout = { .tv_nsec = END_MAX_NS };
	pid_t reaped = waitpid(s->supervisor_pid, status, WNOHANG);
	struct pollfd end = { .events = POLLIN };
	sigset_t all;
	int pidfd;

	if (reaped != 0)
		return reaped == s->supervisor_pid;
	kill(s->supervisor_pid, SIGCONT);
	pidfd = end.fd = rti_pidfd_open(s->supervisor_pid);
	/* A signal to the caller does not end the wait: what is not reaped then stays a zombie. */
	sigfillset(&all);
	if (pidfd >= 0 && !runs_on)
		ppoll(&end, 1, &timeout, &all);
	for (int i = 0; (reaped = waitpid(s->supervisor_pid, status, WNOHANG)) == 0 && pidfd < 0 &&
	                !runs_on && i < NAPS_MAX;
	     i++)
		nanosleep(&nap, NULL);
	if (reaped == 0 && pidfd >= 0)
		rti_reap_later_take(pidfd);
	else
		rti_pidfd_close(pidfd);
	return reaped == s->supervisor_pid;
}

/* Why a supervisor has ended, or closed its socket, without a report. Nothing was started. What is
 * short is the errno that it exited with. E.g.: -EMFILE. -ECHILD: it was killed, the host has
 * reaped it, or it could not be loaded. */
static int silence_error(struct rti_supervisor *s)
{
	int status = 0;

	if (wait_for_exit(s, false, &status))
		s->supervisor_pid = 0;
	if (s->supervisor_pid || !WIFEXITED(status))
		return -ECHILD;
	switch (WEXITSTATUS(status)) {
	case RTI_EXIT_MISMATCH:
		return -EPROTO;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		return -WEXITSTATUS(status);
	default:
		return -ECHILD;
	}
}

static int start_separate(struct rti_supervisor *s, const struct rti_supervisor_opts *opts)
{
	void *shared;
	int pair[2], err = rti_shared_memory_new(RTI_SHARED_STATS_BYTES, &shared, &s->memory);

	if (err < 0)
		return err;
	s->shared = shared;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	s->socket = pair[0];
	err = spawn_supervisor(s, opts, pair[1]);
	close(pair[1]);
	return err;
}

/* Receive a report, and look at the supervisor meanwhile. Returns as rti_helper_await(), and
 * -ECHILD also if it has closed its socket. */
static int await_report(struct rti_supervisor *s, struct rti_helper_wait *wait)
{
	int err;

	while ((err = receive_report(s, MSG_DONTWAIT)) == -EAGAIN) {
		err = rti_helper_await(wait, s->socket);
		if (err < 0)
			return err;
	}
	return err;
}

/* Kill a supervisor that does not answer, and what it may have started. It is stopped first: from
 * then on it forks nothing, and a process of it that has ended keeps its pid. */
static void kill_both(const struct rti_supervisor *s, const struct rti_context *ctx, int pidfd)
{
	struct rti_descendants below = { 0 };

	rti_pidfd_signal(pidfd, s->supervisor_pid, SIGSTOP);
	if (rti_descendants_list(ctx, s->supervisor_pid, &below) == 0)
		for (size_t i = 0; i < below.count; i++)
			kill(below.pids[i], SIGKILL);
	free(below.pids);
	rti_pidfd_signal(pidfd, s->supervisor_pid, SIGKILL);
}

/* The supervisor is killed: nothing may be started after the caller has done without it. Returns as
 * receive_start(). */
static int give_up(struct rti_supervisor *s, const struct rti_supervisor_opts *opts,
                   const struct rti_helper_wait *wait, bool has_begun, int err)
{
	const struct rti_platform *platform = opts->ctx->platform;
	bool is_over = err == -ETIMEDOUT && wait->end_ns == opts->end_ns;

	if (err == -ECHILD && !has_begun)
		return set_error(s, silence_error(s));
	/* Killed, perhaps by the program, which runs then: it must not be started again. */
	if (err == -ECHILD)
		return err;
	kill_both(s, opts->ctx, wait->pidfd);
	/* It may have begun in the last moment. */
	if (!has_begun)
		has_begun = receive_until(s, (int64_t)(platform->monotonic_ns() +
		                                       platform->waits.answer_ns)) == 0;
	s->error = is_over ? -ETIME : err;
	if (err == -EINTR || is_over)
		return err;
	return has_begun ? -ECHILD : -EOPNOTSUPP;
}

/* Returns 0 if the program was started or cannot be, as s->started says; or an error as of
 * rti_supervisor_start(). The second report takes as long as execve(2), as without a supervisor. */
static int receive_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts)
{
	const struct rti_platform *platform = opts->ctx->platform;
	struct rti_helper_wait wait = {
		.platform = platform,
		.pid = s->supervisor_pid,
		.pidfd = rti_pidfd_open(s->supervisor_pid),
		.end_ns =
		    rti_min(opts->end_ns, platform->monotonic_ns() + platform->waits.begin_ns),
	};
	int err = await_report(s, &wait);
	bool has_begun = err == 0;

	if (err == 0 && s->started.kind == RTI_STARTING) {
		wait.end_ns = opts->end_ns;
		err = await_report(s, &wait);
	}
	if (err < 0)
		err = give_up(s, opts, &wait, has_begun, err);
	rti_pidfd_close(wait.pidfd);
	return err;
}

/* Until the program is launched, nothing that fails is about the program: the caller may do
 * without a supervisor, whatever it is. E.g.: a container's filter of system calls refuses
 * socketpair(2) with EPERM. */
static int start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts)
{
	int err = rti_own_supervisor_start(s, opts);

	if (err == -EBUSY) {
		err = start_separate(s, opts);
		if (err == 0 && (err = receive_start(s, opts)) < 0)
			return err;
	}
	if (err < 0)
		return s->error ? -EOPNOTSUPP : set_error(s, err);
	if (s->started.kind == RTI_NOT_PLACED)
		return set_error(s, -s->started.error);
	return s->started.kind == RTI_FAILED ? -s->started.error : 0;
}

int rti_supervisor_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts)
{
	int err;

	rti_reap_later_look();
	*s = (struct rti_supervisor){ .socket = -1, .memory = -1 };
	err = start(s, opts);
	if (err < 0)
		rti_supervisor_close(s, false);
	s->program_pid = s->started.pid;
	return err;
}

/* The next receive shows that a supervisor is gone. One that cannot be asked, e.g. for lack of
 * memory, learns from the end of the requests that it may reap. It then reports no more. */
static void send_request(struct rti_supervisor *s, uint32_t request)
{
	const struct timespec pause = { .tv_nsec = SEND_PAUSE_NS };
	sigset_t all;

	sigfillset(&all); /* a signal to the caller does not make the pause shorter */
	for (int tries = SEND_TRIES; tries > 0; tries--) {
		if (send(s->socket, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return;
		if (errno == EPIPE || errno == ECONNRESET)
			return;
		if (errno != EINTR)
			ppoll(NULL, 0, &pause, &all);
	}
	shutdown(s->socket, SHUT_WR);
}

void rti_supervisor_proceed(struct rti_supervisor *s)
{
	if (s->is_own)
		rti_own_supervisor_proceed(s);
	else
		send_request(s, RTI_PROCEED);
}

void rti_supervisor_continue(const struct rti_supervisor *s)
{
	if (!s->is_own)
		kill(s->supervisor_pid, SIGCONT);
}

void rti_supervisor_prepare_sleep(const struct rti_supervisor *s, int program,
                                  struct rti_supervisor_sleep *out)
{
	*out = (struct rti_supervisor_sleep){ .wakers = { { .fd = program, .events = POLLIN },
		                                          { .fd = -1, .events = POLLIN },
		                                          { .fd = -1, .events = POLLIN },
		                                          { .fd = -1, .events = POLLIN } },
		                              .max_ns = INT64_MAX };
	if (s->is_own)
		rti_own_supervisor_prepare_sleep(out);
	else
		out->wakers[1].fd = s->socket;
}

int rti_supervisor_sleep(struct rti_supervisor_sleep *sleep, int64_t timeout_ns)
{
	int64_t ns = timeout_ns < sleep->max_ns ? timeout_ns : sleep->max_ns;
	const struct timespec timeout = { .tv_sec = ns / NS_PER_S,
		                          .tv_nsec = (long)(ns % NS_PER_S) };
	const struct timespec nap = { .tv_nsec = ns < SLEEP_BLIND_NS ? (long)ns : SLEEP_BLIND_NS };
	int n = ppoll(sleep->wakers, 4, &timeout, NULL);

	if (n >= 0)
		return n == 0 ? -ETIMEDOUT : 0;
	if (errno == EINTR || nanosleep(&nap, NULL) < 0)
		return -EINTR;
	return -ETIMEDOUT;
}

int rti_supervisor_receive_exit(struct rti_supervisor *s)
{
	int err = 0;

	while (err == 0 && !s->exited.kind)
		err = receive_next(s);
	return err;
}

int rti_supervisor_wait(struct rti_supervisor *s, int64_t timeout_ns)
{
	int64_t end_ns = (int64_t)rti_monotonic_ns() + timeout_ns;
	int err = 0;

	while (err == 0 && !s->exited.kind)
		err = receive_until(s, end_ns);
	return err;
}

void rti_supervisor_request_account(struct rti_supervisor *s)
{
	s->accounted.kind = 0;
	if (!s->is_own)
		send_request(s, RTI_ACCOUNT);
}

int rti_supervisor_receive_account(struct rti_supervisor *s, uint64_t timeout_ns)
{
	int64_t end_ns = (int64_t)(rti_monotonic_ns() + timeout_ns);
	int err = 0;

	if (s->is_own)
		return rti_own_supervisor_account(s);
	while (err == 0 && !s->accounted.kind)
		err = receive_until(s, end_ns);
	return err;
}

static size_t mapped_bytes(size_t count, size_t text_bytes)
{
	return text_bytes ? RTI_TEXT_OFFSET + text_bytes
	                  : RTI_SHARED_STATS_BYTES + count * sizeof(struct rti_process_record);
}

/* Other processes of the same user can write to the memory. So a length is read once, and checked.
 * Beyond the end of the memory a read would be a SIGBUS. */
static bool read_lengths(const struct rti_supervisor *s, struct rti_process_records *out)
{
	const volatile struct rti_shared_stats *shared = s->shared;
	uint64_t count = shared->records, text_bytes = shared->text_bytes;
	struct stat memory;

	if (count == 0 || count > RTI_RECORDS_MAX || text_bytes > RTI_TEXT_BYTES_MAX ||
	    fstat(s->memory, &memory) < 0 ||
	    (uint64_t)memory.st_size < mapped_bytes((size_t)count, (size_t)text_bytes))
		return false;
	out->count = (size_t)count;
	out->text_bytes = (size_t)text_bytes;
	out->sees_every_exec = shared->events == RTI_EVENTS_INTACT;
	return true;
}

void rti_supervisor_map_records(const struct rti_supervisor *s, struct rti_process_records *out)
{
	struct rti_process_records found = { 0 };
	const char *memory;

	*out = found;
	if (!s->shared || !read_lengths(s, &found))
		return;
	memory = mmap(NULL, mapped_bytes(found.count, found.text_bytes), PROT_READ, MAP_SHARED,
	              s->memory, 0);
	if (memory == MAP_FAILED)
		return;
	*out = found;
	out->records = (const void *)(memory + RTI_SHARED_STATS_BYTES);
	out->texts = out->text_bytes ? memory + RTI_TEXT_OFFSET : NULL;
}

void rti_supervisor_unmap_records(const struct rti_process_records *records)
{
	if (records->records)
		munmap((char *)(uintptr_t)records->records - RTI_SHARED_STATS_BYTES,
		       mapped_bytes(records->count, records->text_bytes));
}

void rti_supervisor_close(struct rti_supervisor *s, bool runs_on)
{
	bool was_open = s->socket >= 0;

	rti_reap_later_look();
	if (s->is_own)
		rti_own_supervisor_close(s);
	rti_supervisor_close_copy(s);
	if (was_open && s->supervisor_pid > 0)
		wait_for_exit(s, runs_on, NULL);
}

void rti_supervisor_close_copy(struct rti_supervisor *s)
{
	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	if (s->shared && !s->is_own)
		munmap(s->shared, RTI_SHARED_STATS_BYTES);
	if (s->memory >= 0)
		close(s->memory);
	s->shared = NULL;
	s->memory = -1;
}
