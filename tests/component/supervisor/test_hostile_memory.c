/* SPDX-License-Identifier: MIT */
/* The memory that the supervisor shares with the library, as another process of the same user may
 * write to it where it cannot be sealed: the supervisor indexes nothing by what it reads there. */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/process_text.h"
#include "supervisor/record_list.h"

#define WHOLE_BYTES (RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX)
#define FIRST_PID 100

static struct rti_shared_stats *shared;
static int memory = -1;

static struct rti_process_record *record_at(size_t i)
{
	return (struct rti_process_record *)((char *)shared + RTI_SHARED_STATS_BYTES) + i;
}

/* A page that cannot be read lies behind the memory. */
static void map(size_t bytes)
{
	char *both;

	memory = memfd_create("stats", MFD_CLOEXEC);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(ftruncate(memory, RTI_SHARED_STATS_BYTES), 0);
	both =
	    mmap(NULL, bytes + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(both, MAP_FAILED);
	shared = mmap(both, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0);
	ck_assert_ptr_eq(shared, both);
}

static void set_up_list(void)
{
	map(WHOLE_BYTES);
	rts_process_text_begin(shared, &memory);
	ck_assert_int_eq(rts_record_list_begin(shared, &memory), 0);
}

static void tear_down_list(void)
{
	rts_record_list_end();
	munmap(shared, WHOLE_BYTES + 4096);
	close(memory);
}

static const uint64_t lengths[] = { 0, 1, 1024, RTI_RECORDS_MAX, UINT32_MAX, UINT64_MAX };

static void count(void *arg, struct rti_process_record *record)
{
	int *visits = arg;

	ck_assert_int_eq(record->pid, FIRST_PID + (*visits)++);
}

START_TEST(record_is_added_after_the_last_one_whatever_the_memory_says)
{
	const struct rti_process_record *third;
	int visits = 0;

	rts_record_add(FIRST_PID, 1, 7);
	rts_record_add(FIRST_PID + 1, 1, 7);
	shared->records = lengths[_i];

	third = rts_record_add(FIRST_PID + 2, 1, 7);

	ck_assert_ptr_eq(third, record_at(2));
	ck_assert_ptr_eq(rts_record_find(FIRST_PID + 2), third);
	ck_assert_uint_eq(shared->records, 3);
	shared->records = lengths[_i];
	rts_record_each(count, &visits);
	ck_assert_int_eq(visits, 3);
}
END_TEST

/* Returns the command line of a record, and that it is kept once. */
static const char *read_own_command(struct rti_process_record *record)
{
	rts_process_text_read(record);
	ck_assert_uint_gt(record->command.len, 0);
	return (const char *)shared + RTI_TEXT_OFFSET + record->command.at;
}

START_TEST(text_is_kept_after_the_last_one_whatever_the_memory_says)
{
	struct rti_process_record *first = rts_record_add(getpid(), 1, 7);
	struct rti_process_record *second = rts_record_add(getpid(), 1, 7);
	const char *text = read_own_command(first);
	uint64_t used = shared->text_bytes;

	shared->text_bytes = lengths[_i];

	ck_assert_int_eq(memcmp(read_own_command(second), text, first->command.len), 0);
	ck_assert_uint_eq(second->command.at, used);
	ck_assert_uint_eq(shared->text_bytes, 2 * used);
}
END_TEST

static const struct rti_record_text places[] = {
	{ UINT32_MAX, 0 },             /* the length that it has */
	{ RTI_TEXT_BYTES_MAX - 1, 0 }, /* ends behind the memory */
	{ RTI_TEXT_BYTES_MAX / 2, 0 }, /* nothing was allocated there */
	{ 0, UINT32_MAX },
	{ UINT32_MAX, UINT32_MAX },
};

START_TEST(text_at_an_impossible_place_is_read_anew)
{
	struct rti_process_record *record = rts_record_add(getpid(), 1, 7);
	struct rti_record_text good, place = places[_i];

	read_own_command(record);
	good = record->command;
	place.len = place.len ? place.len : good.len;
	record->command = place;

	read_own_command(record);

	ck_assert_uint_eq(record->command.len, good.len);
	ck_assert_uint_ne(record->command.at, place.at);
	ck_assert_uint_le(record->command.at + record->command.len, shared->text_bytes);
}
END_TEST

static void set_up_head(void)
{
	map(RTI_SHARED_STATS_BYTES);
	rts_cgroup_watch_begin(shared, "");
}

static void tear_down_head(void)
{
	rts_cgroup_watch_end();
	munmap(shared, RTI_SHARED_STATS_BYTES + 4096);
	close(memory);
}

static bool is_watched(void)
{
	if (!shared->has_cgroup_paths)
		suite_skip_test("this process is in no cgroup v2");
	return shared->has_cgroup_paths;
}

START_TEST(process_in_its_cgroup_has_not_left_whatever_the_memory_says)
{
	if (!is_watched())
		return;
	strcpy(shared->cgroup_of_supervisor, "/elsewhere");
	strcpy(shared->cgroup_of_program, "/elsewhere/below");

	rts_cgroup_watch_check(getpid());

	ck_assert_uint_eq(shared->left_cgroup, RTI_LEFT_NONE);
}
END_TEST

/* A string function would read on behind the memory. */
START_TEST(path_of_a_cgroup_without_an_end_is_not_read)
{
	char *from = shared->cgroup_of_program;

	if (!is_watched())
		return;
	memset(from, 'a', (size_t)((char *)shared + RTI_SHARED_STATS_BYTES - from));

	rts_cgroup_watch_check(getpid());

	ck_assert_uint_eq(shared->left_cgroup, RTI_LEFT_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile_memory");
	TCase *list = suite_case(suite, "list"), *head = suite_case(suite, "head");

	tcase_add_checked_fixture(list, set_up_list, tear_down_list);
	tcase_add_loop_test(list, record_is_added_after_the_last_one_whatever_the_memory_says, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(list, text_is_kept_after_the_last_one_whatever_the_memory_says, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(list, text_at_an_impossible_place_is_read_anew, 0,
	                    sizeof(places) / sizeof(places[0]));
	tcase_add_checked_fixture(head, set_up_head, tear_down_head);
	tcase_add_test(head, process_in_its_cgroup_has_not_left_whatever_the_memory_says);
	tcase_add_test(head, path_of_a_cgroup_without_an_end_is_not_read);
	return suite_run(suite);
}
