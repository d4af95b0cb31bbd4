/* SPDX-License-Identifier: MIT */
/* When members cannot be read at once. What can be is in tests/component/tree. */
#include "tree/sources/batch_read.h"

#include <stdlib.h>

#include "suite.h"
#include "tree/member/member.h"

#define ENOUGH_READS 4000

static struct rti_batch_reader reader;

static void ask(const void *arg, const struct rti_member *m, struct rti_batch_request *out)
{
	(void)arg;
	(void)m;
	(void)out;
	ck_abort_msg("there is no room for requests");
}

static void set_up(void)
{
	reader = (struct rti_batch_reader){ 0 };
}

static bool read_all(size_t count)
{
	return rti_batch_reader_read(&reader, NULL, count, ask, NULL);
}

static bool read_some(size_t count)
{
	const struct rti_index_set set = { .count = count };

	return rti_batch_reader_read_some(&reader, NULL, &set, ask, NULL);
}

/* This program has no plug-in beside it. It is not looked for again. */
START_TEST(reader_that_cannot_be_opened_is_unavailable)
{
	reader.text_reads = ENOUGH_READS;

	ck_assert(_i == 0 ? !read_all(100) : !read_some(100));

	ck_assert(reader.is_unavailable);
	ck_assert_uint_eq(reader.clock_reads, 100);
	ck_assert(!read_all(100));
	ck_assert_uint_eq(reader.clock_reads, 100);
}
END_TEST

START_TEST(reader_that_does_not_pay_yet_is_not_opened)
{
	reader.text_reads = _i == 0 ? 0 : ENOUGH_READS;
	ck_assert(!read_all(_i == 0 ? 100 : 9));
	ck_assert(!reader.is_unavailable);
}
END_TEST

/* There is room for the requests alone, or for the rows. The kernel is not asked: the pointer is
 * that of no reader. */
START_TEST(members_that_there_is_no_memory_for_are_not_asked_for)
{
	const size_t too_many = SIZE_MAX / sizeof(struct rti_batch_row);

	reader.batch = (struct rti_batch *)&reader;
	reader.requests = calloc(1, sizeof(*reader.requests));
	reader.rows = calloc(1, sizeof(*reader.rows));
	if (_i == 0)
		reader.request_capacity = too_many;
	else
		reader.row_capacity = SIZE_MAX;
	ck_assert(!read_all(_i == 0 ? too_many : SIZE_MAX));
	ck_assert(!read_some(_i == 0 ? too_many : SIZE_MAX));
	free(reader.requests);
	free(reader.rows);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_read");
	TCase *tcase = suite_case(suite, "refusals");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_loop_test(tcase, reader_that_cannot_be_opened_is_unavailable, 0, 2);
	tcase_add_loop_test(tcase, reader_that_does_not_pay_yet_is_not_opened, 0, 2);
	tcase_add_loop_test(tcase, members_that_there_is_no_memory_for_are_not_asked_for, 0, 2);
	return suite_run(suite);
}
