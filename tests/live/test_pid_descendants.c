/* SPDX-License-Identifier: MIT */
/* rt_pid_descendants() of real processes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define MOST 16

/* What the processes of a test report to it. */
struct tree {
	pid_t by_leader, by_thread, grandchild;
};

static void wait_for_end(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void *fork_from_thread(void *arg)
{
	struct tree *tree = arg;
	pid_t pid = fork();

	if (pid == 0) {
		pid_t below = fork();

		if (below == 0)
			wait_for_end();
		tree->grandchild = below;
		wait_for_end();
	}
	tree->by_thread = pid;
	for (;;)
		pause();
	return NULL;
}

static void make_tree(void *arg)
{
	struct tree *tree = arg;
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0)
		wait_for_end();
	tree->by_leader = pid;
	pthread_create(&thread, NULL, fork_from_thread, tree);
}

static int is_set(void *pid)
{
	return __atomic_load_n((pid_t *)pid, __ATOMIC_ACQUIRE) != 0;
}

static size_t list(pid_t pid, int32_t *pids, size_t room)
{
	size_t count = room;

	ck_assert_int_eq(rt_pid_descendants(pid, pids, &count), 0);
	return count;
}

static size_t index_of(pid_t pid, const int32_t *pids, size_t count)
{
	size_t i = 0;

	while (i < count && pids[i] != pid)
		i++;
	ck_assert_uint_lt(i, count);
	return i;
}

START_TEST(descendants_of_all_threads_are_listed_parents_first)
{
	struct tree *tree = map_shared(sizeof(*tree));
	int32_t pids[MOST];
	struct child child;

	child_start(&child, make_tree, tree);
	wait_until(is_set, &tree->by_thread);
	wait_until(is_set, &tree->grandchild);
	ck_assert_uint_eq(list(child.pid, pids, MOST), 3);
	index_of(tree->by_leader, pids, 3);
	ck_assert_uint_lt(index_of(tree->by_thread, pids, 3), index_of(tree->grandchild, pids, 3));
	ck_assert_uint_eq(list(tree->by_thread, pids, MOST), 1);
	ck_assert_int_eq(pids[0], tree->grandchild);
	ck_assert_uint_eq(list(tree->grandchild, pids, MOST), 0);
	ck_assert_uint_eq(list(getpid(), pids, MOST), 4);
	ck_assert_int_eq(pids[0], child.pid);
	child_end(&child);
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(list_that_does_not_fit_is_cut_and_counted)
{
	int32_t pids[3] = { -1, -1, -1 };
	struct child first, second;
	size_t count = 0;

	child_start_async(&first, do_nothing, NULL);
	child_start_async(&second, do_nothing, NULL);
	ck_assert_int_eq(rt_pid_descendants(getpid(), NULL, &count), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(list(getpid(), pids, 1), 2);
	ck_assert(pids[0] == first.pid || pids[0] == second.pid);
	ck_assert_int_eq(pids[1], -1);
	ck_assert_uint_eq(list(getpid(), pids, 3), 2);
	ck_assert_int_eq(pids[2], -1);
	/* The second one holds the first one's pipe, so that it would not end by itself. */
	kill_process(first.pid, SIGKILL);
	child_end(&first);
	child_end(&second);
	ck_assert_uint_eq(list(getpid(), pids, 3), 0);
}
END_TEST

START_TEST(zombie_is_listed_until_it_is_reaped)
{
	int32_t pids[1];
	struct child child;

	child_start(&child, do_nothing, NULL);
	child_let_die(&child);
	ck_assert_uint_eq(list(getpid(), pids, 1), 1);
	ck_assert_uint_eq(list(child.pid, pids, 1), 0);
	child_end(&child);
	ck_assert_uint_eq(list(getpid(), pids, 1), 0);
}
END_TEST

static void *wait_for_signal(void *arg)
{
	*(int32_t *)arg = (int32_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

START_TEST(descendants_with_bad_arguments_are_refused)
{
	int32_t pids[1] = { -1 }, tid = 0;
	size_t count = 1;
	struct child child;
	pthread_t thread;

	ck_assert_int_eq(rt_pid_descendants(1, pids, NULL), -EFAULT);
	ck_assert_int_eq(rt_pid_descendants(1, NULL, &count), -EFAULT);
	ck_assert_int_eq(rt_pid_descendants(0, pids, &count), -EINVAL);
	ck_assert_int_eq(rt_pid_descendants(-1, pids, &count), -EINVAL);
	ck_assert_int_eq(rt_pid_descendants(INT32_MAX, pids, &count), -ESRCH);
	child_start(&child, do_nothing, NULL);
	child_end(&child);
	ck_assert_int_eq(rt_pid_descendants(child.pid, pids, &count), -ESRCH);
	pthread_create(&thread, NULL, wait_for_signal, &tid);
	wait_until(is_set, &tid);
	ck_assert_int_eq(rt_pid_descendants(tid, pids, &count), -ESRCH);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(pids[0], -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_descendants");
	TCase *lists = suite_case(suite, "lists"), *arguments = suite_case(suite, "arguments");

	tcase_add_test(lists, descendants_of_all_threads_are_listed_parents_first);
	tcase_add_test(lists, list_that_does_not_fit_is_cut_and_counted);
	tcase_add_test(lists, zombie_is_listed_until_it_is_reaped);
	tcase_add_test(arguments, descendants_with_bad_arguments_are_refused);
	return suite_run(suite);
}
