/* SPDX-License-Identifier: MIT */
/* The disk collector: disks that go, come back, take the place of others or begin to count anew. */
#include "collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_disk;

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_disk, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

static void make_dir(const char *name, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/block/%s/%s", name, file);
	fixture_mkdir(&f, path);
}

static void make_disk(const char *name)
{
	make_dir(name, "device");
	make_dir(name, "slaves");
}

static void make_partition(const char *name)
{
	make_dir(name, "partition");
}

static void make_virtual(const char *name)
{
	make_dir(name, "slaves");
}

static const struct rt_disk *find_row(const char *name)
{
	size_t count;
	const struct rt_disk *row = sampler_rows(&s, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].name, name) == 0)
			return &row[i];
	ck_abort_msg("no row for %s", name);
	return NULL;
}

static void expect_flags(const char *name, uint32_t flags)
{
	ck_assert_msg(find_row(name)->flags == flags, "%s has flags %u and not %u", name,
	              find_row(name)->flags, flags);
}

#define FIGURES " 1 0 10 0 1 0 20 0 0 0 0\n"

static void write_two(const char *sda, const char *sdb)
{
	fixture_printf(&f, "proc/diskstats", "%s%s", sda, sdb);
}

#define SDA(sectors) "8 0 sda 1 0 " #sectors " 0 0 0 0 0 0 0 0\n"
#define SDB(sectors) "8 16 sdb 1 0 " #sectors " 0 0 0 0 0 0 0 0\n"

static void sample_marked(uint64_t valid, uint64_t sectors)
{
	ck_assert_int_eq(sampler_take(&s), valid ? 0 : -ENODEV);
	ck_assert_uint_eq(s.out.valid, valid);
	ck_assert_uint_eq(s.out.partial, RT_HAS_DISK & ~valid);
	ck_assert_uint_eq(s.out.estimated, 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, sectors * 512);
}

static void sample_two(const char *sda, const char *sdb, uint64_t valid, uint64_t sectors)
{
	write_two(sda, sdb);
	sample_marked(valid, sectors);
}

START_TEST(disk_that_disappears_stays_in_the_total)
{
	size_t count;

	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1000), SDB(10), RT_HAS_DISK, 1010);
	sample_two("", SDB(11), 0, 1011);
	ck_assert_uint_eq(s.out.disks, 1);
	sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 1);
	sample_two("", SDB(12), RT_HAS_DISK, 1012);
}
END_TEST

START_TEST(disk_that_returns_starts_from_what_it_shows)
{
	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1000), SDB(10), RT_HAS_DISK, 1010);
	sample_two("", SDB(11), 0, 1011);
	sample_two(SDA(1005), SDB(11), 0, 1011);
	ck_assert_uint_eq(find_row("sda")->read_bytes, 1005 * 512);
	sample_two(SDA(1006), SDB(11), RT_HAS_DISK, 1012);
}
END_TEST

START_TEST(disk_that_returns_from_zero_counts_on_top_in_its_row)
{
	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1005), SDB(11), RT_HAS_DISK, 1016);
	sample_two("", SDB(11), 0, 1016);
	sample_two(SDA(3), SDB(11), 0, 1016);
	ck_assert_uint_eq(find_row("sda")->read_bytes, 1008 * 512);
}
END_TEST

START_TEST(disk_of_same_name_and_other_number_starts_anew)
{
	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1008), SDB(11), RT_HAS_DISK, 1019);
	sample_two("8 32 sda 1 0 7 0 0 0 0 0 0 0 0\n", SDB(11), 0, 1019);
	ck_assert_uint_eq(find_row("sda")->read_bytes, 7 * 512);
}
END_TEST

/* Minors are given out again. E.g.: 259:0 is a disk, and a partition of another one later. */
START_TEST(disk_of_same_number_and_other_name_starts_anew)
{
	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1008), SDB(11), RT_HAS_DISK, 1019);
	sample_two("8 0 sdc 1 0 7000 0 0 0 0 0 0 0 0\n", SDB(12), 0, 1020);
	ck_assert_uint_eq(find_row("sdc")->read_bytes, 7000 * 512);
}
END_TEST

/* Another disk took its place between two samples. */
START_TEST(disk_counter_that_falls_began_again)
{
	make_disk("sda");
	make_disk("sdb");
	sample_two(SDA(1000), SDB(11), RT_HAS_DISK, 1011);
	sample_two(SDA(7), SDB(11), 0, 1018);
	sample_two(SDA(8), SDB(11), RT_HAS_DISK, 1019);
}
END_TEST

/* A loop device that is attached again has a new medium (diskseq) and its old counters. */
START_TEST(disk_with_another_medium_goes_on)
{
	make_disk("sda");
	fixture_write(&f, "sys/class/block/sda/diskseq", "9\n");
	sample_two(SDA(1000), "", RT_HAS_DISK, 1000);
	fixture_write(&f, "sys/class/block/sda/diskseq", "10\n");
	sample_two(SDA(1007), "", RT_HAS_DISK, 1007);
}
END_TEST

/* 2 TB were counted again where a sum of parts showed some KB less. */
START_TEST(disk_counter_that_falls_a_little_is_not_counted_again)
{
	make_disk("sda");
	sample_two(SDA(4000000000), "", RT_HAS_DISK, UINT64_C(4000000000));
	sample_two(SDA(3999999992), "", 0, UINT64_C(4000000000));
	sample_two(SDA(4000000008), "", RT_HAS_DISK, UINT64_C(4000000008));
}
END_TEST

/* Sectors have 64 bits there. */
START_TEST(disk_counter_of_64_bits_does_not_wrap)
{
	make_disk("sda");
	sample_two(SDA(4294967290), "", RT_HAS_DISK, UINT64_C(4294967290));
	sample_two(SDA(4), "", 0, UINT64_C(4294967294));
}
END_TEST

START_TEST(disk_counter_of_a_kernel_of_32_bits_wraps)
{
	s.collector->close(s.state, &s.ctx);
	memset(s.state, 0, s.collector->state_size);
	s.platform.has_32_bit_kernel = true;
	ck_assert_int_eq(s.collector->open(s.state, &s.ctx), 0);
	make_disk("sda");
	sample_two(SDA(4294967290), "", RT_HAS_DISK, UINT64_C(4294967290));
	sample_two(SDA(4), "", RT_HAS_DISK, UINT64_C(4294967300));
}
END_TEST

START_TEST(device_outside_the_total_marks_nothing)
{
	make_disk("sda");
	make_virtual("loop0");
	make_virtual("loop1");
	sample_two(SDA(1000), "7 0 loop0 1 0 500 0 0 0 0 0 0 0 0\n", RT_HAS_DISK, 1000);
	sample_two(SDA(1001), "7 0 loop0 1 0 5 0 0 0 0 0 0 0 0\n", RT_HAS_DISK, 1001);
	sample_two(SDA(1002), "7 1 loop1 1 0 5 0 0 0 0 0 0 0 0\n", RT_HAS_DISK, 1002);
}
END_TEST

/* A device that returns may be of another kind. */
START_TEST(disk_that_returns_is_classified_again)
{
	make_disk("sda");
	make_disk("sdb");
	write_two("8 0 sda" FIGURES, "8 16 sdb" FIGURES);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_flags("sda", RT_ITEM_IN_TOTAL);

	write_two("", "8 16 sdb" FIGURES);
	sample_marked(0, 20);

	make_partition("sda");
	write_two("8 0 sda" FIGURES, "8 16 sdb" FIGURES);
	sample_marked(RT_HAS_DISK, 20);
	expect_flags("sda", RT_ITEM_PARTITION);
}
END_TEST

/* The kernel counts the milliseconds in 32 bits. */
START_TEST(busy_time_that_wraps_keeps_growing)
{
	make_disk("sda");
	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 0 0 0 0 0 0 0 4294967290 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);

	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 0 0 0 0 0 0 0 4 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_busy_ns, UINT64_C(4294967300) * 1000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_disk_changes");
	TCase *changes = suite_case(suite, "changes");

	tcase_add_checked_fixture(changes, set_up, tear_down);
	tcase_add_test(changes, disk_that_disappears_stays_in_the_total);
	tcase_add_test(changes, disk_that_returns_starts_from_what_it_shows);
	tcase_add_test(changes, disk_that_returns_from_zero_counts_on_top_in_its_row);
	tcase_add_test(changes, disk_of_same_name_and_other_number_starts_anew);
	tcase_add_test(changes, disk_of_same_number_and_other_name_starts_anew);
	tcase_add_test(changes, disk_counter_that_falls_began_again);
	tcase_add_test(changes, disk_with_another_medium_goes_on);
	tcase_add_test(changes, disk_counter_that_falls_a_little_is_not_counted_again);
	tcase_add_test(changes, disk_counter_of_64_bits_does_not_wrap);
	tcase_add_test(changes, disk_counter_of_a_kernel_of_32_bits_wraps);
	tcase_add_test(changes, device_outside_the_total_marks_nothing);
	tcase_add_test(changes, disk_that_returns_is_classified_again);
	tcase_add_test(changes, busy_time_that_wraps_keeps_growing);
	return suite_run(suite);
}
