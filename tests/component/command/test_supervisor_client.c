/* SPDX-License-Identifier: MIT */
/* What a start under a supervisor says if the program could not be placed, and what its handle
 * keeps: the test takes the place of the supervisor in the process of the caller. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "command/own_supervisor.h"
#include "command/supervisor_client.h"
#include "suite.h"

int __wrap_rti_own_supervisor_start(struct rti_supervisor *s,
                                    const struct rti_supervisor_opts *opts);

int __wrap_rti_own_supervisor_start(struct rti_supervisor *s,
                                    const struct rti_supervisor_opts *opts)
{
	(void)opts;
	s->started = (struct rti_report){ .kind = RTI_NOT_PLACED, .error = EBUSY, .pid = -1 };
	return 0;
}

/* E.g. in its cgroup. The caller may start it otherwise. */
START_TEST(program_that_cannot_be_placed_was_not_started)
{
	const struct rti_supervisor_opts opts = { .cgroup = "", .start_flags = "" };
	struct rti_supervisor s;

	ck_assert_int_eq(rti_supervisor_start(&s, &opts), -EOPNOTSUPP);
	ck_assert_int_eq(s.error, -EBUSY);
}
END_TEST

/* A host may have no standard input, so that either is descriptor 0. */
START_TEST(closed_handle_leaves_no_descriptor_open)
{
	struct rti_supervisor s = { .socket = _i == 0 ? STDIN_FILENO : -1,
		                    .memory = _i == 0 ? -1 : STDIN_FILENO };

	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	rti_supervisor_close_copy(&s);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ck_assert_int_eq(s.socket, -1);
	ck_assert_int_eq(s.memory, -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("supervisor_client");
	TCase *tcase = suite_case(suite, "start");

	tcase_add_test(tcase, program_that_cannot_be_placed_was_not_started);
	tcase_add_loop_test(tcase, closed_handle_leaves_no_descriptor_open, 0, 2);
	return suite_run(suite);
}
