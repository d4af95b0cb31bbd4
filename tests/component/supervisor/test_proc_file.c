/* SPDX-License-Identifier: MIT */
/* What the supervisor notes of its own reads. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"
#include "supervisor/proc_file.h"

static const char *const texts[] = { "", "a", "abc", "0123456" };

/* The kernel counts the bytes that a call has read. The last byte of the space is for the NUL. */
START_TEST(read_is_noted_with_its_length)
{
	struct rti_shared_stats *shared = calloc(1, RTI_SHARED_STATS_BYTES);
	const size_t len = strlen(texts[_i]);
	char path[256], text[8];
	struct fixture f;

	ck_assert_ptr_nonnull(shared);
	fixture_new(&f);
	fixture_write(&f, "file", texts[_i]);
	snprintf(path, sizeof(path), "%s/file", f.root);

	ck_assert_int_eq(rts_read_file(shared, path, text, sizeof(text)), (ssize_t)len);

	ck_assert_str_eq(text, texts[_i]);
	ck_assert_uint_eq(shared->own_io[0], len);
	ck_assert_uint_eq(shared->own_io[RTS_READ_CALLS], 1);
	fixture_free(&f);
	free(shared);
}
END_TEST

/* E.g.: the caller is the supervisor, and has no standard input. */
START_TEST(read_through_any_descriptor_leaves_none_open)
{
	struct rti_shared_stats *shared = calloc(1, RTI_SHARED_STATS_BYTES);
	char text[8];

	ck_assert_ptr_nonnull(shared);
	close(STDIN_FILENO);
	ck_assert_int_gt(rts_read_file(shared, "/proc/self/stat", text, sizeof(text)), 0);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ck_assert_uint_eq(shared->own_io[RTS_READ_CALLS], 1);
	free(shared);
}
END_TEST

START_TEST(file_that_is_missing_is_no_read)
{
	struct rti_shared_stats *shared = calloc(1, RTI_SHARED_STATS_BYTES);
	char text[8] = "before";

	ck_assert_ptr_nonnull(shared);
	ck_assert_int_lt(rts_read_file(shared, "/nowhere/file", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(shared->own_io[0], 0);
	ck_assert_uint_eq(shared->own_io[RTS_READ_CALLS], 0);
	free(shared);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proc_file");
	TCase *tcase = suite_case(suite, "proc_file");

	tcase_add_loop_test(tcase, read_is_noted_with_its_length, 0,
	                    sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tcase, read_through_any_descriptor_leaves_none_open);
	tcase_add_test(tcase, file_that_is_missing_is_no_read);
	return suite_run(suite);
}
