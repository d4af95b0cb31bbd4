/* SPDX-License-Identifier: MIT */
/* The plug-in in a child that was forked, which has a copy of it: the calls of the child say so and
 * change nothing for the parent. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/account/tree_account.h"
#include "bpf/watch/tree_watch.h"
#include "refusals.h"
#include "suite.h"

/* Each returns the number of its first expectation that does not hold, or 0. */
static int use_watch(struct rti_tree_watch *watch)
{
	static struct rti_watch_change changes[RTI_WATCH_ROOM_MIN];
	bool has_more;

	rti_watch_want(watch, getpid());
	if (rti_watch_search(watch, UINT64_MAX) != -ESTALE)
		return 1;
	if (rti_watch_take(watch, changes, RTI_WATCH_ROOM_MIN, &has_more) != -ESTALE)
		return 2;
	return has_more ? 3 : 0;
}

static void ignore_record(void *arg, const struct rti_account_record *record)
{
	(void)record;
	++*(int *)arg;
}

static int use_account(struct rti_tree_account *account)
{
	int records = 0;
	const struct rti_account_taker taker = { .on_record = ignore_record, .arg = &records };
	struct rti_account_totals totals;

	if (rti_account_read(account, &totals) != -ESTALE)
		return 1;
	if (rti_account_list_running(account, &taker) != -ESTALE)
		return 2;
	return records ? 3 : 0;
}

static void check_child(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

START_TEST(watch_of_a_forked_child_is_stale_and_that_of_the_parent_goes_on)
{
	struct rti_tree_watch *watch;
	pid_t child;

	ck_assert_int_eq(rti_watch_open(&watch), 0);
	rti_watch_want(watch, getpid());
	rti_watch_want(watch, INT32_MAX); /* above all pids */
	child = fork();
	if (child == 0)
		_exit(use_watch(watch));
	check_child(child);
	ck_assert_int_ge(rti_watch_search(watch, UINT64_MAX), 1);
	ck_assert(rti_watch_is_marked(watch, getpid()));
	ck_assert(!rti_watch_is_marked(watch, INT32_MAX));
	rti_watch_close(watch);
}
END_TEST

START_TEST(account_of_a_forked_child_is_stale_and_that_of_the_parent_goes_on)
{
	const struct rti_account_request request = { .wants_records = true, .root = getpid() };
	struct rti_account_totals totals;
	struct rti_tree_account *account;
	int err;
	pid_t child;

	ck_assert_int_eq(rti_account_open(&account, &request), 0);
	child = fork();
	if (child == 0)
		_exit(use_account(account));
	check_child(child);
	err = rti_account_read(account, &totals);
	ck_assert(err == 0 || err == -EAGAIN);
	rti_account_close(account);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("forked_use");
	TCase *tests = suite_case(suite, "uses");

	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf())
		return suite_skip("this system lets us load no BPF program");
	tcase_add_test(tests, watch_of_a_forked_child_is_stale_and_that_of_the_parent_goes_on);
	tcase_add_test(tests, account_of_a_forked_child_is_stale_and_that_of_the_parent_goes_on);
	return suite_run(suite);
}
