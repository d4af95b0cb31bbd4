/* SPDX-License-Identifier: MIT */
#include "account_fixture.h"

#include <errno.h>
#include <string.h>

struct account_fixture fix;

void do_nothing(void *arg)
{
	(void)arg;
}

static void set_up(void)
{
	memset(&fake_account, 0, sizeof(fake_account));
	fake_account.totals = (struct rti_account_totals){
		.use = { .cpu_ns = CPU_NS, .user_part_ns = 1, .system_part_ns = 1 },
		.is_whole = true,
		.has_all = true,
		.running = 1,
		.begun = 5,
		.freed = 2,
		.found = 3,
		.processes = CHILDREN,
		.has_io = true,
	};
	fake_account.subscribe_error = -EPERM;
	fix.tracker = NULL;
	for (int i = 0; i < CHILDREN; i++)
		child_start(&fix.children[i], do_nothing, NULL);
}

/* A child has inherited what the ones before it wait for. */
static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	for (int i = CHILDREN; i-- > 0;)
		if (fix.children[i].pid)
			child_end(&fix.children[i]);
	ck_assert(fake_account_is_closed());
}

TCase *add_account_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

int try_to_track(void)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_PROCESS_EVENTS,
		                      .want = WANT };

	return rt_pid_tracker_new(&fix.tracker, fix.children[0].pid, &opts);
}

void track(void)
{
	ck_assert_int_eq(try_to_track(), 0);
}

struct rt_metrics take_sample(void)
{
	struct rt_metrics m;
	int err;

	fake_account.reads = fake_account.naps = 0;
	fake_account.is_sampling = true;
	err = rt_sample(fix.tracker, &m, sizeof(m));
	fake_account.is_sampling = false;
	ck_assert_int_eq(err, 0);
	return m;
}

void fork_event(int child)
{
	fake_account_add_event(RTI_ACCOUNT_FORK, fix.children[child].pid);
}

void exit_event(int child)
{
	fake_account_add_event(RTI_ACCOUNT_EXIT, fix.children[child].pid);
}

void end_child(int child)
{
	child_end(&fix.children[child]);
	fix.children[child].pid = 0;
}
