/* SPDX-License-Identifier: MIT */
/* When a command takes what BPF programs have counted: the programs are the test's. */
#include "command/bpf_account.h"

#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define NOW_NS (1000 * SECOND_NS)

static unsigned takes;

int __wrap_rti_account_take(struct rti_tree_account *account,
                            const struct rti_account_taker *taker);

int __wrap_rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	(void)account;
	(void)taker;
	takes++;
	return 0;
}

START_TEST(records_are_taken_when_they_are_due_and_not_before)
{
	static char programs; /* never looked into */
	struct rti_command_account account = { .programs = (void *)&programs };
	uint64_t next_ns = rti_command_account_take(&account, NOW_NS);

	ck_assert_uint_eq(takes, 1);
	ck_assert_uint_gt(next_ns, NOW_NS);
	ck_assert_uint_lt(next_ns, NOW_NS + 10 * SECOND_NS);
	ck_assert_uint_eq(rti_command_account_take(&account, next_ns - 1), next_ns);
	ck_assert_uint_eq(takes, 1);
	ck_assert_uint_gt(rti_command_account_take(&account, next_ns), next_ns);
	ck_assert_uint_eq(takes, 2);
}
END_TEST

START_TEST(records_of_another_accounting_method_are_never_due)
{
	struct rti_command_account account = { 0 };

	ck_assert_uint_eq(rti_command_account_take(&account, NOW_NS), UINT64_MAX);
	ck_assert_uint_eq(takes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_account");
	TCase *tcase = suite_case(suite, "bpf_account");

	tcase_add_test(tcase, records_are_taken_when_they_are_due_and_not_before);
	tcase_add_test(tcase, records_of_another_accounting_method_are_never_due);
	return suite_run(suite);
}
