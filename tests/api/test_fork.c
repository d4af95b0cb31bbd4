/* SPDX-License-Identifier: MIT */
/* A tracker made before fork() works in the parent and in the child, independently. */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define LONG_MS 100000

static pid_t start_paused_child(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	while (pid == 0)
		pause();
	return pid;
}

static void kill_child(pid_t pid)
{
	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* The target has not executed a program, so it shares pages with the test: its PSS is an estimate
 * unless it was read just now. So is the peak of the tree, or it is a lower bound. */
static uint64_t get_known(const struct rt_metrics *m)
{
	return m->valid | m->partial | m->estimated;
}

/* What the forked child does with its copy of the tracker: take samples, and free it. Returns the
 * exit code, which is the number of the step that failed. */
static int use_copy(struct rt_tracker *t, const struct rt_metrics *before)
{
	struct rt_metrics now;
	struct rt_delta d;

	for (int i = 0; i < 20; i++) {
		if (rt_sample(t, &now, sizeof(now)))
			return 1;
		if (rt_diff(before, &now, &d, sizeof(d)))
			return 2;
		if (!(now.valid & RT_HAS_CPU) || get_known(&now) != get_known(before))
			return 3;
	}
	rt_tracker_free(t);
	return 0;
}

static void check_exit_code(pid_t child, int expected)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == expected, "status %#x",
	              (unsigned)status);
}

/* Use the tracker in this process and in a forked child at the same time, and free it. */
static void check_both_sides(struct rt_tracker *t)
{
	struct rt_metrics before, now;
	pid_t child;

	ck_assert_int_eq(rt_sample(t, &before, sizeof(before)), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(use_copy(t, &before));
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(rt_sample(t, &now, sizeof(now)), 0);
	check_exit_code(child, 0);
	ck_assert_int_eq(rt_sample(t, &now, sizeof(now)), 0);
	ck_assert_uint_eq(get_known(&now), get_known(&before));
	rt_tracker_free(t);
}

START_TEST(pid_tracker_after_fork_works_in_parent_and_child)
{
	struct rt_tracker *t;
	pid_t target = start_paused_child();

	ck_assert_int_eq(rt_pid_tracker_new(&t, target, NULL), 0);
	check_both_sides(t);
	kill_child(target);
}
END_TEST

START_TEST(system_tracker_after_fork_works_in_parent_and_child)
{
	struct rt_tracker *t;

	ck_assert_int_eq(rt_system_tracker_new(&t, NULL), 0);
	check_both_sides(t);
}
END_TEST

/* Returns the exit code of the child: 0 if the tree is the parent and this child. */
static int check_parent_is_root(struct rt_tracker *t, pid_t parent)
{
	struct rt_process rows[2];
	struct rt_metrics m;
	size_t count = 2;

	if (rt_sample(t, &m, sizeof(m)) || rt_tracker_processes(t, rows, sizeof(rows[0]), &count))
		return 1;
	if (count != 2 || rows[0].pid != parent || rows[1].pid != getpid())
		return 2;
	rt_tracker_free(t);
	return 0;
}

/* The tracker of the calling process stays with that process, also in a forked child. */
START_TEST(self_tracker_after_fork_still_tracks_the_parent)
{
	struct rt_tracker *t;
	struct rt_metrics m;
	pid_t parent = getpid(), child;

	ck_assert_int_eq(rt_pid_tracker_new(&t, parent, NULL), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes, 1);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(check_parent_is_root(t, parent));
	check_exit_code(child, 0);
	rt_tracker_free(t);
}
END_TEST

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	return poll(&end, 1, timeout_ms) == 1;
}

/* Returns the exit code of the child: 0 if its own descriptor has shown that the target ended. */
static int hear_of_end(struct rt_tracker *t, pid_t target)
{
	struct rt_metrics m;
	int fd = rt_tracker_fd(t);

	rt_sample(t, &m, sizeof(m));
	if (fd < 0 || kill_process(target, SIGKILL))
		return 1;
	if (!is_readable(fd, LONG_MS))
		return 2;
	rt_sample(t, &m, sizeof(m));
	return is_readable(fd, 0) ? 3 : 0;
}

/* The child samples before its parent looks: that must not clear what wakes the parent. */
START_TEST(tracker_descriptor_after_fork_wakes_parent_and_child)
{
	struct rt_tracker *t;
	struct rt_metrics m;
	pid_t target = start_paused_child(), child;
	int fd;

	ck_assert_int_eq(rt_pid_tracker_new(&t, target, NULL), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	fd = rt_tracker_fd(t);
	ck_assert_int_ge(fd, 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(hear_of_end(t, target));
	check_exit_code(child, 0);

	ck_assert(is_readable(fd, LONG_MS));

	ck_assert_int_eq(rt_tracker_fd(t), fd);
	ck_assert_int_eq(waitpid(target, NULL, 0), target);
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork");
	TCase *tcase = suite_case(suite, "trackers");

	tcase_add_test(tcase, pid_tracker_after_fork_works_in_parent_and_child);
	tcase_add_test(tcase, system_tracker_after_fork_works_in_parent_and_child);
	tcase_add_test(tcase, self_tracker_after_fork_still_tracks_the_parent);
	tcase_add_test(tcase, tracker_descriptor_after_fork_wakes_parent_and_child);
	return suite_run(suite);
}
