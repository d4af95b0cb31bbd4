/* SPDX-License-Identifier: MIT */
/* What a supervisor reports of the children that it reaps. The children, the log of processes and
 * the launch are the test's. */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/protocol/tracer_protocol.h"
#include "suite.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/launch.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_log.h"

#define PROGRAM 100
#define REAPED_MAX 65536
#define EVER (-1) /* children */
#define STATUS 0x700

/* Children that have ended: their pids, or EVER. */
static int children[4], next_child;
static int wait_error, wait4_error; /* 0: none; wait_error comes after the children */
static uint64_t program_end_ns;
static struct rti_report reports[4];
static unsigned report_count, reaped;
static const char *watched;

static struct rusage children_use; /* the answer for RUSAGE_CHILDREN */

int __real_getrusage(int scope, struct rusage *use);
int __wrap_getrusage(int scope, struct rusage *use);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
pid_t __real_wait4(pid_t pid, int *status, int options, struct rusage *use);
pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *use);
ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size);
void __wrap_rts_cgroup_watch_begin(struct rti_shared_stats *shared, const char *directory);
int __wrap_rts_launch(const struct rts_launch_opts *opts, struct rts_launched *out);
int __wrap_rts_process_log_begin(const struct rts_process_log_opts *opts);
void __wrap_rts_process_log_end(void);
void __wrap_rts_process_log_set_program(pid_t pid, int64_t inherited_maxrss_kib);
uint64_t __wrap_rts_process_log_program_end_ns(void);
void __wrap_rts_process_log_catch_up(void);
void __wrap_rts_process_log_record_zombie(pid_t pid);
void __wrap_rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use);
void __wrap_rts_process_log_finish(bool has_children);

int __wrap_getrusage(int scope, struct rusage *use)
{
	if (scope != RUSAGE_CHILDREN)
		return __real_getrusage(scope, use);
	*use = children_use;
	return 0;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int child = children[next_child];

	(void)id;
	ck_assert_int_eq(type, P_ALL);
	ck_assert_int_eq(options, WEXITED | WNOHANG | WNOWAIT);
	if (child == 0 && wait_error) {
		errno = wait_error;
		return -1;
	}
	if (child != EVER && child != 0)
		next_child++;
	info->si_pid = child == EVER ? PROGRAM + 1 : child;
	return 0;
}

pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	if (pid < PROGRAM || pid > PROGRAM + 3)
		return __real_wait4(pid, status, options, use);
	errno = wait4_error;
	*status = STATUS;
	*use = (struct rusage){ .ru_maxrss = pid };
	return wait4_error ? -1 : pid;
}

ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size)
{
	(void)shared;
	(void)pid;
	(void)file;
	(void)size;
	*text = '\0';
	return -1;
}

void __wrap_rts_cgroup_watch_begin(struct rti_shared_stats *shared, const char *directory)
{
	(void)shared;
	watched = directory;
}

int __wrap_rts_launch(const struct rts_launch_opts *opts, struct rts_launched *out)
{
	(void)opts;
	out->pid = PROGRAM;
	out->inherited_maxrss_kib = 1000;
	return 0;
}

int __wrap_rts_process_log_begin(const struct rts_process_log_opts *opts)
{
	(void)opts;
	return 0;
}

void __wrap_rts_process_log_end(void)
{
}

void __wrap_rts_process_log_set_program(pid_t pid, int64_t inherited_maxrss_kib)
{
	ck_assert_int_eq(pid, PROGRAM);
	(void)inherited_maxrss_kib;
}

uint64_t __wrap_rts_process_log_program_end_ns(void)
{
	return program_end_ns;
}

void __wrap_rts_process_log_catch_up(void)
{
}

void __wrap_rts_process_log_record_zombie(pid_t pid)
{
	(void)pid;
}

void __wrap_rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use)
{
	(void)pid;
	(void)use;
	ck_assert_int_eq(status, STATUS);
	reaped++;
}

void __wrap_rts_process_log_finish(bool has_children)
{
	ck_assert_int_eq(has_children, wait_error == 0);
}

static void keep_report(struct rts_supervisor *s)
{
	ck_assert_uint_lt(report_count, 4);
	reports[report_count++] = s->report;
}

static struct rts_supervisor supervisor;

static void set_up(void)
{
	supervisor = (struct rts_supervisor){ .program = PROGRAM, .deliver = keep_report };
	supervisor.shared = calloc(1, RTI_SHARED_STATS_BYTES);
	ck_assert_ptr_nonnull(supervisor.shared);
}

static void tear_down(void)
{
	free(supervisor.shared);
}

/* Other processes may exit as fast as they are reaped. */
START_TEST(children_without_end_are_reaped_some_at_a_time)
{
	bool has_more = false;

	children[0] = EVER;
	ck_assert_int_eq(rts_reap_all(&supervisor, &has_more), 0);
	ck_assert(has_more);
	ck_assert_uint_eq(reaped, REAPED_MAX);
	children[0] = 0;
	ck_assert_int_eq(rts_reap_all(&supervisor, &has_more), 0);
	ck_assert(!has_more);
	ck_assert_uint_eq(report_count, 0);
}
END_TEST

static const struct {
	int children[3];
	int wait_error, wait4_error, err;
	bool is_reported;
} cases[] = {
	{ { PROGRAM + 1, PROGRAM, PROGRAM + 2 }, 0, 0, 0, true },
	{ { PROGRAM + 1, PROGRAM }, ECHILD, 0, 0, true },
	{ { PROGRAM + 1 }, 0, 0, 0, false },
	/* there is no child any more: another part of the caller has reaped the program */
	{ { PROGRAM + 1 }, ECHILD, 0, -ECHILD, false },
	{ { PROGRAM }, 0, ECHILD, -ECHILD, false },
	/* it has reaped another child meanwhile, which is nothing to the program */
	{ { PROGRAM + 1, PROGRAM + 2 }, 0, ECHILD, 0, false },
	/* a filter of system calls refuses to wait */
	{ { 0 }, EPERM, 0, -EPERM, false },
	{ { PROGRAM + 1 }, 0, EPERM, -EPERM, false },
};

START_TEST(end_of_the_program_is_reported_once_it_is_reaped)
{
	bool has_more;

	memcpy(children, cases[_i].children, sizeof(cases[_i].children));
	wait_error = cases[_i].wait_error;
	wait4_error = cases[_i].wait4_error;
	ck_assert_int_eq(rts_reap_all(&supervisor, &has_more), cases[_i].err);
	ck_assert(!has_more);
	ck_assert_uint_eq(report_count, cases[_i].is_reported);
	if (cases[_i].is_reported) {
		ck_assert_int_eq(reports[0].kind, RTI_EXITED);
		ck_assert_int_eq(reports[0].status, STATUS);
		ck_assert_int_eq(supervisor.program, 0);
	}
}
END_TEST

/* A caller may have been stopped since then. An event cannot be later than now. */
START_TEST(end_of_the_program_is_when_its_event_says_unless_that_is_later)
{
	static const uint64_t ends_ns[] = { 0, 77, UINT64_MAX };
	bool has_more;

	supervisor.is_caller = true;
	children[0] = PROGRAM;
	program_end_ns = ends_ns[_i];
	ck_assert_int_eq(rts_reap_all(&supervisor, &has_more), 0);
	ck_assert_uint_eq(report_count, 1);
	if (_i == 1)
		ck_assert_uint_eq(reports[0].monotonic_ns, 77);
	else
		ck_assert(reports[0].monotonic_ns > 77 && reports[0].monotonic_ns != UINT64_MAX);
}
END_TEST

/* A figure of its own for each member. */
static struct rusage use_of(long n)
{
	return (struct rusage){ .ru_utime = { 10 * n, 900000 / n },
		                .ru_stime = { 20 * n, 400000 / n },
		                .ru_maxrss = 1000 * n,
		                .ru_minflt = 3 * n,
		                .ru_majflt = 5 * n,
		                .ru_inblock = 7 * n,
		                .ru_oublock = 11 * n,
		                .ru_nvcsw = 13 * n,
		                .ru_nivcsw = 17 * n };
}

static void check_time(struct timeval time, long sec, long usec)
{
	ck_assert_int_eq(time.tv_sec, sec);
	ck_assert_int_eq(time.tv_usec, usec);
}

/* E.g.: 30.300 s now and 10.900 s before are 19.400 s. */
START_TEST(account_of_a_caller_is_what_its_children_have_used_since_the_begin)
{
	const struct rts_request request = { .cgroup = "", .cwd = "" };
	struct rusage use;

	supervisor.is_caller = true;
	children_use = use_of(1);
	ck_assert_int_eq(rts_begin(&supervisor, &request, 1), 0);
	supervisor.reaped_maxrss_kib = 1234;
	children_use = use_of(3);
	rts_get_reaped(&supervisor, &use);
	check_time(use.ru_utime, 19, 400000);
	check_time(use.ru_stime, 39, 733333);
	ck_assert_int_eq(use.ru_maxrss, 1234);
	ck_assert_int_eq(use.ru_minflt, 6);
	ck_assert_int_eq(use.ru_majflt, 10);
	ck_assert_int_eq(use.ru_inblock, 14);
	ck_assert_int_eq(use.ru_oublock, 22);
	ck_assert_int_eq(use.ru_nvcsw, 26);
	ck_assert_int_eq(use.ru_nivcsw, 34);
}
END_TEST

START_TEST(account_of_a_separate_supervisor_is_that_of_all_its_children)
{
	struct rusage use;

	children_use = use_of(1);
	supervisor.children_before = use_of(3);
	rts_get_reaped(&supervisor, &use);
	ck_assert_mem_eq(&use, &children_use, sizeof(use));
}
END_TEST

/* A caller may have children of its own. */
START_TEST(account_says_that_there_are_children_unless_they_may_be_of_the_caller)
{
	static const struct {
		bool has_children, is_caller;
		uint32_t said;
	} accounts[] = { { false, false, 0 }, { true, false, 1 }, { true, true, 0 } };

	supervisor.is_caller = accounts[_i].is_caller;
	wait_error = accounts[_i].has_children ? 0 : ECHILD;
	rts_account(&supervisor);
	ck_assert_uint_eq(report_count, 1);
	ck_assert_uint_eq(reports[0].kind, RTI_ACCOUNTED);
	ck_assert_uint_eq(reports[0].has_children, accounts[_i].said);
}
END_TEST

static const struct {
	const char *program, *argument;
	bool is_starter;
} programs[] = {
	{ "/x/" RTI_TRACER_NAME, RTI_TRACER_START, true },
	{ "/x/" RTI_TRACER_NAME, "start", false },
	{ "/x/" RTI_TRACER_NAME, NULL, false },
	{ "/proc/self/fd/7", RTI_TRACER_START, true }, /* which this program contains */
	{ RTI_TRACER_NAME, RTI_TRACER_START, false },  /* of PATH: not ours */
};

/* A starter takes memory of its own, which the program inherits. */
START_TEST(program_of_a_starter_may_inherit_a_larger_peak)
{
	char *argv[] = { (char *)(uintptr_t)programs[_i].program,
		         (char *)(uintptr_t)programs[_i].argument, NULL };
	const struct rts_request request = { .cgroup = "", .cwd = "", .argv = argv };
	sigset_t mask;

	sigemptyset(&mask);
	ck_assert_int_eq(rts_start(&supervisor, &request, &mask), RTI_STARTED);
	ck_assert_int_eq(supervisor.report.pid, PROGRAM);
	if (programs[_i].is_starter)
		ck_assert_int_gt(supervisor.report.inherited_maxrss_kib, 1000);
	else
		ck_assert_int_eq(supervisor.report.inherited_maxrss_kib, 1000);
}
END_TEST

START_TEST(directory_of_v2_is_watched_unless_its_name_is_too_long)
{
	static char too_long[5000];
	static const struct {
		const char *dirs, *watched;
	} cases_of_v2[] = { { "2/a/b\n1/c", "/a/b" }, { "1/c", "" }, { "", "" }, { too_long, "" } };
	char *argv[] = { (char *)(uintptr_t) "program", NULL };
	const struct rts_request request = { .cgroup = cases_of_v2[_i].dirs,
		                             .cwd = "",
		                             .argv = argv };
	sigset_t mask;

	sigemptyset(&mask);
	memset(too_long, 'a', sizeof(too_long) - 1);
	too_long[0] = RTI_DIR_V2;
	ck_assert_int_eq(rts_start(&supervisor, &request, &mask), RTI_STARTED);
	ck_assert_str_eq(watched, cases_of_v2[_i].watched);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("supervisor_reaps");
	TCase *reaps = suite_case(suite, "reaps"), *starts = suite_case(suite, "starts");

	tcase_add_checked_fixture(reaps, set_up, tear_down);
	tcase_add_test(reaps, children_without_end_are_reaped_some_at_a_time);
	tcase_add_loop_test(reaps, end_of_the_program_is_reported_once_it_is_reaped, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(reaps, end_of_the_program_is_when_its_event_says_unless_that_is_later,
	                    0, 3);
	tcase_add_test(reaps, account_of_a_caller_is_what_its_children_have_used_since_the_begin);
	tcase_add_test(reaps, account_of_a_separate_supervisor_is_that_of_all_its_children);
	tcase_add_loop_test(
	    reaps, account_says_that_there_are_children_unless_they_may_be_of_the_caller, 0, 3);
	tcase_add_checked_fixture(starts, set_up, tear_down);
	tcase_add_loop_test(starts, program_of_a_starter_may_inherit_a_larger_peak, 0,
	                    sizeof(programs) / sizeof(programs[0]));
	tcase_add_loop_test(starts, directory_of_v2_is_watched_unless_its_name_is_too_long, 0, 4);
	return suite_run(suite);
}
