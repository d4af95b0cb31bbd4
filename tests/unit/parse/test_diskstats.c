/* SPDX-License-Identifier: MIT */
/* Parser of /proc/diskstats. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

#define RECORDS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* The records of all calls. The call with the number stop_at returns STOP. */
struct disks {
	struct rti_diskstat disk[RECORDS_MAX];
	unsigned count, stop_at;
};

static int add_disk(void *arg, const struct rti_diskstat *disk)
{
	struct disks *disks = arg;

	ck_assert_uint_lt(disks->count, RECORDS_MAX);
	disks->disk[disks->count++] = *disk;
	return disks->count == disks->stop_at ? STOP : 0;
}

static int parse_disks(const char *text, struct disks *disks)
{
	struct exact copy = exact(text);

	return rti_parse_diskstats(copy.data, copy.len, add_disk, disks);
}

/* The figures that a kernel of that version prints after the name. */
static const char *const full_lines[] = {
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11\n",                         /* 14 fields, 2.6.25 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12\n",                      /* 15 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",             /* 18, 4.18 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",       /* 20, 5.5 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 x", /* a later kernel */
};

START_TEST(diskstats_line_of_any_kernel_parses_alike)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks(full_lines[_i], &disks), 0);
	ck_assert_uint_eq(disks.count, 1);
	ck_assert_uint_eq(disks.disk[0].major, 8);
	ck_assert_uint_eq(disks.disk[0].minor, 1);
	ck_assert_str_eq(disks.disk[0].name, "sda1");
	ck_assert_uint_eq(disks.disk[0].reads, 1);
	ck_assert_uint_eq(disks.disk[0].read_sectors, 3);
	ck_assert_uint_eq(disks.disk[0].writes, 5);
	ck_assert_uint_eq(disks.disk[0].write_sectors, 7);
	ck_assert_uint_eq(disks.disk[0].in_flight, 9);
	ck_assert_uint_eq(disks.disk[0].busy_ms, 10);
}
END_TEST

START_TEST(diskstats_with_seven_field_line_parses)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks("8 1 sda1 1 2 3 4\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n", &disks),
	                 0);
	ck_assert_uint_eq(disks.count, 2);
	ck_assert_uint_eq(disks.disk[0].reads, 1);
	ck_assert_uint_eq(disks.disk[0].read_sectors, 2);
	ck_assert_uint_eq(disks.disk[0].writes, 3);
	ck_assert_uint_eq(disks.disk[0].write_sectors, 4);
	ck_assert_uint_eq(disks.disk[0].in_flight, 0);
	ck_assert_uint_eq(disks.disk[0].busy_ms, 0);
	ck_assert_uint_eq(disks.disk[1].write_sectors, 7);
}
END_TEST

START_TEST(diskstats_empty_yields_no_disk)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks("", &disks), 0);
	ck_assert_uint_eq(disks.count, 0);
}
END_TEST

START_TEST(diskstats_with_callback_that_stops_returns_its_result)
{
	struct disks disks = { .stop_at = 1 };

	ck_assert_int_eq(parse_disks("8 0 a 1 2 3 4\n8 1 b 1 2 3 4\n", &disks), STOP);
	ck_assert_uint_eq(disks.count, 1);
}
END_TEST

static const char *const bad_disks[] = {
	"\n",
	"8",
	"8 1",
	"8 1 sda",
	"8 1 sda 1 2 3\n",
	"8 1 sda 1 2 3 4 5\n",
	"8 1 sda 1 2 3 4 5 6 7 8\n" /* 11 fields */,
	"8 1 sda 1 2 3 4 5 6 7 8 9 10\n",
	"8 1 sda 1 2 3 4 x\n",
	"8 1 sda 1 2 -3 4 5 6 7 8 9 10 11\n",
	"x 1 sda 1 2 3 4\n",
	"4294967296 1 sda 1 2 3 4\n",
	"3 0 8 hda 1 2 3 4 5 6 7 8 9 10 11\n",
	"8 0 sda 1 2 3 4\n\n8 1 sda1 1 2 3 4\n",
};

START_TEST(diskstats_malformed_is_refused)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks(bad_disks[_i], &disks), -EBADMSG);
}
END_TEST

START_TEST(diskstats_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(256), lines = exact_zero_lines(256);

	ck_assert_int_eq(rti_parse_diskstats(zeros.data, zeros.len, add_disk, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_diskstats(lines.data, lines.len, add_disk, NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_diskstats");
	TCase *tests = suite_case(suite, "diskstats");

	tcase_add_loop_test(tests, diskstats_line_of_any_kernel_parses_alike, 0,
	                    sizeof(full_lines) / sizeof(full_lines[0]));
	tcase_add_test(tests, diskstats_with_seven_field_line_parses);
	tcase_add_test(tests, diskstats_empty_yields_no_disk);
	tcase_add_test(tests, diskstats_with_callback_that_stops_returns_its_result);
	tcase_add_loop_test(tests, diskstats_malformed_is_refused, 0,
	                    sizeof(bad_disks) / sizeof(bad_disks[0]));
	tcase_add_test(tests, diskstats_of_nul_bytes_is_refused);
	return suite_run(suite);
}
