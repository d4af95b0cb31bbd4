/* SPDX-License-Identifier: MIT */
/* A caller that is its own supervisor.
 *
 * The state belongs to the process, and not to a handle: a process is a subreaper as a whole, and
 * its children are children of all its commands. So there is one such command at a time. */
#include "command/own_supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/cpu_time.h"
#include "os/platform.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "parse/parse.h"
#include "supervisor/cgroup_cleanup.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"
#include "supervisor/supervisor.h"

#define NS_PER_MS 1000000
/* How long a zombie that was adopted may wait, where no event tells of it. */
#define UNSEEN_MS 50
/* The same for the program, where there is no pidfd (before Linux 5.3). */
#define NO_PIDFD_MS 5
#define SMALL_PAGES 4096
#define SMALL_PEAK_KIB 16384 /* no more pages than that */
#define ROUNDS_MAX 16        /* of reaping for one account: processes may exit as fast */

/* Written by the functions of this file only, for the command that is_taken is set for. */
static struct own {
	struct rts_supervisor core;
	struct rti_supervisor *client;
	struct rti_shared_stats shared; /* with no other process */
	struct rti_platform platform;
	int was_subreaper;
	char *dirs; /* of the cgroup; "" */
} own;
static atomic_flag is_taken = ATOMIC_FLAG_INIT;

static void keep_report(struct rts_supervisor *core)
{
	rti_supervisor_keep_report(own.client, &core->report);
}

/* Whether this process has no children, and would get to wait for one. */
static bool has_no_children(void)
{
	struct sigaction action;
	siginfo_t child;

	return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD &&
	       sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
	       !(action.sa_flags & SA_NOCLDWAIT);
}

/* A copy of the caller starts the program: its memory takes time to copy, and hides a peak of the
 * program up to its size. */
static bool is_small(void)
{
	struct rti_pid_statm statm;
	struct rusage use;
	char text[128];
	ssize_t n;

	if (getrusage(RUSAGE_SELF, &use) == 0 && use.ru_maxrss <= SMALL_PEAK_KIB)
		return true;
	n = rts_read_file(&own.shared, "/proc/self/statm", text, sizeof(text));
	return n > 0 && rti_parse_pid_statm(text, (size_t)n, &statm) == 0 &&
	       statm.resident_pages <= SMALL_PAGES;
}

static struct rts_request make_request(const struct rti_supervisor_opts *opts)
{
	const struct rti_spawn *program = &opts->program;

	/* execve(2) does not modify these, but its prototype lacks the const. */
	return (struct rts_request){
		.has_new_group = program->has_new_group,
		.has_new_session = program->has_new_session,
		.cgroup = opts->cgroup,
		.cwd = program->cwd ? program->cwd : "",
		.argv = (char **)(uintptr_t)program->argv,
		.envp = (char **)(uintptr_t)program->envp,
	};
}

/* No handler of the caller may run in the child. */
static enum rti_report_kind launch(const struct rts_request *request)
{
	enum rti_report_kind kind;
	sigset_t all, before, none;

	sigfillset(&all);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	kind = rts_start(&own.core, request, &none);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return kind;
}

static int start(struct rti_supervisor *s, const struct rts_request *request)
{
	int err;

	own.core = (struct rts_supervisor){
		.shared = &own.shared, .memory = -1, .is_caller = true, .deliver = keep_report
	};
	own.client = s;
	own.was_subreaper = 0;
	rti_platform_init(&own.platform, false);
	prctl(PR_GET_CHILD_SUBREAPER, &own.was_subreaper);
	s->reaped = (struct rti_reaped){ 0 };
	own.dirs = strdup(request->cgroup);
	err = own.dirs ? 0 : -ENOMEM;
	if (err == 0)
		err = rts_begin(&own.core, request, own.platform.cpu_count());
	if (err < 0)
		return err;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rts_report(&own.core, launch(request));
	return 0;
}

/* What is not to be reaped here any longer is reaped later. */
static void reap_later(pid_t pid)
{
	int pidfd = pid > 0 ? rti_pidfd_open(pid) : -1;

	if (pidfd >= 0)
		rti_reap_later_take(pidfd);
}

static void end(void)
{
	rts_end();
	if (!own.was_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	if (own.dirs && *own.dirs)
		reap_later(rts_cgroup_cleanup(own.dirs));
	free(own.dirs);
	own.client->is_own = false;
	own.client->shared = NULL;
	atomic_flag_clear(&is_taken);
}

int rti_own_supervisor_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts)
{
	const struct rts_request request = make_request(opts);
	int err;

	/* Descriptors of a program are not mapped here, and a list needs a process that reads
	 * others as soon as they end, whatever the caller does. */
	if (!opts->may_be_caller || opts->program.fd_count || opts->program.has_only_fds ||
	    strchr(opts->start_flags, RTI_START_LIST) || atomic_flag_test_and_set(&is_taken))
		return -EBUSY;
	own.shared = (struct rti_shared_stats){ 0 };
	/* The first process of a pid namespace also adopts orphans of processes that entered it. */
	if (getpid() == 1 || !is_small() || !has_no_children()) {
		atomic_flag_clear(&is_taken);
		return -EBUSY;
	}
	s->is_own = true;
	s->shared = &own.shared;
	s->supervisor_pid = getpid();
	err = start(s, &request);
	if (err < 0 || s->started.kind != RTI_STARTED) {
		free(own.dirs); /* the caller removes the cgroup */
		own.dirs = NULL;
		end();
	}
	return err;
}

void rti_own_supervisor_proceed(struct rti_supervisor *s)
{
	(void)s;
	own.core.may_reap = true;
}

/* As of now, and not of the last report. */
static void publish_reaped(struct rti_reaped *out)
{
	/* In the order of rti_shared_stats.own_io. */
	static const enum rti_counter_id io[] = {
		RTI_READ_CHARS,      RTI_WRITE_CHARS, RTI_READ_BYTES,  RTI_WRITE_BYTES,
		RTI_CANCELLED_BYTES, RTI_READ_CALLS,  RTI_WRITE_CALLS,
	};
	struct rusage use;

	rts_get_reaped(&own.core, &use);
	out->counters[RTI_CPU_USER] = rti_timeval_to_ns(use.ru_utime);
	out->counters[RTI_CPU_SYSTEM] = rti_timeval_to_ns(use.ru_stime);
	out->counters[RTI_MINOR_FAULTS] = (uint64_t)use.ru_minflt;
	out->counters[RTI_MAJOR_FAULTS] = (uint64_t)use.ru_majflt;
	for (size_t i = 0; i < sizeof(io) / sizeof(io[0]); i++)
		out->counters[io[i]] = own.core.io.sum[i];
	out->has_unread_io = own.core.io.has_unread;
}

/* Returns as rts_reap_all(). */
static int reap_all(struct rti_supervisor *s, bool *has_more)
{
	uint64_t reaped = own.core.reaped;
	int err = rts_reap_all(&own.core, has_more);

	if (own.core.reaped != reaped)
		publish_reaped(&s->reaped);
	return err;
}

int rti_own_supervisor_work(struct rti_supervisor *s)
{
	struct pollfd events[] = {
		{ .fd = *rts_process_log_events(), .events = POLLIN },
		{ .fd = *rts_process_log_threads(), .events = POLLIN },
	};
	uint64_t began_ns = own.platform.thread_cpu_ns();
	bool has_more;
	int err = 0;

	/* Let events accumulate from the first one on; handle them if they have. */
	if (!own.core.is_batching && poll(events, 2, 0) > 0)
		rts_begin_batch(&own.core);
	rts_batch_left_ms(&own.core);
	if (own.core.may_reap)
		err = reap_all(s, &has_more);
	s->own_cpu_ns += own.platform.thread_cpu_ns() - began_ns;
	if (s->exited.kind)
		return 0;
	return err < 0 ? -ECHILD : -EAGAIN;
}

int rti_own_supervisor_account(struct rti_supervisor *s)
{
	uint64_t began_ns = own.platform.thread_cpu_ns();
	bool has_more = true;
	int err = 0;

	own.core.may_reap = true;
	for (int rounds = 0; err == 0 && has_more && rounds < ROUNDS_MAX; rounds++)
		err = reap_all(s, &has_more);
	rts_account(&own.core);
	s->own_cpu_ns += own.platform.thread_cpu_ns() - began_ns;
	return err < 0 ? -ECHILD : 0;
}

void rti_own_supervisor_prepare_sleep(struct rti_supervisor_sleep *out)
{
	int left_ms = -1;

	if (own.core.is_batching)
		left_ms = rts_batch_left_ms(&own.core);
	else if (out->wakers[0].fd < 0)
		left_ms = NO_PIDFD_MS;
	else if (*rts_process_log_events() < 0)
		left_ms = UNSEEN_MS; /* without events, adopted zombies do not show */
	if (left_ms >= 0)
		out->max_ns = (int64_t)left_ms * NS_PER_MS;
	if (own.core.is_batching)
		return;
	out->wakers[1].fd = *rts_process_log_events();
	out->wakers[2].fd = *rts_process_log_threads();
}

void rti_own_supervisor_close(struct rti_supervisor *s)
{
	bool has_more;

	if (own.core.may_reap)
		reap_all(s, &has_more);
	reap_later(own.core.program);
	end();
}
