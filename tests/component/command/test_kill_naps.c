/* SPDX-License-Identifier: MIT */
/* How long a kill waits for what does not end: the test takes the place of naps and samples. */
#include <time.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "tree/tree.h"

static bool is_killing;
static uint64_t napped_ns;

int __real_nanosleep(const struct timespec *nap, struct timespec *left);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);
int __real_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);
int __wrap_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);
void __real_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out);
void __wrap_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out);

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	if (!is_killing)
		return __real_nanosleep(nap, left);
	napped_ns += (uint64_t)nap->tv_nsec;
	return 0;
}

int __wrap_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size)
{
	return is_killing ? 0 : __real_rti_tracker_sample(t, out, out_size);
}

/* Some process runs on, as one that waits for a disk does. */
void __wrap_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out)
{
	__real_rti_tree_get_facts(tree, out);
	out->running = 1;
}

START_TEST(killed_member_that_does_not_end_is_waited_for_200_ms)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_POLL,
		                              .argv = argv };
	struct rt_command *command;
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_uint_eq(outcome.left_running, 1);

	is_killing = true;
	ck_assert_int_eq(rt_command_kill(command), 0);
	is_killing = false;

	ck_assert_uint_eq(napped_ns, 200000000);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kill_naps");
	TCase *tcase = suite_case(suite, "kill_naps");

	tcase_add_test(tcase, killed_member_that_does_not_end_is_waited_for_200_ms);
	return suite_run(suite);
}
