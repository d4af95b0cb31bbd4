/* SPDX-License-Identifier: MIT */
/* The memory that the library shares with its supervisor, as another process of the same user may
 * leave it: no length or offset in it leads out of it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/process_list.h"
#include "command/supervisor_client.h"
#include "os/protocol/shared_memory.h"
#include "suite.h"

static const struct rti_now now = { .monotonic_ns = 2, .boottime_ns = 2, .realtime_ns = 2 };

static struct rti_supervisor supervisor;
static struct rti_process_record *records; /* room for some */

#define ROOM 16
#define BYTES (RTI_SHARED_STATS_BYTES + ROOM * sizeof(struct rti_process_record))

static void set_up(void)
{
	void *memory;

	supervisor = (struct rti_supervisor){ .socket = -1, .memory = -1 };
	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &supervisor.memory), 0);
	supervisor.shared = memory;
	records = (void *)((char *)memory + RTI_SHARED_STATS_BYTES);
}

static void tear_down(void)
{
	munmap(supervisor.shared, BYTES);
	close(supervisor.memory);
}

static const struct {
	uint64_t records, text_bytes;
} lengths[] = {
	{ 0, 0 },
	{ ROOM + 1024, 0 }, /* beyond the end of the memory */
	{ RTI_RECORDS_MAX, 0 },
	{ RTI_RECORDS_MAX + 1, 0 },
	{ UINT64_MAX, 0 },
	{ UINT64_MAX / sizeof(struct rti_process_record) + 1, 0 },
	{ ROOM, 1 },
	{ ROOM, RTI_TEXT_BYTES_MAX },
	{ ROOM, RTI_TEXT_BYTES_MAX + 1 },
	{ ROOM, UINT64_MAX },
	{ ROOM, UINT64_MAX - RTI_TEXT_OFFSET + 2 },
};

START_TEST(lengths_beyond_the_memory_are_no_records)
{
	struct rti_process_records found;

	supervisor.shared->records = lengths[_i].records;
	supervisor.shared->text_bytes = lengths[_i].text_bytes;
	rti_supervisor_map_records(&supervisor, &found);
	ck_assert_ptr_null(found.records);
	ck_assert_ptr_null(found.texts);
	ck_assert_uint_eq(found.count, 0);
	ck_assert_uint_eq(found.text_bytes, 0);
	rti_supervisor_unmap_records(&found);
}
END_TEST

/* Read them as the outcome does. The sanitizers see a read beyond them. */
START_TEST(records_of_any_bytes_stay_within_their_texts)
{
	static const char texts[] = "some text";
	struct rti_process_list list = { .tick_ns = 10000000 };
	struct rti_process_records found;
	size_t len;

	memset(records, 0x80 + _i, ROOM * sizeof(*records));
	records[0].command.at = UINT32_MAX;
	records[0].command.len = sizeof(texts);
	records[1].command.at = sizeof(texts);
	records[1].command.len = 1;
	records[2].cwd.at = 0;
	records[2].cwd.len = sizeof(texts) + 1;
	supervisor.shared->records = ROOM;
	rti_supervisor_map_records(&supervisor, &found);
	ck_assert_uint_eq(found.count, ROOM);
	found.texts = texts;
	found.text_bytes = sizeof(texts);
	rti_process_list_add_records(&list, &found, &now);
	found.text_bytes = 0; /* as it was mapped */
	rti_supervisor_unmap_records(&found);
	rti_process_list_finish(&list, &now);
	for (size_t i = 0; i < list.count; i++) {
		ck_assert_ptr_null(rti_process_list_text(&list, i, RT_TEXT_COMMAND_LINE, &len));
		ck_assert_uint_eq(len, 0);
		ck_assert_ptr_null(rti_process_list_text(&list, i, RT_TEXT_CWD, &len));
		ck_assert_uint_le(strnlen(list.rows[i].shown.comm, 64), 16);
	}
	rti_process_list_free(&list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile_memory");
	TCase *memory = suite_case(suite, "memory");

	tcase_add_checked_fixture(memory, set_up, tear_down);
	tcase_add_loop_test(memory, lengths_beyond_the_memory_are_no_records, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(memory, records_of_any_bytes_stay_within_their_texts, 0, 4);
	return suite_run(suite);
}
