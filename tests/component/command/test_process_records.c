/* SPDX-License-Identifier: MIT */
/* The process records in memory that a supervisor shares. Another process of the same user can
 * write to it, so the lengths in it are not trusted. */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/supervisor_client.h"
#include "suite.h"

/* Whether there are records to read for what the memory claims. */
static bool has_records(uint64_t records, uint64_t text_bytes)
{
	struct rti_shared_stats stats = { .records = records, .text_bytes = text_bytes };
	struct rti_supervisor supervisor = { .shared = &stats,
		                             .memory = memfd_create("test", MFD_CLOEXEC) };
	struct rti_process_records out;
	bool has_some;

	ck_assert_int_ge(supervisor.memory, 0);
	ck_assert_int_eq(ftruncate(supervisor.memory, RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX), 0);
	rti_supervisor_map_records(&supervisor, &out);
	has_some = out.records != NULL;
	ck_assert_uint_eq(out.count, has_some ? records : 0);
	rti_supervisor_unmap_records(&out);
	close(supervisor.memory);
	return has_some;
}

START_TEST(records_beyond_the_limit_are_not_read)
{
	ck_assert(!has_records(0, 0));
	ck_assert(has_records(1, 0));
	ck_assert(has_records(RTI_RECORDS_MAX, 0));
	ck_assert(!has_records(RTI_RECORDS_MAX + 1, 0));
	ck_assert(!has_records(UINT64_MAX, 0));
}
END_TEST

START_TEST(texts_beyond_the_limit_are_not_read)
{
	ck_assert(has_records(1, RTI_TEXT_BYTES_MAX));
	ck_assert(!has_records(1, RTI_TEXT_BYTES_MAX + 1));
	ck_assert(!has_records(1, UINT64_MAX));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_records");
	TCase *tcase = suite_case(suite, "process_records");

	tcase_add_test(tcase, records_beyond_the_limit_are_not_read);
	tcase_add_test(tcase, texts_beyond_the_limit_are_not_read);
	return suite_run(suite);
}
