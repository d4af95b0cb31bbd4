/* SPDX-License-Identifier: MIT */
/* The memory collector: /proc/meminfo of fixtures, and the running system. */
#include "collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "faults.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_mem;

#define ALL (RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP | RT_HAS_HUGEPAGES)
#define KIB UINT64_C(1024)

/* The values are not round and all different, so that none can be mistaken for another. */
#define HEAD "MemTotal:       16000001 kB\nMemFree:         1000003 kB\n"
#define AVAILABLE "MemAvailable:    9000007 kB\n"
#define MIDDLE                                                                                     \
	"Buffers:          500009 kB\nCached:          4000011 kB\nSwapCached:          1013 kB\n" \
	"Active:          6000017 kB\nInactive:        3000019 kB\nActive(anon):    2000021 kB\n"  \
	"Inactive(anon):   100023 kB\nActive(file):    4000027 kB\nInactive(file):  2900029 kB\n"
#define SWAP "SwapTotal:       8000031 kB\nSwapFree:        7000033 kB\n"
#define HUGE_PAGES(total, free) "HugePages_Total: " total "\nHugePages_Free: " free "\n"
#define NO_HUGE_PAGES HUGE_PAGES("0", "0") "Hugepagesize: 2048 kB\nHugetlb: 0 kB\n"
#define TAIL                                                                                       \
	"AnonPages:       2050037 kB\nMapped:           300039 kB\nShmem:            200041 kB\n"  \
	"Slab:             900043 kB\nSReclaimable:     600047 kB\nSUnreclaim:       300049 "      \
	"kB\n" NO_HUGE_PAGES

static struct fixture f;
static struct sampler s;

/* Returns the first error, but of the ARC, which few systems have. */
static int take(struct sampler *from)
{
	int err = 0;

	sampler_take(from);
	for (uint64_t left = ALL; left && err == 0; left &= left - 1)
		err = from->collector->error_of(from->state, left & -left);
	return err;
}

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

static void expect_all_figures(const struct rt_metrics *m)
{
	ck_assert_uint_eq(m->memory_total_bytes, 16000001 * KIB);
	ck_assert_uint_eq(m->memory_free_bytes, 1000003 * KIB);
	ck_assert_uint_eq(m->memory_buffers_bytes, 500009 * KIB);
	ck_assert_uint_eq(m->memory_cached_bytes, 4000011 * KIB);
	ck_assert_uint_eq(m->memory_cached_slab_bytes, 4600058 * KIB);
	ck_assert_uint_eq(m->memory_slab_reclaimable_bytes, 600047 * KIB);
	ck_assert_uint_eq(m->memory_slab_unreclaimable_bytes, 300049 * KIB);
	ck_assert_uint_eq(m->memory_active_bytes, 6000017 * KIB);
	ck_assert_uint_eq(m->memory_inactive_bytes, 3000019 * KIB);
	ck_assert_uint_eq(m->memory_active_anon_bytes, 2000021 * KIB);
	ck_assert_uint_eq(m->memory_inactive_anon_bytes, 100023 * KIB);
	ck_assert_uint_eq(m->memory_active_file_bytes, 4000027 * KIB);
	ck_assert_uint_eq(m->memory_inactive_file_bytes, 2900029 * KIB);
	ck_assert_uint_eq(m->memory_anon_bytes, 2050037 * KIB);
	ck_assert_uint_eq(m->memory_mapped_bytes, 300039 * KIB);
	ck_assert_uint_eq(m->memory_shmem_bytes, 200041 * KIB);
	ck_assert_uint_eq(m->memory_used_classic_bytes, 9899931 * KIB);
	ck_assert_uint_eq(m->swap_total_bytes, 8000031 * KIB);
	ck_assert_uint_eq(m->swap_free_bytes, 7000033 * KIB);
	ck_assert_uint_eq(m->swap_cached_bytes, 1013 * KIB);
}

START_TEST(meminfo_with_all_keys_yields_all_figures)
{
	fixture_write(&f, "proc/meminfo", HEAD AVAILABLE MIDDLE SWAP TAIL);
	ck_assert_int_eq(take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.partial, 0);
	expect_all_figures(&s.out);
	ck_assert_uint_eq(s.out.memory_available_bytes, 9000007 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 6999994 * KIB);
}
END_TEST

START_TEST(meminfo_without_blank_after_colon_parses)
{
	fixture_write(&f, "proc/meminfo",
	              "MemTotal:16000001 kB\nMemFree:5 kB\nMemAvailable:7 kB\n" MIDDLE SWAP TAIL);
	ck_assert_int_eq(take(&s), 0);
	ck_assert_uint_eq(s.out.memory_total_bytes, 16000001 * KIB);
	ck_assert_uint_eq(s.out.memory_available_bytes, 7 * KIB);
}
END_TEST

/* free + both kinds of file pages + reclaimable slab */
static void expect_estimate(void)
{
	ck_assert_int_eq(take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, ALL & ~RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.estimated, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.partial, 0);
	ck_assert_uint_eq(s.out.memory_available_bytes, 8500106 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 7499895 * KIB);
	expect_all_figures(&s.out);
}

START_TEST(meminfo_without_available_yields_an_estimate)
{
	fixture_write(&f, "proc/meminfo", HEAD MIDDLE SWAP TAIL);
	expect_estimate();
}
END_TEST

START_TEST(meminfo_with_available_zero_yields_an_estimate)
{
	fixture_write(&f, "proc/meminfo", HEAD "MemAvailable: 0 kB\n" MIDDLE SWAP TAIL);
	expect_estimate();
}
END_TEST

START_TEST(meminfo_with_nothing_free_yields_available_zero)
{
	fixture_write(
	    &f, "proc/meminfo",
	    "MemTotal: 16000001 kB\nMemFree: 0 kB\nMemAvailable: 0 kB\n" MIDDLE SWAP TAIL);
	ck_assert_int_eq(take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.memory_available_bytes, 0);
	ck_assert_uint_eq(s.out.memory_used_bytes, 16000001 * KIB);
}
END_TEST

/* Figures of the machine beside a total of the container. */
START_TEST(meminfo_with_available_above_total_yields_an_estimate)
{
	fixture_write(&f, "proc/meminfo", HEAD "MemAvailable: 16000002 kB\n" MIDDLE SWAP TAIL);
	expect_estimate();
}
END_TEST

START_TEST(meminfo_with_caches_above_total_is_estimated)
{
	fixture_write(
	    &f, "proc/meminfo",
	    "MemTotal: 2000000 kB\nMemFree: 1900000 kB\nMemAvailable: 1950000 kB\n" MIDDLE SWAP
		TAIL);
	ck_assert_int_eq(take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, ALL & ~RT_HAS_MEMORY);
	ck_assert_uint_eq(s.out.estimated, RT_HAS_MEMORY);
	ck_assert_uint_eq(s.out.memory_used_classic_bytes, 100000 * KIB);
}
END_TEST

START_TEST(meminfo_with_more_free_swap_than_there_is_is_estimated)
{
	fixture_write(&f, "proc/meminfo",
	              HEAD AVAILABLE MIDDLE
	              "SwapTotal: 7 kB\nSwapFree: 18446744073709551488 kB\n" TAIL);
	take(&s);
	ck_assert_uint_eq(s.out.estimated, RT_HAS_SWAP);
	ck_assert_uint_eq(s.out.swap_free_bytes, 7 * KIB);
}
END_TEST

START_TEST(meminfo_without_swap_lacks_its_bit)
{
	fixture_write(&f, "proc/meminfo",
	              HEAD AVAILABLE
	              "Buffers: 1 kB\nCached: 1 kB\nActive: 1 kB\nInactive: 1 kB\n"
	              "Active(anon): 1 kB\nInactive(anon): 1 kB\nActive(file): 1 kB\n"
	              "Inactive(file): 1 kB\n" TAIL);
	ck_assert_int_eq(take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, ALL & ~RT_HAS_SWAP);
	ck_assert_uint_eq(s.out.partial, 0);
}
END_TEST

START_TEST(meminfo_with_missing_keys_is_estimated)
{
	fixture_write(&f, "proc/meminfo", HEAD AVAILABLE MIDDLE SWAP);
	ck_assert_int_eq(take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP);
	ck_assert_uint_eq(s.out.estimated, RT_HAS_MEMORY);
	ck_assert_uint_eq(s.out.partial, 0);
}
END_TEST

START_TEST(meminfo_missing_fails_with_enoent)
{
	ck_assert_int_eq(take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid | s.out.partial | s.out.estimated, 0);
}
END_TEST

START_TEST(meminfo_malformed_fails_with_ebadmsg)
{
	fixture_write(&f, "proc/meminfo", "MemTotal: lots\n");
	ck_assert_int_eq(take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid | s.out.partial | s.out.estimated, 0);
}
END_TEST

/* --- Huge pages. --- */

#define MOST HEAD AVAILABLE MIDDLE SWAP
#define TWO_MIB "sys/kernel/mm/hugepages/hugepages-2048kB/"
#define ONE_GIB "sys/kernel/mm/hugepages/hugepages-1048576kB/"
#define MIB (1024 * KIB)

/* A meminfo with these lines of huge pages. */
static void write_huge_pages(const char *lines)
{
	fixture_printf(&f, "proc/meminfo", "%s%s", MOST, lines);
}

/* 5 pages of 2 MiB, 3 of them free, and 2 of 1 GiB, one of them free. */
static void write_sizes(void)
{
	fixture_write(&f, TWO_MIB "nr_hugepages", "5\n");
	fixture_write(&f, TWO_MIB "free_hugepages", "3\n");
	fixture_write(&f, ONE_GIB "nr_hugepages", "2\n");
	fixture_write(&f, ONE_GIB "free_hugepages", "1\n");
}

static void expect_huge_pages(uint64_t total_mib, uint64_t free_mib)
{
	ck_assert_uint_eq(s.out.hugepages_total_bytes, total_mib * MIB);
	ck_assert_uint_eq(s.out.hugepages_free_bytes, free_mib * MIB);
}

/* Sysfs is refused, so that no figure can be from there. */
START_TEST(huge_pages_of_the_default_size_alone_need_no_sysfs)
{
	struct sampler refused;

	write_huge_pages(HUGE_PAGES("7", "4") "Hugepagesize: 2048 kB\nHugetlb: 14336 kB\n");
	ck_assert_int_eq(sampler_open_with(&refused, &rti_sys_mem, f.root, &faults_ops, 0), 0);
	faults_on_open("kernel/mm/hugepages", -EACCES);
	take(&refused);
	faults_on_open("kernel/mm/hugepages", 0);
	s.out = refused.out;
	ck_assert_uint_ne(s.out.valid & RT_HAS_HUGEPAGES, 0);
	expect_huge_pages(14, 8);
	sampler_close(&refused);
}
END_TEST

START_TEST(huge_pages_of_several_sizes_are_those_of_sysfs)
{
	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\nHugetlb: 2107392 kB\n");
	write_sizes();
	fixture_write(&f, "sys/kernel/mm/hugepages/others/nr_hugepages", "9\n");
	take(&s);
	ck_assert_uint_ne(s.out.valid & RT_HAS_HUGEPAGES, 0);
	expect_huge_pages(2058, 1030);
}
END_TEST

/* Before Linux 4.16. */
START_TEST(huge_pages_without_their_total_are_those_of_sysfs)
{
	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\n");
	write_sizes();
	take(&s);
	ck_assert_uint_ne(s.out.valid & RT_HAS_HUGEPAGES, 0);
	expect_huge_pages(2058, 1030);
}
END_TEST

START_TEST(huge_pages_of_several_sizes_without_sysfs_are_a_lower_bound)
{
	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\nHugetlb: 2107392 kB\n");
	take(&s);
	ck_assert_uint_eq(s.out.valid & RT_HAS_HUGEPAGES, 0);
	ck_assert_uint_eq(s.out.partial, RT_HAS_HUGEPAGES);
	ck_assert_int_eq(s.collector->error_of(s.state, RT_HAS_HUGEPAGES), -ENOENT);
	ck_assert_int_eq(s.collector->error_of(s.state, RT_HAS_SWAP), 0);
	expect_huge_pages(2058, 6);
}
END_TEST

START_TEST(huge_pages_of_a_size_that_is_refused_are_a_lower_bound)
{
	struct sampler refused;

	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\nHugetlb: 2107392 kB\n");
	write_sizes();
	ck_assert_int_eq(sampler_open_with(&refused, &rti_sys_mem, f.root, &faults_ops, 0), 0);
	faults_on_open("1048576kB/free_hugepages", -EACCES);
	take(&refused);
	faults_on_open("1048576kB/free_hugepages", 0);
	ck_assert_int_eq(refused.collector->error_of(refused.state, RT_HAS_HUGEPAGES), -EACCES);
	ck_assert_uint_eq(refused.out.partial, RT_HAS_HUGEPAGES);
	s.out = refused.out;
	expect_huge_pages(2058, 6);
	sampler_close(&refused);
}
END_TEST

START_TEST(huge_pages_in_a_sysfs_without_sizes_are_a_lower_bound)
{
	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\nHugetlb: 2107392 kB\n");
	fixture_write(&f, "sys/kernel/mm/hugepages/others/nr_hugepages", "9\n");
	take(&s);
	ck_assert_uint_eq(s.out.partial, RT_HAS_HUGEPAGES);
	expect_huge_pages(2058, 6);
}
END_TEST

/* As if pages were added between the two reads. */
START_TEST(huge_pages_are_not_more_free_than_there_are)
{
	write_huge_pages(HUGE_PAGES("5", "3") "Hugepagesize: 2048 kB\n");
	fixture_write(&f, TWO_MIB "nr_hugepages", "5\n");
	fixture_write(&f, TWO_MIB "free_hugepages", "7\n");
	take(&s);
	expect_huge_pages(10, 10);
}
END_TEST

START_TEST(kernel_without_huge_pages_lacks_the_bit)
{
	write_huge_pages("");
	take(&s);
	ck_assert_uint_eq((s.out.valid | s.out.partial | s.out.estimated) & RT_HAS_HUGEPAGES, 0);
	ck_assert_int_eq(s.collector->error_of(s.state, RT_HAS_HUGEPAGES), -ENOENT);
}
END_TEST

/* Neither figure may wrap, and no more is free than there is. */
START_TEST(huge_pages_of_absurd_size_are_saturated)
{
	write_huge_pages(HUGE_PAGES(
	    "18446744073709551615",
	    "18446744073709551615") "Hugepagesize: 18446744073709551615 kB\nHugetlb: 1 kB\n");
	fixture_write(&f, TWO_MIB "nr_hugepages", "18446744073709551615\n");
	fixture_write(&f, TWO_MIB "free_hugepages", "18446744073709551615\n");
	take(&s);
	ck_assert_uint_eq(s.out.hugepages_total_bytes, UINT64_MAX);
	ck_assert_uint_eq(s.out.hugepages_free_bytes, UINT64_MAX);
}
END_TEST

/* LXC serves the file once per open. The array is indexed by descriptor, since the calls have no
 * other argument. */
static bool has_answered[1024];

static int open_anew(int dirfd, const char *path, int flags)
{
	int fd = rti_procfs_linux.open(dirfd, path, flags);

	if (fd >= 0)
		has_answered[fd] = false;
	return fd;
}

static ssize_t pread_once(int fd, void *buf, size_t len, off_t offset)
{
	if (offset == 0 && has_answered[fd])
		return -ESPIPE;
	has_answered[fd] = true;
	return rti_procfs_linux.pread(fd, buf, len, offset);
}

START_TEST(meminfo_that_cannot_seek_is_reopened)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler lxc;

	ops.open = open_anew;
	ops.open_in_root = NULL;
	ops.pread = pread_once;
	ck_assert_int_eq(sampler_open_with(&lxc, &rti_sys_mem, f.root, &ops, 0), 0);
	for (int i = 0; i < 3; i++) {
		fixture_printf(&f, "proc/meminfo",
		               "MemTotal: %d kB\nMemFree: 5 kB\n" AVAILABLE MIDDLE SWAP TAIL,
		               16000000 + i);
		ck_assert_int_eq(take(&lxc), 0);
		ck_assert_uint_eq(lxc.out.memory_total_bytes, (16000000 + (uint64_t)i) * KIB);
	}
	sampler_close(&lxc);
}
END_TEST

START_TEST(live_memory_matches_sysinfo)
{
	struct sampler live;
	struct sysinfo info;

	sampler_open(&live, &rti_sys_mem, NULL);
	ck_assert_int_eq(take(&live), 0);
	ck_assert_uint_eq(live.out.valid & ALL, ALL);
	ck_assert_int_eq(sysinfo(&info), 0);
	ck_assert_uint_eq(live.out.memory_total_bytes, (uint64_t)info.totalram * info.mem_unit);
	ck_assert_uint_eq(live.out.swap_total_bytes, (uint64_t)info.totalswap * info.mem_unit);
	ck_assert_uint_le(live.out.memory_free_bytes,
	                  ((uint64_t)info.freeram * info.mem_unit) + (256 << 20));
	ck_assert_uint_ge(live.out.memory_free_bytes + (256 << 20),
	                  (uint64_t)info.freeram * info.mem_unit);
	sampler_close(&live);
}
END_TEST

/* Returns by how much the anonymous memory of the system grows while the test touches this many
 * bytes. */
static int64_t measure_growth_by_touching(struct sampler *live, size_t bytes)
{
	uint64_t before;
	char *memory;

	ck_assert_int_eq(take(live), 0);
	before = live->out.memory_anon_bytes;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 1, bytes);
	ck_assert_int_eq(take(live), 0);
	munmap(memory, bytes);
	return (int64_t)(live->out.memory_anon_bytes - before);
}

/* Other processes may free as much at the same moment, but not every time. */
START_TEST(live_anon_memory_grows_when_touched)
{
	enum { BYTES = 200 << 20 };
	struct sampler live;
	int tries = 0;

	sampler_open(&live, &rti_sys_mem, NULL);
	while (measure_growth_by_touching(&live, BYTES) < BYTES / 2)
		ck_assert_int_lt(++tries, 20);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_mem");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, meminfo_with_all_keys_yields_all_figures);
	tcase_add_test(fixtures, meminfo_without_blank_after_colon_parses);
	tcase_add_test(fixtures, meminfo_without_available_yields_an_estimate);
	tcase_add_test(fixtures, meminfo_with_available_zero_yields_an_estimate);
	tcase_add_test(fixtures, meminfo_with_nothing_free_yields_available_zero);
	tcase_add_test(fixtures, meminfo_with_available_above_total_yields_an_estimate);
	tcase_add_test(fixtures, meminfo_with_caches_above_total_is_estimated);
	tcase_add_test(fixtures, meminfo_with_more_free_swap_than_there_is_is_estimated);
	tcase_add_test(fixtures, meminfo_without_swap_lacks_its_bit);
	tcase_add_test(fixtures, meminfo_with_missing_keys_is_estimated);
	tcase_add_test(fixtures, meminfo_missing_fails_with_enoent);
	tcase_add_test(fixtures, meminfo_malformed_fails_with_ebadmsg);
	tcase_add_test(fixtures, meminfo_that_cannot_seek_is_reopened);
	tcase_add_test(fixtures, huge_pages_of_the_default_size_alone_need_no_sysfs);
	tcase_add_test(fixtures, huge_pages_of_several_sizes_are_those_of_sysfs);
	tcase_add_test(fixtures, huge_pages_without_their_total_are_those_of_sysfs);
	tcase_add_test(fixtures, huge_pages_of_several_sizes_without_sysfs_are_a_lower_bound);
	tcase_add_test(fixtures, huge_pages_of_a_size_that_is_refused_are_a_lower_bound);
	tcase_add_test(fixtures, huge_pages_in_a_sysfs_without_sizes_are_a_lower_bound);
	tcase_add_test(fixtures, huge_pages_are_not_more_free_than_there_are);
	tcase_add_test(fixtures, kernel_without_huge_pages_lacks_the_bit);
	tcase_add_test(fixtures, huge_pages_of_absurd_size_are_saturated);
	tcase_add_test(live, live_memory_matches_sysinfo);
	tcase_add_test(live, live_anon_memory_grows_when_touched);
	return suite_run(suite);
}
