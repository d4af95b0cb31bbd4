/* SPDX-License-Identifier: MIT */
/* Each allocation of two samples fails, once or from then on: the call says so or its figures do,
 * and nothing stays allocated. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects.h"
#include "suite.h"

#define ALLOCATIONS_MAX 2000

/* The linker calls these instead of the functions in their names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
char *__real_strdup(const char *text);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

/* The allocation with this number, from 1 on, fails, and perhaps all after it. */
static struct {
	bool is_on, is_reached, is_lasting;
	unsigned at, calls;
	int blocks;
} plan;

static bool fails(void)
{
	if (!plan.is_on || (++plan.calls != plan.at && !(plan.is_lasting && plan.is_reached)))
		return false;
	plan.is_reached = true;
	errno = ENOMEM;
	return true;
}

static void *count(void *block)
{
	plan.blocks += plan.is_on && block;
	return block;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
	return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *block;

	if (fails())
		return NULL;
	block = __real_realloc(p, size);
	return p ? block : count(block);
}

void __wrap_free(void *p)
{
	plan.blocks -= plan.is_on && p;
	__real_free(p);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : count(__real_strdup(text));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
	int err = fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);

	if (err == 0)
		count(*out);
	return err;
}

/* Returns whether the allocation was reached. */
static bool run_with_fault(int subject, unsigned at, struct subject_run *out)
{
	plan.at = at;
	plan.calls = 0;
	plan.blocks = 0;
	plan.is_reached = false;
	plan.is_on = true;
	subject_run(subject, &rti_procfs_linux, out);
	plan.is_on = false;
	ck_assert_msg(plan.blocks == 0, "%s: allocation %u fails: %d blocks stay",
	              subject_name(subject), at, plan.blocks);
	return plan.is_reached;
}

static void check_allocations(int subject, bool is_lasting)
{
	static struct subject_run truth, run;
	unsigned at = 1;

	plan.is_lasting = is_lasting;
	run_with_fault(subject, 0, &truth);
	ck_assert_int_eq(truth.open_error, 0);
	ck_assert_uint_ne(truth.samples[1].valid, 0);
	for (; run_with_fault(subject, at, &run); at++) {
		char what[64];

		snprintf(what, sizeof(what), "%s: allocation %u fails", subject_name(subject), at);
		ck_assert_msg(run.open_error == 0 || run.open_error == -ENOMEM, "%s: %d", what,
		              run.open_error);
		subject_check(&truth, &run, what);
	}
	ck_assert_uint_gt(at, 3);
	ck_assert_uint_lt(at, ALLOCATIONS_MAX);
}

static void check_every_allocation(int subject)
{
	check_allocations(subject, false);
	check_allocations(subject, true);
}

START_TEST(want_of_memory_in_any_allocation_of_a_tree_is_marked)
{
	check_every_allocation(0);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_system_is_marked)
{
	check_every_allocation(1);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_cgroup_is_marked)
{
	check_every_allocation(2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every allocation");
	TCase *tests = suite_case(suite, "allocations");

	tcase_add_checked_fixture(tests, subjects_set_up, subjects_tear_down);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_tree_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_system_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_cgroup_is_marked);
	return suite_run(suite);
}
