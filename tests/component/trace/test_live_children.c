/* SPDX-License-Identifier: MIT */
/* What descendants that were not waited for have used. The kernel has the truth: once they were
 * waited for, it is what RUSAGE_CHILDREN has grown by. */
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
#include "children.h"
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
		end_self_after(DEADLINE);
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

		end_self_after(DEADLINE);
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
	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static struct rti_live_children read_live(const struct rt_rusage *base)
{
	struct rti_live_children live;

	ck_assert(rti_live_children_read(getpid(), base, &live));
	ck_assert_uint_eq(live.valid & live.partial, 0);
	return live;
}

#define BIT(field) (1u << (offsetof(struct rt_rusage, field) / 8))
/* What the kernel shows less of, once a process has waited for a child. */
#define BOUNDS (BIT(ru_utime) | BIT(ru_stime) | BIT(ru_maxrss) | BIT(ru_nvcsw) | BIT(ru_nivcsw))

START_TEST(live_child_has_used_what_waiting_for_it_adds)
{
	pid_t pid = fork_stopped();
	struct rt_rusage before, after;
	struct rti_live_children live;

	wait_until_stopped(pid);
	before = reported();
	live = read_live(&before);
	kill_and_wait_for(pid);
	after = reported();
	ck_assert_uint_eq(live.valid, 0xffff);
	ck_assert_int_eq(live.usage.ru_minflt, after.ru_minflt - before.ru_minflt);
	ck_assert_int_eq(live.usage.ru_majflt, after.ru_majflt - before.ru_majflt);
	ck_assert_int_eq(live.usage.ru_inblock, after.ru_inblock - before.ru_inblock);
	/* The kernel may count the last switch of a process after it was waited for. */
	ck_assert_int_ge(after.ru_nvcsw - before.ru_nvcsw, live.usage.ru_nvcsw);
	ck_assert_int_le(after.ru_nvcsw - before.ru_nvcsw, live.usage.ru_nvcsw + 1);
	ck_assert_double_eq_tol(cpu_time(&live.usage), cpu_time(&after) - cpu_time(&before),
	                        TOLERANCE);
	ck_assert_double_ge(cpu_time(&live.usage), CPU_TIME);
	ck_assert_int_ge(live.usage.ru_maxrss, MEMORY / 1024);
}
END_TEST

START_TEST(live_grandchildren_and_those_waited_for_are_included)
{
	struct rt_rusage before, after;
	struct rti_live_children live;
	pid_t pid, *grandchild;

	grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(grandchild, MAP_FAILED);
	/* A subreaper adopts its grandchildren. */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork_family(grandchild);
	wait_until_stopped(pid);
	before = reported();
	live = read_live(&before);
	kill_and_wait_for(pid);
	kill_and_wait_for(*grandchild);
	after = reported();
	ck_assert_uint_eq(live.valid, 0xffff & ~BOUNDS);
	ck_assert_uint_eq(live.partial, BOUNDS);
	ck_assert_int_eq(live.usage.ru_minflt, after.ru_minflt - before.ru_minflt);
	ck_assert_double_eq_tol(cpu_time(&live.usage), cpu_time(&after) - cpu_time(&before),
	                        TOLERANCE);
	ck_assert_double_ge(cpu_time(&live.usage), 3 * CPU_TIME - TOLERANCE);
	ck_assert_int_ge(live.usage.ru_maxrss, MEMORY / 1024);
	ck_assert_int_le(live.usage.ru_nvcsw, after.ru_nvcsw - before.ru_nvcsw);
}
END_TEST

/* The kernel shows CPU time that was waited for in whole ticks: this is less than one. */
START_TEST(time_that_was_waited_for_is_a_lower_bound_however_short)
{
	pid_t pid = fork(), child;
	struct rt_rusage before;
	struct rti_live_children live;

	if (pid == 0) {
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		end_self_after(DEADLINE);
		raise(SIGSTOP);
		_exit(0);
	}
	wait_until_stopped(pid);
	before = reported();
	live = read_live(&before);
	kill_and_wait_for(pid);
	ck_assert_uint_eq(live.valid, 0xffff & ~BOUNDS);
	ck_assert_uint_eq(live.partial, BOUNDS);
}
END_TEST

/* The kernel keeps the peak of memory over an exec, and does not show it. */
START_TEST(memory_from_before_an_exec_is_a_lower_bound)
{
	struct rt_rusage before, after;
	struct rti_live_children live;
	pid_t pid = fork();

	if (pid == 0) {
		end_self_after(DEADLINE);
		use_resources();
		execl("/bin/sh", "sh", "-c", "kill -STOP $$", (char *)NULL);
		_exit(1);
	}
	wait_until_stopped(pid);
	before = reported();
	live = read_live(&before);
	kill_and_wait_for(pid);
	after = reported();
	ck_assert_int_ge(after.ru_maxrss, MEMORY / 1024);
	ck_assert_int_lt(live.usage.ru_maxrss, MEMORY / 1024);
	ck_assert_uint_eq(live.partial, BIT(ru_maxrss));
	ck_assert_uint_eq(live.valid, 0xffff & ~BIT(ru_maxrss));
}
END_TEST

START_TEST(nothing_is_known_once_a_child_was_waited_for)
{
	pid_t first = fork_stopped(), second = fork_stopped();
	struct rt_rusage before;
	struct rti_live_children live;

	wait_until_stopped(first);
	wait_until_stopped(second);
	before = reported();
	kill_and_wait_for(first);
	ck_assert(!rti_live_children_read(getpid(), &before, &live));
	ck_assert_uint_eq(live.valid | live.partial, 0);
	ck_assert_uint_eq(live.at_ns, 0);
	kill_and_wait_for(second);
}
END_TEST

START_TEST(process_without_children_has_zeros)
{
	struct rt_rusage before = reported();
	struct rti_live_children live = read_live(&before);

	ck_assert_uint_eq(live.valid, 0xffff);
	ck_assert_double_eq(cpu_time(&live.usage), 0);
	ck_assert_int_eq(live.usage.ru_minflt, 0);
	ck_assert_int_eq(live.usage.ru_maxrss, 0);
}
END_TEST

START_TEST(process_that_is_gone_has_nothing_known)
{
	struct rt_rusage before = reported();
	struct rti_live_children live;

	ck_assert(!rti_live_children_read(0, &before, &live));
	ck_assert(!rti_live_children_read(0x7fffffff, &before, &live));
	ck_assert_uint_eq(live.valid | live.partial, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_live_children");
	TCase *tests = suite_case(suite, "live_children");

	tcase_add_test(tests, live_child_has_used_what_waiting_for_it_adds);
	tcase_add_test(tests, live_grandchildren_and_those_waited_for_are_included);
	tcase_add_test(tests, time_that_was_waited_for_is_a_lower_bound_however_short);
	tcase_add_test(tests, memory_from_before_an_exec_is_a_lower_bound);
	tcase_add_test(tests, nothing_is_known_once_a_child_was_waited_for);
	tcase_add_test(tests, process_without_children_has_zeros);
	tcase_add_test(tests, process_that_is_gone_has_nothing_known);
	return suite_run(suite);
}
