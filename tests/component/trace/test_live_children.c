/* SPDX-License-Identifier: MIT */
/* What descendants that were not waited for have used. The kernel has the truth: once they were
 * waited for, it is what RUSAGE_CHILDREN has grown by. */
#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/rusage.h"
#include "suite.h"
#include "trace/live_children.h"

#define PAGE 4096u
#define CPU_TIME 0.05   /* s, that each process uses */
#define MEMORY 8388608u /* bytes that each process writes to */
/* s: what it takes to end, and the rest of a tick for each account of children. */
#define TOLERANCE 0.03
#define DEADLINE 10 /* s */

static double cpu_time(const struct rt_rusage *usage)
{
	return usage->ru_utime + usage->ru_stime;
}

static void use_resources(void)
{
	char *memory =
	    mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; at < MEMORY; at += PAGE)
		((volatile char *)memory)[at] = 1;
	/* Mostly in user mode: clock() is a system call. */
	while ((double)clock() / CLOCKS_PER_SEC < CPU_TIME)
		for (volatile int i = 0; i < 100000; i++)
			;
}

/* A child that uses resources, and then stops. */
static pid_t fork_stopped(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(DEADLINE);
		use_resources();
		raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

/* The same, after a child of it has ended, and with one that is stopped: *grandchild, in memory
 * that is shared. */
static pid_t fork_family(pid_t *grandchild)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pid_t waited_for = fork();

		alarm(DEADLINE);
		if (waited_for == 0) {
			use_resources();
			_exit(0);
		}
		waitpid(waited_for, NULL, 0);
		*grandchild = fork_stopped();
		waitpid(*grandchild, NULL, WUNTRACED);
		use_resources();
		raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

static void wait_until_stopped(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
}

static struct rt_rusage reported(void)
{
	struct rt_rusage out;

	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_CHILDREN, &out), 0);
	return out;
}

/* Its children become ours. */
static void kill_and_wait_for(pid_t pid)
{
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static uint32_t read_live(const struct rt_rusage *base, struct rt_rusage *out)
{
	uint64_t at_ns;

	return rti_live_children_read(getpid(), base, out, &at_ns);
}

#define BIT(field) (1u << (offsetof(struct rt_rusage, field) / 8))
#define OF_ALL                                                                                     \
	(BIT(ru_utime) | BIT(ru_stime) | BIT(ru_minflt) | BIT(ru_majflt) | BIT(ru_inblock) |       \
	 BIT(ru_oublock))

START_TEST(live_child_has_used_what_waiting_for_it_adds)
{
	pid_t pid = fork_stopped();
	struct rt_rusage before, live, after;
	uint32_t valid;

	wait_until_stopped(pid);
	before = reported();
	valid = read_live(&before, &live);
	kill_and_wait_for(pid);
	after = reported();
	ck_assert_uint_eq(valid, 0xffff);
	ck_assert_int_eq(live.ru_minflt, after.ru_minflt - before.ru_minflt);
	ck_assert_int_eq(live.ru_majflt, after.ru_majflt - before.ru_majflt);
	ck_assert_int_eq(live.ru_inblock, after.ru_inblock - before.ru_inblock);
	/* The kernel may count the last switch of a process after it was waited for. */
	ck_assert_int_ge(after.ru_nvcsw - before.ru_nvcsw, live.ru_nvcsw);
	ck_assert_int_le(after.ru_nvcsw - before.ru_nvcsw, live.ru_nvcsw + 1);
	ck_assert_double_eq_tol(cpu_time(&live), cpu_time(&after) - cpu_time(&before), TOLERANCE);
	ck_assert_double_ge(cpu_time(&live), CPU_TIME);
	ck_assert_int_ge(live.ru_maxrss, MEMORY / 1024);
}
END_TEST

START_TEST(live_grandchildren_and_those_waited_for_are_included)
{
	struct rt_rusage before, live, after;
	uint32_t valid;
	pid_t pid, *grandchild;

	grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(grandchild, MAP_FAILED);
	/* A subreaper adopts its grandchildren. */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork_family(grandchild);
	wait_until_stopped(pid);
	before = reported();
	valid = read_live(&before, &live);
	kill_and_wait_for(pid);
	kill_and_wait_for(*grandchild);
	after = reported();
	ck_assert_uint_eq(valid & OF_ALL, OF_ALL);
	ck_assert_uint_eq(valid & (BIT(ru_maxrss) | BIT(ru_nvcsw) | BIT(ru_nivcsw)), 0);
	ck_assert_int_eq(live.ru_minflt, after.ru_minflt - before.ru_minflt);
	ck_assert_double_eq_tol(cpu_time(&live), cpu_time(&after) - cpu_time(&before), TOLERANCE);
	ck_assert_double_ge(cpu_time(&live), 3 * CPU_TIME - TOLERANCE);
}
END_TEST

START_TEST(nothing_is_valid_once_a_child_was_waited_for)
{
	pid_t first = fork_stopped(), second = fork_stopped();
	struct rt_rusage before, live;

	wait_until_stopped(first);
	wait_until_stopped(second);
	before = reported();
	kill_and_wait_for(first);
	ck_assert_uint_eq(read_live(&before, &live), 0);
	kill_and_wait_for(second);
}
END_TEST

START_TEST(process_without_children_has_zeros)
{
	struct rt_rusage before = reported(), live;

	ck_assert_uint_eq(read_live(&before, &live), 0xffff);
	ck_assert_double_eq(cpu_time(&live), 0);
	ck_assert_int_eq(live.ru_minflt, 0);
	ck_assert_int_eq(live.ru_maxrss, 0);
}
END_TEST

START_TEST(process_that_is_gone_has_nothing_valid)
{
	struct rt_rusage before = reported(), live;
	uint64_t at_ns = 1;

	ck_assert_uint_eq(rti_live_children_read(0, &before, &live, &at_ns), 0);
	ck_assert_uint_eq(rti_live_children_read(0x7fffffff, &before, &live, &at_ns), 0);
	ck_assert_uint_eq(at_ns, 1); /* untouched */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_live_children");
	TCase *tests = suite_case(suite, "live_children");

	tcase_add_test(tests, live_child_has_used_what_waiting_for_it_adds);
	tcase_add_test(tests, live_grandchildren_and_those_waited_for_are_included);
	tcase_add_test(tests, nothing_is_valid_once_a_child_was_waited_for);
	tcase_add_test(tests, process_without_children_has_zeros);
	tcase_add_test(tests, process_that_is_gone_has_nothing_valid);
	return suite_run(suite);
}
