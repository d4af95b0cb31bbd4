/* SPDX-License-Identifier: MIT */
/* Each file call of two samples fails, once or from then on, in every way: no figure is wrong and
 * valid, and nothing stays open. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "file_faults.h"
#include "subjects.h"
#include "suite.h"

#define CALLS_MAX 2000

/* Returns whether the call was reached. */
static bool run_with_fault(int subject, unsigned at, enum file_fault fault, int error,
                           struct subject_run *out)
{
	file_faults_begin(at, fault, error);
	subject_run(subject, &file_faults_ops, out);
	ck_assert_msg(file_faults_open_files() == 0, "%s: call %u (%s) fails with %d: %d stay open",
	              subject_name(subject), at, file_faults_name(), error,
	              file_faults_open_files());
	return file_faults_is_reached();
}

/* What is short must be named. A file that is refused or broken may be taken for one that is
 * missing. */
static bool is_explained(int open_error, int error)
{
	return open_error == 0 || open_error == error ||
	       ((error == -EIO || error == -EACCES) && open_error == -ENOENT);
}

/* If no call succeeds there is no sign of a GPU either, as on a machine that has none. So the tree
 * with GPUs, which is the last one, has one fault at a time. */
static void check_every_call(enum file_fault fault, int error)
{
	const int subjects = fault == FILE_FAULT_FROM_THEN_ON ? SUBJECTS - 1 : SUBJECTS;

	for (int subject = 0; subject < subjects; subject++) {
		static struct subject_run truth, run;
		unsigned at = 1;

		subject_mount(subject);
		run_with_fault(subject, 0, FILE_FAULT_NONE, 0, &truth);
		ck_assert_int_eq(truth.open_error, 0);
		ck_assert_uint_ne(truth.samples[1].valid, 0);
		for (; run_with_fault(subject, at, fault, error, &run); at++) {
			char what[256];

			snprintf(what, sizeof(what), "%s: call %u (%s) fails with %s",
			         subject_name(subject), at, file_faults_name(),
			         error ? strerror(-error) : "a short read");
			ck_assert_msg(is_explained(run.open_error, error), "%s: tracker: %s", what,
			              strerror(-run.open_error));
			subject_check(&truth, &run, what);
		}
		ck_assert_uint_gt(at, 20);
		ck_assert_uint_lt(at, CALLS_MAX);
	}
}

START_TEST(io_error_of_any_file_call_is_marked)
{
	check_every_call(FILE_FAULT_ONCE, -EIO);
	check_every_call(FILE_FAULT_FROM_THEN_ON, -EIO);
}
END_TEST

START_TEST(refusal_of_any_file_call_is_marked)
{
	check_every_call(FILE_FAULT_ONCE, -EACCES);
	check_every_call(FILE_FAULT_FROM_THEN_ON, -EACCES);
}
END_TEST

START_TEST(want_of_descriptors_in_any_file_call_is_marked)
{
	check_every_call(FILE_FAULT_ONCE, -EMFILE);
	check_every_call(FILE_FAULT_FROM_THEN_ON, -EMFILE);
	check_every_call(FILE_FAULT_ONCE, -ENFILE);
}
END_TEST

START_TEST(want_of_memory_in_any_file_call_is_marked)
{
	check_every_call(FILE_FAULT_ONCE, -ENOMEM);
	check_every_call(FILE_FAULT_FROM_THEN_ON, -ENOMEM);
}
END_TEST

/* It is read on. So nothing differs at all. */
START_TEST(short_read_of_any_file_changes_nothing)
{
	check_every_call(FILE_FAULT_SHORT_READ, 0);
}
END_TEST

/* What a run means then cannot be compared. E.g.: a process without `stat` is gone, and half a
 * number is another one. */
static void check_every_call_sanely(enum file_fault fault, int error)
{
	for (int subject = 0; subject < SUBJECTS; subject++) {
		static struct subject_run run;
		unsigned at = 1;

		subject_mount(subject);
		for (; run_with_fault(subject, at, fault, error, &run); at++) {
			char what[256];

			snprintf(what, sizeof(what), "%s: call %u (%s) fails with %d, fault %d",
			         subject_name(subject), at, file_faults_name(), error, fault);
			subject_check_sanity(&run, what);
		}
		ck_assert_uint_gt(at, 20);
		ck_assert_uint_lt(at, CALLS_MAX);
	}
}

static const int other_errors[] = { -ENOENT, -ESRCH,   -EPERM,  -EOPNOTSUPP,
	                            -ENODEV, -ENOTDIR, -EINVAL, -EBUSY };

START_TEST(any_other_error_of_any_file_call_leaves_figures_sane)
{
	check_every_call_sanely(FILE_FAULT_ONCE, other_errors[_i]);
	check_every_call_sanely(FILE_FAULT_FROM_THEN_ON, other_errors[_i]);
}
END_TEST

START_TEST(file_that_is_empty_torn_or_garbled_leaves_figures_sane)
{
	check_every_call_sanely((enum file_fault)_i, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every file call");
	TCase *tests = suite_case(suite, "calls");

	tcase_add_checked_fixture(tests, subjects_set_up, subjects_tear_down);
	tcase_add_test(tests, io_error_of_any_file_call_is_marked);
	tcase_add_test(tests, refusal_of_any_file_call_is_marked);
	tcase_add_test(tests, want_of_descriptors_in_any_file_call_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_file_call_is_marked);
	tcase_add_test(tests, short_read_of_any_file_changes_nothing);
	tcase_add_loop_test(tests, any_other_error_of_any_file_call_leaves_figures_sane, 0,
	                    sizeof(other_errors) / sizeof(other_errors[0]));
	tcase_add_loop_test(tests, file_that_is_empty_torn_or_garbled_leaves_figures_sane,
	                    FILE_FAULT_EMPTY, FILE_FAULT_GARBLED + 1);
	return suite_run(suite);
}
