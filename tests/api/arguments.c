/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

bool is_filled(const void *data, size_t size)
{
	const unsigned char *bytes = data;

	while (size > 0 && bytes[size - 1] == FILLED)
		size--;
	return size == 0;
}

pid_t make_exited_pid(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

struct rt_tracker *new_self_tracker(void)
{
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), 0);
	return tracker;
}

struct rt_tracker *new_system_tracker(void)
{
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	return tracker;
}

struct rt_metrics sample(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return m;
}
