/* SPDX-License-Identifier: MIT */
/* The cache of ZFS (ARC) in the memory collector: its figures, and what of it is available. */
#include "collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_mem;

#define OURS (RT_HAS_MEMORY_AVAILABLE | RT_HAS_ZFS_ARC)
#define KIB UINT64_C(1024)

/* What is estimated from it: free memory, both kinds of file pages and reclaimable slab. */
#define WITHOUT_AVAILABLE                                                                          \
	"MemTotal: 16000001 kB\nMemFree: 1000003 kB\nActive(file): 4000027 kB\n"                   \
	"Inactive(file): 1900029 kB\nSReclaimable: 600000 kB\n"

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_mem, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

#define ARCSTATS "proc/spl/kstat/zfs/arcstats"
#define ARC(size, min)                                                                             \
	"9 1 0x01 147 39984 1405644657 619562335795635\n"                                          \
	"name                            type data\n"                                              \
	"c                               4    4000000000\n"                                        \
	"c_min                           4    " min "\n"                                           \
	"c_max                           4    8000000000\n"                                        \
	"size                            4    " size "\n"

static void write_meminfo(void)
{
	fixture_write(&f, "proc/meminfo", WITHOUT_AVAILABLE "MemAvailable: 9000007 kB\n");
}

/* The figures of meminfo, and how much of the ARC is available beside them. */
static void expect_available(uint64_t reclaimable_bytes)
{
	ck_assert_uint_eq(s.out.memory_available_bytes, (9000007 * KIB) + reclaimable_bytes);
	ck_assert_uint_eq(s.out.memory_used_bytes, (6999994 * KIB) - reclaimable_bytes);
}

START_TEST(arc_above_its_minimum_is_available)
{
	write_meminfo();
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	sampler_take(&s);
	ck_assert_uint_eq(s.out.valid & OURS, OURS);
	ck_assert_uint_eq(s.out.zfs_arc_bytes, 3000000011);
	ck_assert_uint_eq(s.out.zfs_arc_min_bytes, 1000000001);
	expect_available(2000000010);
}
END_TEST

START_TEST(arc_below_its_minimum_is_not_available)
{
	write_meminfo();
	fixture_write(&f, ARCSTATS, ARC("1000000001", "3000000011"));
	sampler_take(&s);
	ck_assert_uint_eq(s.out.valid & OURS, OURS);
	expect_available(0);
}
END_TEST

START_TEST(system_without_zfs_lacks_the_bit_alone)
{
	write_meminfo();
	sampler_take(&s);
	ck_assert_uint_eq(s.out.valid & OURS, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_int_eq(s.collector->error_of(s.state, RT_HAS_ZFS_ARC), -ENOENT);
	expect_available(0);
}
END_TEST

START_TEST(arc_is_added_to_an_estimate)
{
	fixture_write(&f, "proc/meminfo", WITHOUT_AVAILABLE);
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	sampler_take(&s);
	ck_assert_uint_eq(s.out.estimated & OURS, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.memory_available_bytes, (7500059 * KIB) + 2000000010);
}
END_TEST

/* The sum may not wrap either. */
START_TEST(arc_above_the_total_is_an_estimate)
{
	write_meminfo();
	fixture_write(&f, ARCSTATS, ARC("18446744073709551615", "0"));
	sampler_take(&s);
	ck_assert_uint_eq(s.out.estimated & OURS, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.memory_available_bytes, 16000001 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 0);
}
END_TEST

static void expect_estimate_for_want_of_arc(const struct sampler *from, int err)
{
	ck_assert_uint_eq(from->out.valid & OURS, 0);
	ck_assert_uint_eq(from->out.estimated & OURS, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_int_eq(from->collector->error_of(from->state, RT_HAS_MEMORY_AVAILABLE), err);
	ck_assert_int_eq(from->collector->error_of(from->state, RT_HAS_ZFS_ARC), err);
	ck_assert_uint_eq(from->out.memory_available_bytes, 9000007 * KIB);
}

START_TEST(arc_that_is_refused_makes_available_an_estimate)
{
	struct sampler refused;

	write_meminfo();
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	ck_assert_int_eq(sampler_open_with(&refused, &rti_sys_mem, f.root, &faults_ops, 0), 0);
	faults_on_open("arcstats", -EACCES);
	sampler_take(&refused);
	faults_on_open("arcstats", 0);
	expect_estimate_for_want_of_arc(&refused, -EACCES);
	sampler_close(&refused);
}
END_TEST

START_TEST(arc_that_is_malformed_makes_available_an_estimate)
{
	write_meminfo();
	fixture_write(&f, ARCSTATS, "size 4\nc_min 4 x\n");
	sampler_take(&s);
	expect_estimate_for_want_of_arc(&s, -EBADMSG);
}
END_TEST

/* As lxcfs shows it: meminfo is of a file system of its own, arcstats of proc. */
static bool is_arcstats(int fd)
{
	char link[64], path[256] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ck_assert_int_gt(readlink(link, path, sizeof(path) - 1), 0);
	return strstr(path, "arcstats") != NULL;
}

START_TEST(arc_of_the_machine_is_not_available_in_a_container)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler lxc;

	ops.is_in_proc = is_arcstats;
	write_meminfo();
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	ck_assert_int_eq(sampler_open_with(&lxc, &rti_sys_mem, f.root, &ops, 0), 0);
	sampler_take(&lxc);
	s.out = lxc.out;
	sampler_close(&lxc);
	ck_assert_uint_eq(s.out.valid & OURS, OURS);
	ck_assert_uint_eq(s.out.zfs_arc_bytes, 3000000011);
	expect_available(0);
}
END_TEST

START_TEST(zfs_that_is_loaded_later_is_found_within_a_second)
{
	write_meminfo();
	s.at_ns = 5000000000;
	sampler_take(&s);
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	s.at_ns += 999999999;
	sampler_take(&s);
	ck_assert_uint_eq(s.out.valid & OURS, RT_HAS_MEMORY_AVAILABLE);
	s.at_ns++;
	sampler_take(&s);
	ck_assert_uint_eq(s.out.valid & OURS, OURS);
	expect_available(2000000010);
}
END_TEST

START_TEST(arc_wanted_alone_reads_no_meminfo)
{
	fixture_write(&f, ARCSTATS, ARC("3000000011", "1000000001"));
	s.ctx.want = RT_HAS_ZFS_ARC;
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_ZFS_ARC);
	ck_assert_uint_eq(s.out.zfs_arc_bytes, 3000000011);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_mem_zfs");
	TCase *tcase = suite_case(suite, "fixtures");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, arc_above_its_minimum_is_available);
	tcase_add_test(tcase, arc_below_its_minimum_is_not_available);
	tcase_add_test(tcase, system_without_zfs_lacks_the_bit_alone);
	tcase_add_test(tcase, arc_is_added_to_an_estimate);
	tcase_add_test(tcase, arc_above_the_total_is_an_estimate);
	tcase_add_test(tcase, arc_that_is_refused_makes_available_an_estimate);
	tcase_add_test(tcase, arc_that_is_malformed_makes_available_an_estimate);
	tcase_add_test(tcase, arc_of_the_machine_is_not_available_in_a_container);
	tcase_add_test(tcase, zfs_that_is_loaded_later_is_found_within_a_second);
	tcase_add_test(tcase, arc_wanted_alone_reads_no_meminfo);
	return suite_run(suite);
}
