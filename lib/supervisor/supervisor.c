/* SPDX-License-Identifier: MIT */
/* Starts one program, reaps it and its orphaned descendants, and reports.
 *
 * A supervisor of its own formats no text and has no heap, so that it costs next to nothing. */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/platform.h"
#include "os/protocol/tracer_protocol.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/launch.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"

#define REAPED_MAX 65536 /* in one go; a tree hardly leaves more zombies at once */
/* How much more memory a starter may use at most. It is a program of the same size, with the same
 * arguments and environment. */
#define STARTER_KIB 256

/* A caller may have waited for other children before. The largest peak may then be one of
 * theirs. */
void rts_get_reaped(const struct rts_supervisor *s, struct rusage *use)
{
	const struct rusage *before = &s->children_before;

	getrusage(RUSAGE_CHILDREN, use);
	if (!s->is_caller)
		return;
	timersub(&use->ru_utime, &before->ru_utime, &use->ru_utime);
	timersub(&use->ru_stime, &before->ru_stime, &use->ru_stime);
	use->ru_maxrss = (long)s->reaped_maxrss_kib;
	use->ru_minflt -= before->ru_minflt;
	use->ru_majflt -= before->ru_majflt;
	use->ru_inblock -= before->ru_inblock;
	use->ru_oublock -= before->ru_oublock;
	use->ru_nvcsw -= before->ru_nvcsw;
	use->ru_nivcsw -= before->ru_nivcsw;
}

static void complete_report(struct rts_supervisor *s, enum rti_report_kind kind)
{
	s->report.kind = kind;
	s->report.monotonic_ns = rti_monotonic_ns();
	rts_get_reaped(s, &s->report.reaped);
}

void rts_report(struct rts_supervisor *s, enum rti_report_kind kind)
{
	complete_report(s, kind);
	s->deliver(s);
}

/* Returns the directory of v2 in the list of the program's cgroup, or "". */
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

int rts_begin(struct rts_supervisor *s, const struct rts_request *request, uint64_t cpus)
{
	if (s->is_caller)
		getrusage(RUSAGE_CHILDREN, &s->children_before);
	else
		rts_proc_file_init(s->shared);
	return rts_process_log_begin(
	    &(struct rts_process_log_opts){ .shared = s->shared,
	                                    .memory = &s->memory,
	                                    .has_list = request->has_list,
	                                    .is_counted = request->is_counted,
	                                    .root = getpid(),
	                                    .cpus = cpus });
}

/* Returns 0 or -errno. s->program is then negative if no process could be made, e.g. in the
 * cgroup. */
static int launch(struct rts_supervisor *s, const struct rts_request *request, const sigset_t *mask)
{
	const struct rts_launch_opts opts = { .argv = request->argv,
		                              .envp = request->envp,
		                              .cwd = request->cwd,
		                              .dirs = request->cgroup,
		                              .mask = mask,
		                              .has_new_group = request->has_new_group,
		                              .has_new_session = request->has_new_session };
	const char *first = request->argv[1];
	struct rts_launched launched = { 0 };
	int err = rts_launch(&opts, &launched);

	s->program = launched.pid;
	s->report.placed = launched.placed;
	s->report.inherited_maxrss_kib = launched.inherited_maxrss_kib;
	/* The starter of a tracer executes another program. */
	if (*request->argv[0] == '/' && first && strcmp(first, RTI_TRACER_START) == 0)
		s->report.inherited_maxrss_kib += STARTER_KIB;
	rts_process_log_set_program(s->program, s->report.inherited_maxrss_kib);
	return err;
}

enum rti_report_kind rts_start(struct rts_supervisor *s, const struct rts_request *request,
                               const sigset_t *mask)
{
	int err = launch(s, request, mask);

	s->report.pid = s->program;
	s->report.error = -err;
	if (err < 0)
		return s->program < 0 ? RTI_NOT_PLACED : RTI_FAILED;
	/* To find out in which cgroup that is takes 25 us, which the program need not wait for. */
	rts_cgroup_watch_begin(s->shared, v2_directory(request->cgroup));
	return RTI_STARTED;
}

void rts_end(void)
{
	rts_process_log_end();
	rts_cgroup_watch_end();
}

/* Returns true if the zombie is gone. */
static bool reap(struct rts_supervisor *s, pid_t pid)
{
	char text[4096];
	struct rusage use;
	uint64_t end_ns;
	int status;
	bool is_reaped;

	/* pid is the program or a process that was adopted. Its final figures are in /proc as long
	 * as it is a zombie. If it ignores SIGCHLD, its own children were reaped without an
	 * account. */
	rts_read_pid_file(s->shared, pid, "status", text, sizeof(text));
	if (rts_hex_value_of(text, "SigIgn:\t") >> (SIGCHLD - 1) & 1)
		s->report.ignored_sigchld = 1;
	rts_cgroup_watch_check(pid);
	rts_process_log_catch_up();
	rts_process_log_record_zombie(pid);
	if (s->is_caller)
		rts_reaped_io_before(&s->io, s->shared, pid);
	is_reaped = wait4(pid, &status, 0, &use) == pid;
	if (s->is_caller)
		rts_reaped_io_after(&s->io, s->shared, is_reaped);
	if (!is_reaped)
		return false;
	rts_process_log_record_reaped(pid, status, &use);
	s->reaped++;
	if (use.ru_maxrss > s->reaped_maxrss_kib)
		s->reaped_maxrss_kib = use.ru_maxrss;
	if (pid != s->program)
		return true;
	s->program = 0;
	s->report.status = status;
	/* A caller may have been stopped since the program has ended. */
	end_ns = s->is_caller ? rts_process_log_program_end_ns() : 0;
	complete_report(s, RTI_EXITED);
	if (end_ns && end_ns < s->report.monotonic_ns)
		s->report.monotonic_ns = end_ns;
	s->deliver(s);
	return true;
}

/* A filter of system calls may refuse to wait. A program that is no child any longer has been
 * reaped by another part of the caller. */
static int error_of_wait(bool is_of_program)
{
	if (errno != ECHILD)
		return -EPERM;
	return is_of_program ? -ECHILD : 0;
}

int rts_reap_all(struct rts_supervisor *s, bool *has_more)
{
	*has_more = false;
	for (int reaped = 0; reaped < REAPED_MAX; reaped++) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return error_of_wait(s->program != 0);
		if (info.si_pid == 0)
			return 0;
		if (!reap(s, info.si_pid) && error_of_wait(info.si_pid == s->program) < 0)
			return error_of_wait(info.si_pid == s->program);
	}
	*has_more = true;
	return 0;
}

void rts_account(struct rts_supervisor *s)
{
	siginfo_t child;
	bool has_children = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;

	rts_process_log_finish(has_children);
	s->report.has_children = has_children && !s->is_caller;
	rts_report(s, RTI_ACCOUNTED);
}

void rts_begin_batch(struct rts_supervisor *s)
{
	s->is_batching = true;
	s->batch_ends_ms = rti_monotonic_ns() / 1000000 + (uint64_t)rts_process_log_batch_ms();
}

int rts_batch_left_ms(struct rts_supervisor *s)
{
	uint64_t now_ms;

	if (!s->is_batching)
		return -1;
	now_ms = rti_monotonic_ns() / 1000000;
	if (now_ms < s->batch_ends_ms)
		return (int)(s->batch_ends_ms - now_ms);
	s->is_batching = false;
	rts_process_log_filter();
	rts_process_log_update();
	return -1;
}
