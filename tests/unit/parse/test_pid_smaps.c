/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parse/parse.h"
#include "suite.h"
#include "util/visit.h"

#define RANGES_MAX 8

struct ranges {
	struct rti_smaps_range r[RANGES_MAX];
	size_t count;
	size_t stop_at; /* 0: never */
};

static int keep_range(void *arg, const struct rti_smaps_range *range)
{
	struct ranges *out = arg;

	ck_assert_uint_lt(out->count, RANGES_MAX);
	out->r[out->count++] = *range;
	return out->count == out->stop_at ? RTI_STOP : RTI_CONTINUE;
}

static int parse_text(const char *text, struct ranges *out)
{
	struct exact copy = exact(text);

	return rti_parse_smaps(copy.data, copy.len, keep_range, out);
}

/* Between the values that count stand those that begin alike. */
static const char program_text[] =
    "55d0c0a00000-55d0c0a2f000 r--p 0001f000 fd:1a 1234567                    /usr/bin/a b\n"
    "Size:                188 kB\nKernelPageSize:        4 kB\nRss:                 180 kB\n"
    "Pss:                  31 kB\nPss_Dirty:             7 kB\nShared_Clean:        88 kB\n"
    "Referenced:          188 kB\nAnonymous:            12 kB\nKSM:                    5 kB\n"
    "LazyFree:              8 kB\nAnonHugePages:         9 kB\nShared_Hugetlb:     2048 kB\n"
    "Private_Hugetlb:    4096 kB\nSwap:                  3 kB\nVmFlags: rd mr mw me sd \n"
    "55d0c1b00000-55d0c1c00000 rw-p 00000000 00:00 0                          [heap]\n"
    "Rss:                 900 kB\nPss:                 900 kB\nAnonymous:           900 kB\n";

START_TEST(ranges_have_the_values_below_their_header)
{
	struct ranges out = { 0 };
	const struct rti_smaps_range *r = &out.r[0];

	ck_assert_int_eq(parse_text(program_text, &out), 0);
	ck_assert_uint_eq(out.count, 2);
	ck_assert_uint_eq(r->offset, 0x1f000);
	ck_assert_uint_eq(r->major, 0xfd);
	ck_assert_uint_eq(r->minor, 0x1a);
	ck_assert_uint_eq(r->inode, 1234567); /* the only number that is decimal */
	ck_assert_uint_eq(r->rss_kib, 180);
	ck_assert_uint_eq(r->pss_kib, 31);
	ck_assert_uint_eq(r->anon_kib, 12);
	ck_assert_uint_eq(r->lazy_free_kib, 8);
	ck_assert_uint_eq(r->shared_hugetlb_kib, 2048);
	ck_assert_uint_eq(r->private_hugetlb_kib, 4096);
	ck_assert(!r->is_shmem);
	r = &out.r[1];
	ck_assert_uint_eq(r->inode, 0);
	ck_assert_uint_eq(r->rss_kib, 900);
	ck_assert_uint_eq(r->anon_kib, 900);
	ck_assert_uint_eq(r->lazy_free_kib + r->shared_hugetlb_kib + r->private_hugetlb_kib, 0);
}
END_TEST

static const struct {
	const char *name;
	bool is_shmem;
} names[] = {
	{ "/dev/shm/pool", true },
	{ "/dev/shm/pool (deleted)", true },
	{ "/dev/zero (deleted)", true }, /* MAP_SHARED | MAP_ANONYMOUS */
	{ "/memfd:x (deleted)", true },
	{ "/SYSV00000000 (deleted)", true },
	{ "/dev/zero", false }, /* a private mapping of the device */
	{ "/dev/shm", false },
	{ "/home/dev/shm/x", false },
	{ "/anon_hugepage (deleted)", false },
	{ "/tmp/memfd:x", false },
	{ "[anon_shmem:x]", false },
	{ "", false },
};

START_TEST(shared_memory_shows_by_its_name)
{
	struct ranges out = { 0 };
	char text[256];

	snprintf(text, sizeof(text), "7f01-7f02 rw-s 00000000 00:01 5   %s\nRss: 4 kB\n",
	         names[_i].name);
	ck_assert_int_eq(parse_text(text, &out), 0);
	ck_assert_uint_eq(out.count, 1);
	ck_assert_msg(out.r[0].is_shmem == names[_i].is_shmem, "%s", names[_i].name);
	ck_assert_uint_eq(out.r[0].inode, 5);
}
END_TEST

/* The kernel has no ranges of a process that is ending. */
START_TEST(empty_text_has_no_range)
{
	struct ranges out = { 0 };

	ck_assert_int_eq(parse_text("", &out), 0);
	ck_assert_uint_eq(out.count, 0);
}
END_TEST

/* E.g.: [vsyscall] of kernels that leave its values out; or the text was cut. */
START_TEST(header_without_values_is_a_range_of_nothing)
{
	static const char *const texts[] = {
		"7f01-7f02 r--p 00000000 00:01 5 /a\n7f02-7f03 r--p 00001000 00:01 5 /a\n",
		"7f01-7f02 r--p 00000000 00:01 5 /a\n7f02-7f03 r--p 00001000 00:01 5",
	};
	struct ranges out = { 0 };

	ck_assert_int_eq(parse_text(texts[_i], &out), 0);
	ck_assert_uint_eq(out.count, 2);
	ck_assert_uint_eq(out.r[0].rss_kib, 0);
	ck_assert_uint_eq(out.r[1].offset, 0x1000);
	ck_assert_uint_eq(out.r[1].inode, 5);
}
END_TEST

START_TEST(callback_that_stops_gets_no_further_range)
{
	struct ranges out = { .stop_at = 1 };

	ck_assert_int_eq(parse_text(program_text, &out), 0);
	ck_assert_uint_eq(out.count, 1);
}
END_TEST

static const struct {
	const char *value;
	uint64_t rss_kib;
} values[] = {
	{ "Rss:4kB", 4 },
	{ "Rss:\t  4 kB", 4 },
	{ "Rss: 99999999999999999999999 kB", UINT64_MAX },
	{ "Rss: -4 kB", 0 },
	{ "Rss: kB", 0 },
	{ "Rss", 0 },
	{ "Rss 4 kB", 0 },
	{ "RssFile: 4 kB", 0 },
	{ "X", 0 },
};

START_TEST(value_that_is_no_number_counts_for_nothing)
{
	struct ranges out = { 0 };
	char text[256];

	snprintf(text, sizeof(text), "7f01-7f02 rw-s 00000000 00:01 5 /a\n%s\nPss: 3 kB",
	         values[_i].value);
	ck_assert_int_eq(parse_text(text, &out), 0);
	ck_assert_uint_eq(out.count, 1);
	ck_assert_msg(out.r[0].rss_kib == values[_i].rss_kib, "%s", values[_i].value);
	ck_assert_uint_eq(out.r[0].pss_kib, 3);
}
END_TEST

/* A long name reaches beyond any buffer of a line. */
START_TEST(name_of_any_length_is_skipped)
{
	struct ranges out = { 0 };
	char *text = malloc(200000), *at = text;

	ck_assert_ptr_nonnull(text);
	at += sprintf(at, "7f01-7f02 r--p 00000000 00:01 5 /");
	memset(at, 'x', 100000);
	at += 100000;
	sprintf(at, "\nRss: 8 kB\n");
	ck_assert_int_eq(parse_text(text, &out), 0);
	ck_assert_uint_eq(out.count, 1);
	ck_assert_uint_eq(out.r[0].rss_kib, 8);
	free(text);
}
END_TEST

/* As many digits as 64 bits have. */
START_TEST(addresses_and_offsets_of_64_bits_fit)
{
	struct ranges out = { 0 };

	ck_assert_int_eq(parse_text("ffffffffff600000-ffffffffffffffff --xp ffffffffffffffff 0:0 "
	                            "18446744073709551615 [x]\n",
	                            &out),
	                 0);
	ck_assert_uint_eq(out.r[0].offset, UINT64_MAX);
	ck_assert_uint_eq(out.r[0].inode, UINT64_MAX);
}
END_TEST

#define FIRST "7f01-7f02 r--p 00000000 00:01 5 /first\nRss: 4 kB\n"

/* ranges: how many come before what is refused. */
static const struct {
	const char *text;
	size_t ranges;
} refused[] = {
	{ "Rss: 4 kB\n7f01-7f02 r--p 00000000 00:01 5 /a\n", 0 },
	{ "VmFlags: rd\n", 0 },
	{ "\n", 0 },
	{ "7f01\n", 0 },
	{ "7f01-\n", 0 },
	{ "7f01-7f02", 0 },
	{ "7f01-7f02 r--p", 0 },
	{ "7f01-7f02 r--p 00000000", 0 },
	{ "7f01-7f02 r--p 00000000 00", 0 },
	{ "7f01-7f02 r--p 00000000 00:", 0 },
	{ "7f01-7f02 r--p 00000000 00:01", 0 },
	{ "7f01-7f02 r--p 00000000 00:01 x", 0 },
	{ "7f01-7f02 r--p 00000000 00.01 5\n", 0 },
	{ "7f01 7f02 r--p 00000000 00:01 5\n", 0 },
	{ "7f01-7g02 r--p 00000000 00:01 5\n", 0 },
	{ "7F01-7f02 r--p 00000000 00:01 5\n", 0 },
	{ "-7f02 r--p 00000000 00:01 5\n", 0 },
	{ "7f01-7f02 r--p 10000000000000000 00:01 5\n", 0 }, /* 65 bits */
	{ "10000000000000000-7f02 r--p 0 00:01 5\n", 0 },
	{ FIRST "\n", 1 },
	{ FIRST "Pss: 2 kB\nvalue: 3 kB\n", 1 },
	{ FIRST "7f02-7f03 r--p 00000000 00:0\n", 1 },
};

START_TEST(line_that_is_neither_header_nor_value_is_refused)
{
	struct ranges out = { 0 };

	ck_assert_msg(parse_text(refused[_i].text, &out) == -EBADMSG, "%s", refused[_i].text);
	ck_assert_msg(out.count == refused[_i].ranges, "%s", refused[_i].text);
	if (out.count)
		ck_assert_uint_eq(out.r[0].rss_kib, 4);
}
END_TEST

START_TEST(nul_lines_are_refused)
{
	struct exact zeros = exact_zero_lines(1024);
	struct ranges out = { 0 };

	ck_assert_int_eq(rti_parse_smaps(zeros.data, zeros.len, keep_range, &out), -EBADMSG);
	ck_assert_uint_eq(out.count, 0);
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array[0])))

int main(void)
{
	Suite *suite = suite_create("parse_pid_smaps");
	TCase *tests = suite_case(suite, "pid_smaps"), *hostile = suite_case(suite, "hostile");

	tcase_add_test(tests, ranges_have_the_values_below_their_header);
	tcase_add_loop_test(tests, shared_memory_shows_by_its_name, 0, COUNT_OF(names));
	tcase_add_test(tests, empty_text_has_no_range);
	tcase_add_loop_test(tests, header_without_values_is_a_range_of_nothing, 0, 2);
	tcase_add_test(tests, callback_that_stops_gets_no_further_range);
	tcase_add_test(tests, addresses_and_offsets_of_64_bits_fit);
	tcase_add_loop_test(hostile, value_that_is_no_number_counts_for_nothing, 0,
	                    COUNT_OF(values));
	tcase_add_test(hostile, name_of_any_length_is_skipped);
	tcase_add_loop_test(hostile, line_that_is_neither_header_nor_value_is_refused, 0,
	                    COUNT_OF(refused));
	tcase_add_test(hostile, nul_lines_are_refused);
	return suite_run(suite);
}
