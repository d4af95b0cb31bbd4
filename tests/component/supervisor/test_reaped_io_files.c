/* SPDX-License-Identifier: MIT */
/* The I/O of children that this process reaps, by each way in which their files may read. The files
 * are the test's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/proc_file.h"
#include "supervisor/reaped_io.h"

#define ZOMBIE 42
#define WRITTEN 3 /* write_bytes */

/* Bytes that io says were written; GONE: there is no file; TORN: it has no such line. */
enum { GONE = -1, TORN = -2, DISTINCT = -3 }; /* DISTINCT: each line has a number of its own */

static struct {
	int of_zombie, of_self, of_self_later;
	int threads; /* in stat of this process; GONE, TORN */
	bool is_later;
} files;

/* The linker calls this instead of rts_read_pid_file(). */
ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, int32_t pid, const char *name,
                                 char *text, size_t size);

static ssize_t write_io(int written, char *text, size_t size)
{
	if (written == GONE)
		return -ESRCH;
	if (written == TORN)
		return snprintf(text, size, "rchar: 1\n");
	if (written == DISTINCT)
		return snprintf(text, size,
		                "rchar: 10\nwchar: 20\nsyscr: 30\nsyscw: 40\nread_bytes: 50\n"
		                "write_bytes: 60\ncancelled_write_bytes: 70\n");
	return snprintf(text, size,
	                "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\n"
	                "write_bytes: %d\ncancelled_write_bytes: 0\n",
	                written);
}

static ssize_t write_stat(char *text, size_t size)
{
	if (files.threads == GONE)
		return -ESRCH;
	if (files.threads == TORN)
		return snprintf(text, size, "100 (x");
	return snprintf(text, size, "100 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 7 0 0\n",
	                files.threads);
}

ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, int32_t pid, const char *name,
                                 char *text, size_t size)
{
	(void)shared;
	if (strcmp(name, "stat") == 0)
		return write_stat(text, size);
	if (pid == ZOMBIE)
		return write_io(files.of_zombie, text, size);
	ck_assert_int_eq(pid, getpid());
	return write_io(files.is_later ? files.of_self_later : files.of_self, text, size);
}

static const struct {
	int of_zombie, of_self, of_self_later, threads;
	uint64_t sum;
	bool has_unread;
} cases[] = {
	{ 500, 0, 0, 1, 500, false },
	/* the kernel does not show that of the zombie: this process's own grows by it */
	{ GONE, 100, 700, 1, 600, false },
	{ TORN, 100, 700, 1, 600, false },
	/* other threads may have made it grow */
	{ GONE, 100, 700, 2, 0, true },
	{ GONE, 100, 700, GONE, 0, true },
	{ GONE, 100, 700, TORN, 0, true },
	/* its own cannot be read, before or after */
	{ GONE, GONE, 700, 1, 0, true },
	{ GONE, 100, GONE, 1, 0, true },
	{ GONE, 100, TORN, 1, 0, true },
};

START_TEST(io_of_a_reaped_child_is_counted_or_noted_as_unread)
{
	struct rts_reaped_io io = { 0 };

	files.of_zombie = cases[_i].of_zombie;
	files.of_self = cases[_i].of_self;
	files.of_self_later = cases[_i].of_self_later;
	files.threads = cases[_i].threads;
	rts_reaped_io_before(&io, NULL, ZOMBIE);
	rts_reaped_io_after(&io, NULL, false);
	ck_assert_uint_eq(io.sum[WRITTEN], 0); /* another thread has reaped it */
	ck_assert(!io.has_unread);
	files.is_later = true;
	rts_reaped_io_after(&io, NULL, true);
	ck_assert_uint_eq(io.sum[WRITTEN], cases[_i].sum);
	ck_assert_int_eq(io.has_unread, cases[_i].has_unread);
}
END_TEST

START_TEST(each_line_of_io_is_added_to_its_own_counter)
{
	static const uint64_t sums[RTS_IO_COUNTERS] = { 20, 40, 100, 120, 140, 60, 80 };
	struct rts_reaped_io io = { 0 };

	files.of_zombie = DISTINCT;
	for (int i = 0; i < 2; i++) {
		rts_reaped_io_before(&io, NULL, ZOMBIE);
		rts_reaped_io_after(&io, NULL, true);
	}
	for (int i = 0; i < RTS_IO_COUNTERS; i++)
		ck_assert_uint_eq(io.sum[i], sums[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reaped_io_files");

	tcase_add_loop_test(suite_case(suite, "files"),
	                    io_of_a_reaped_child_is_counted_or_noted_as_unread, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(suite_case(suite, "counters"), each_line_of_io_is_added_to_its_own_counter);
	return suite_run(suite);
}
