/* SPDX-License-Identifier: MIT */
/* The start of a program in a cgroup that cannot be made or named: the cgroups are the test's. */
#include <errno.h>
#include <stdlib.h>

#include <rtrack/rtrack.h>

#include "os/cgroup/cgroup.h"
#include "suite.h"

/* What the system says of cgroups. */
static struct {
	bool is_missing;    /* this process is in none */
	uint32_t hierarchy; /* of the first directory: 0 is v2 */
	int make, describe;
} says;

static unsigned makes, makes_v1_alone, cleanups;

int __wrap_rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx);
int __wrap_rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                           const struct rti_context *ctx, unsigned flags);
int __wrap_rti_cgroup_describe(const struct rti_cgroup *group, char *out, size_t out_size);
void __wrap_rti_cgroup_remove_stale(const struct rti_cgroup *enclosing,
                                    const struct rti_context *ctx);

int __wrap_rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx)
{
	(void)ctx;
	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	if (says.is_missing)
		return -EOPNOTSUPP;
	group->dir = calloc(1, sizeof(*group->dir));
	ck_assert_ptr_nonnull(group->dir);
	group->dir->hierarchy = says.hierarchy;
	group->count = 1;
	return 0;
}

int __wrap_rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                           const struct rti_context *ctx, unsigned flags)
{
	(void)enclosing;
	(void)ctx;
	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	makes++;
	makes_v1_alone += (flags & RTI_CGROUP_V1_ALONE) != 0;
	return says.make;
}

int __wrap_rti_cgroup_describe(const struct rti_cgroup *group, char *out, size_t out_size)
{
	(void)group;
	(void)out;
	(void)out_size;
	return says.describe;
}

void __wrap_rti_cgroup_remove_stale(const struct rti_cgroup *enclosing,
                                    const struct rti_context *ctx)
{
	(void)enclosing;
	(void)ctx;
	cleanups++;
}

static const struct {
	bool is_missing;
	uint32_t hierarchy;
	int make, describe, err;
	unsigned makes, makes_v1_alone;
} cases[] = {
	/* a cgroup of v2 that may not be made: perhaps one of v1 alone */
	{ false, 0, -EACCES, 0, -EOPNOTSUPP, 2, 1 },
	{ false, 3, -EACCES, 0, -EOPNOTSUPP, 1, 0 },
	{ true, 0, -EOPNOTSUPP, 0, -EOPNOTSUPP, 1, 0 },
	/* what is short stays so */
	{ false, 0, -EMFILE, 0, -EMFILE, 1, 0 },
	/* its directories have no name that the supervisor could be given */
	{ false, 0, 0, -ENAMETOOLONG, -EOPNOTSUPP, 2, 1 },
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))

static int start(uint32_t accounting, struct rt_command **command)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = accounting,
		                              .argv = argv };

	return rt_command_start(command, &opts);
}

static void prepare(int i)
{
	says.is_missing = cases[i].is_missing;
	says.hierarchy = cases[i].hierarchy;
	says.make = cases[i].make;
	says.describe = cases[i].describe;
}

START_TEST(program_that_cannot_run_in_a_cgroup_is_not_started_if_that_was_asked_for)
{
	struct rt_command *command;

	prepare(_i);
	ck_assert_int_eq(start(RT_ACCOUNTING_CGROUP, &command), cases[_i].err);
	ck_assert_ptr_null(command);
	ck_assert_uint_eq(makes, cases[_i].makes);
	ck_assert_uint_eq(makes_v1_alone, cases[_i].makes_v1_alone);
	ck_assert_uint_eq(cleanups, 1);
}
END_TEST

START_TEST(program_that_cannot_run_in_a_cgroup_runs_without_one)
{
	struct rt_command *command;
	struct rt_outcome outcome;

	prepare(_i);
	ck_assert_int_eq(start(RT_ACCOUNTING_AUTO, &command), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT);
	ck_assert_int_eq(outcome.exit_code, 7);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_start");
	TCase *tcase = suite_case(suite, "starts");

	tcase_add_loop_test(
	    tcase, program_that_cannot_run_in_a_cgroup_is_not_started_if_that_was_asked_for, 0,
	    CASES);
	tcase_add_loop_test(tcase, program_that_cannot_run_in_a_cgroup_runs_without_one, 0, CASES);
	return suite_run(suite);
}
