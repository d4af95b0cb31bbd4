/* SPDX-License-Identifier: MIT */
/* Trackers without memory for their members. This file has the library's posix_memalign(3). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define CHILDREN 20 /* more than the first room for members */

static int memalign_error;

int posix_memalign(void **out, size_t alignment, size_t size)
{
	if (memalign_error)
		return memalign_error;
	*out = aligned_alloc(alignment, size);
	return *out ? 0 : ENOMEM;
}

static void tear_down(void)
{
	memalign_error = 0;
}

START_TEST(tracker_without_memory_closes_no_descriptor_of_the_caller)
{
	struct rt_tracker *tracker = NULL;

	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		ck_assert_int_eq(open("/dev/null", O_RDONLY), STDIN_FILENO);
	memalign_error = ENOMEM;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), -ENOMEM);

	ck_assert_ptr_null(tracker);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

static void do_nothing(void *unused)
{
	(void)unused;
}

START_TEST(members_that_find_no_memory_are_skipped_until_there_is_some)
{
	struct child children[CHILDREN];
	struct rt_tracker *tracker;
	struct rt_metrics m;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), 0);
	for (int i = 0; i < CHILDREN; i++)
		child_start(&children[i], do_nothing, NULL);
	memalign_error = ENOMEM;
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.valid & RT_HAS_PROCESSES, 0);
	ck_assert_uint_gt(m.members_skipped, 0);
	ck_assert_uint_eq(m.processes + m.members_skipped, CHILDREN + 1);

	memalign_error = 0;
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	ck_assert_uint_eq(m.members_skipped, 0);
	ck_assert_uint_eq(m.processes, CHILDREN + 1);
	rt_tracker_free(tracker);
	for (int i = CHILDREN; i-- > 0;) /* each holds descriptors of those before it */
		child_end(&children[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("out of memory");
	TCase *trackers = suite_case(suite, "trackers");

	tcase_add_checked_fixture(trackers, NULL, tear_down);
	tcase_add_test(trackers, tracker_without_memory_closes_no_descriptor_of_the_caller);
	tcase_add_test(trackers, members_that_find_no_memory_are_skipped_until_there_is_some);
	return suite_run(suite);
}
