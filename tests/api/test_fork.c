/* SPDX-License-Identifier: MIT */
/* A tracker that was made before fork() serves parent and child, each on its own. */
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"

static pid_t start_target(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end_target(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* What the forked half does with the tracker that it inherited: goes on with it, and ends its
 * copy. The exit code names the step that failed. */
static int go_on(struct rt_tracker *t, const struct rt_metrics *before)
{
	struct rt_metrics now;
	struct rt_delta d;

	for (int i = 0; i < 20; i++) {
		if (rt_sample(t, &now, sizeof(now)))
			return 1;
		if (rt_diff(before, &now, &d, sizeof(d)))
			return 2;
		if (!(now.valid & RT_HAS_CPU) || now.valid != before->valid)
			return 3;
	}
	rt_tracker_free(t);
	return 0;
}

static void assert_forked(pid_t child, int expected)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == expected, "status %#x",
	              (unsigned)status);
}

static void share(struct rt_tracker *t)
{
	struct rt_metrics before, now;
	pid_t child;

	ck_assert_int_eq(rt_sample(t, &before, sizeof(before)), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(go_on(t, &before));
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(rt_sample(t, &now, sizeof(now)), 0);
	assert_forked(child, 0);
	ck_assert_int_eq(rt_sample(t, &now, sizeof(now)), 0);
	ck_assert_uint_eq(now.valid, before.valid);
	rt_tracker_free(t);
}

START_TEST(pid_tracker_on_both_sides)
{
	struct rt_tracker *t;
	pid_t target = start_target();

	ck_assert_int_eq(rt_pid_tracker_new(&t, target, NULL), 0);
	share(t);
	end_target(target);
}
END_TEST

START_TEST(system_tracker_on_both_sides)
{
	struct rt_tracker *t;

	ck_assert_int_eq(rt_system_tracker_new(&t, NULL), 0);
	share(t);
}
END_TEST

/* The tracker of oneself names a process, not whoever holds the tracker. */
START_TEST(tracker_of_the_parent_still_follows_the_parent_in_the_child)
{
	struct rt_tracker *t;
	struct rt_metrics m;
	pid_t parent = getpid(), child;

	ck_assert_int_eq(rt_pid_tracker_new(&t, parent, NULL), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes, 1);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct rt_process rows[2];
		size_t count = 2;

		if (rt_sample(t, &m, sizeof(m)) ||
		    rt_tracker_processes(t, rows, sizeof(rows[0]), &count))
			_exit(1);
		if (count != 2 || rows[0].pid != parent || rows[1].pid != getpid())
			_exit(2);
		rt_tracker_free(t);
		_exit(0);
	}
	assert_forked(child, 0);
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork");
	TCase *tcase = suite_case(suite, "inherited");

	tcase_add_test(tcase, pid_tracker_on_both_sides);
	tcase_add_test(tcase, system_tracker_on_both_sides);
	tcase_add_test(tcase, tracker_of_the_parent_still_follows_the_parent_in_the_child);
	return suite_run(suite);
}
