/* SPDX-License-Identifier: MIT */
/* Which lists of descriptors for a program are refused. */
#include "os/process/fd_map.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "descriptors.h"
#include "suite.h"

#define LIMIT 65536 /* as the header says of rt_command_opts.fds */

START_TEST(list_beyond_the_limit_is_einval)
{
	struct rt_fd *fds = calloc(LIMIT + 1, sizeof(*fds));

	for (int i = 0; i <= LIMIT; i++)
		fds[i] = (struct rt_fd){ .target = i, .source = -1 };
	ck_assert_int_eq(rti_fd_map_check(fds, 1000), 0);
	ck_assert_int_eq(rti_fd_map_check(fds, LIMIT + 1), -EINVAL);
	ck_assert_int_eq(rti_fd_map_check(fds, SIZE_MAX), -EINVAL);
	free(fds);
}
END_TEST

START_TEST(entry_that_is_out_of_range_or_twice_there_is_einval)
{
	struct rt_fd fds[] = { { .target = 3, .source = -2 }, { .target = 4, .source = 0 } };

	ck_assert_int_eq(rti_fd_map_check(fds, 2), 0);
	fds[1].target = 3;
	ck_assert_int_eq(rti_fd_map_check(fds, 2), -EINVAL);
	fds[1].target = -1;
	ck_assert_int_eq(rti_fd_map_check(fds, 2), -EINVAL);
	fds[1] = (struct rt_fd){ .target = 4, .source = -3 };
	ck_assert_int_eq(rti_fd_map_check(fds, 2), -EINVAL);
	ck_assert_int_eq(rti_fd_map_check(fds, 1), 0);
}
END_TEST

/* The copy stands where the program gets no descriptor of the list. */
START_TEST(copy_of_a_descriptor_avoids_the_targets)
{
	struct rt_fd fds[20];
	int before = count_descriptors(), copy;

	for (int i = 0; i < 20; i++)
		fds[i] = (struct rt_fd){ .target = 3 + i, .source = -1 };
	copy = rti_fd_map_copy(fds, 20, STDOUT_FILENO);
	ck_assert_int_ge(copy, 23);
	ck_assert_int_eq(count_descriptors(), before + 1);
	close(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fd_map");
	TCase *tcase = suite_case(suite, "fd_map");

	tcase_add_test(tcase, list_beyond_the_limit_is_einval);
	tcase_add_test(tcase, entry_that_is_out_of_range_or_twice_there_is_einval);
	tcase_add_test(tcase, copy_of_a_descriptor_avoids_the_targets);
	return suite_run(suite);
}
