/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_mem;

#define ALL (RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP)
#define KIB UINT64_C(1024)

/* Not round, and all different, so that no two can be mixed up unseen. */
#define HEAD "MemTotal:       16000001 kB\nMemFree:         1000003 kB\n"
#define AVAILABLE "MemAvailable:    9000007 kB\n"
#define MIDDLE                                                                                     \
	"Buffers:          500009 kB\nCached:          4000011 kB\nSwapCached:          1013 kB\n" \
	"Active:          6000017 kB\nInactive:        3000019 kB\nActive(anon):    2000021 kB\n"  \
	"Inactive(anon):   100023 kB\nActive(file):    4000027 kB\nInactive(file):  2900029 kB\n"
#define SWAP "SwapTotal:       8000031 kB\nSwapFree:        7000033 kB\n"
#define TAIL                                                                                       \
	"AnonPages:       2050037 kB\nMapped:           300039 kB\nShmem:            200041 kB\n"  \
	"Slab:             900043 kB\nSReclaimable:     600047 kB\nSUnreclaim:       300049 kB\n"

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

static void expect_golden(const struct rt_metrics *m)
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

START_TEST(golden)
{
	fixture_write(&f, "proc/meminfo", HEAD AVAILABLE MIDDLE SWAP TAIL);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.partial, 0);
	expect_golden(&s.out);
	ck_assert_uint_eq(s.out.memory_available_bytes, 9000007 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 6999994 * KIB);
}
END_TEST

START_TEST(no_blank_after_the_colon)
{
	fixture_write(&f, "proc/meminfo",
	              "MemTotal:16 kB\nMemFree:5 kB\nMemAvailable:7 kB\n" MIDDLE SWAP TAIL);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.memory_total_bytes, 16 * KIB);
	ck_assert_uint_eq(s.out.memory_available_bytes, 7 * KIB);
}
END_TEST

/* free + both kinds of file pages + reclaimable slab */
static void expect_estimate(void)
{
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, RT_HAS_MEMORY | RT_HAS_SWAP);
	ck_assert_uint_eq(s.out.partial, RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.memory_available_bytes, 8500106 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 7499895 * KIB);
	expect_golden(&s.out);
}

START_TEST(available_missing)
{
	fixture_write(&f, "proc/meminfo", HEAD MIDDLE SWAP TAIL);
	expect_estimate();
}
END_TEST

START_TEST(available_zero)
{
	fixture_write(&f, "proc/meminfo", HEAD "MemAvailable: 0 kB\n" MIDDLE SWAP TAIL);
	expect_estimate();
}
END_TEST

START_TEST(truly_nothing_available)
{
	fixture_write(&f, "proc/meminfo",
	              "MemTotal: 100 kB\nMemFree: 0 kB\nMemAvailable: 0 kB\n" MIDDLE SWAP TAIL);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.memory_available_bytes, 0);
	ck_assert_uint_eq(s.out.memory_used_bytes, 100 * KIB);
}
END_TEST

START_TEST(more_available_than_there_is)
{
	fixture_write(&f, "proc/meminfo",
	              "MemTotal: 100 kB\nMemFree: 90 kB\nMemAvailable: 120 kB\n" MIDDLE SWAP TAIL);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.memory_available_bytes, 100 * KIB);
	ck_assert_uint_eq(s.out.memory_used_bytes, 0);
	ck_assert_uint_eq(s.out.memory_used_classic_bytes, 0);
}
END_TEST

START_TEST(swap_missing)
{
	fixture_write(&f, "proc/meminfo",
	              HEAD AVAILABLE
	              "Buffers: 1 kB\nCached: 1 kB\nActive: 1 kB\nInactive: 1 kB\n"
	              "Active(anon): 1 kB\nInactive(anon): 1 kB\nActive(file): 1 kB\n"
	              "Inactive(file): 1 kB\n" TAIL);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE);
	ck_assert_uint_eq(s.out.partial, 0);
}
END_TEST

START_TEST(keys_missing)
{
	fixture_write(&f, "proc/meminfo", HEAD AVAILABLE MIDDLE SWAP);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP);
	ck_assert_uint_eq(s.out.partial, RT_HAS_MEMORY);
}
END_TEST

START_TEST(missing_file)
{
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
}
END_TEST

START_TEST(garbage)
{
	fixture_write(&f, "proc/meminfo", "MemTotal: lots\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
}
END_TEST

/* The file of LXC answers once for each time it is opened. */
static int has_answered[1024];

static int open_anew(int dirfd, const char *path, int flags)
{
	int fd = rti_procfs_linux.open(dirfd, path, flags);

	if (fd >= 0)
		has_answered[fd] = 0;
	return fd;
}

static ssize_t pread_once(int fd, void *buf, size_t len, off_t offset)
{
	if (has_answered[fd]++)
		return -ESPIPE;
	return rti_procfs_linux.pread(fd, buf, len, offset);
}

START_TEST(cannot_seek)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler lxc;

	ops.open = open_anew;
	ops.pread = pread_once;
	ck_assert_int_eq(sampler_open_with(&lxc, &rti_sys_mem, f.root, &ops, 0), 0);
	for (int i = 0; i < 3; i++) {
		fixture_printf(&f, "proc/meminfo",
		               "MemTotal: %d kB\nMemFree: 5 kB\n" AVAILABLE MIDDLE SWAP TAIL,
		               100 + i);
		ck_assert_int_eq(sampler_take(&lxc), 0);
		ck_assert_uint_eq(lxc.out.memory_total_bytes, (100 + (uint64_t)i) * KIB);
	}
	sampler_close(&lxc);
}
END_TEST

START_TEST(live_as_sysinfo_has_it)
{
	struct sampler live;
	struct sysinfo info;

	sampler_open(&live, &rti_sys_mem, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);
	ck_assert_uint_eq(live.out.valid, ALL);
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

/* By how much the machine's memory in use grows while we touch so many bytes. */
static int64_t growth_by_touching(struct sampler *live, size_t bytes)
{
	uint64_t before;
	char *memory;

	ck_assert_int_eq(sampler_take(live), 0);
	before = live->out.memory_anon_bytes;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 1, bytes);
	ck_assert_int_eq(sampler_take(live), 0);
	munmap(memory, bytes);
	return (int64_t)(live->out.memory_anon_bytes - before);
}

/* Others may let go of as much in the same moment, but not each time. */
START_TEST(live_sees_what_is_touched)
{
	enum { BYTES = 200 << 20 };
	struct sampler live;
	int tries = 0;

	sampler_open(&live, &rti_sys_mem, NULL);
	while (growth_by_touching(&live, BYTES) < BYTES / 2)
		ck_assert_int_lt(++tries, 20);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_mem");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, golden);
	tcase_add_test(fixtures, no_blank_after_the_colon);
	tcase_add_test(fixtures, available_missing);
	tcase_add_test(fixtures, available_zero);
	tcase_add_test(fixtures, truly_nothing_available);
	tcase_add_test(fixtures, more_available_than_there_is);
	tcase_add_test(fixtures, swap_missing);
	tcase_add_test(fixtures, keys_missing);
	tcase_add_test(fixtures, missing_file);
	tcase_add_test(fixtures, garbage);
	tcase_add_test(fixtures, cannot_seek);
	tcase_add_test(live, live_as_sysinfo_has_it);
	tcase_add_test(live, live_sees_what_is_touched);
	return suite_run(suite);
}
