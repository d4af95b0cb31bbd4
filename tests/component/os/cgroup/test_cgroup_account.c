/* SPDX-License-Identifier: MIT */
/* What the files of a cgroup say, on v1, v2 and hybrid systems. */
#include "os/cgroup/cgroup_fixture.h"

#include <errno.h>

#include "suite.h"

static void make_hybrid(void)
{
	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
}

static void make_v1(void)
{
	cgroup_fixture_v1();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
}

static void make_v2(void)
{
	cgroup_fixture_v2();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
}

static int read_cpu(uint64_t *user_ns, uint64_t *system_ns)
{
	return rti_cgroup_read_cpu(&cgroups.group, &cgroups.ctx, user_ns, system_ns);
}

START_TEST(cpu_without_file_fails_with_enoent)
{
	uint64_t user, system;

	make_v2();
	ck_assert_int_eq(read_cpu(&user, &system), -ENOENT);
	make_v1();
	ck_assert_int_eq(read_cpu(&user, &system), -ENOENT);
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpuacct.usage", "3000000\n");
	ck_assert_int_eq(read_cpu(&user, &system), -ENOENT);
}
END_TEST

START_TEST(cpu_of_v2_is_in_ns)
{
	uint64_t user, system;

	make_hybrid();
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpu.stat",
	                     "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnice_usec 0\n");
	ck_assert_int_eq(read_cpu(&user, &system), 0);
	ck_assert_uint_eq(user, 2000000);
	ck_assert_uint_eq(system, 1000000);
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpu.stat", "usage_usec 3000\n");
	ck_assert_int_eq(read_cpu(&user, &system), -EBADMSG);
}
END_TEST

START_TEST(cpu_of_v1_is_exact_in_the_ratio_of_ticks)
{
	uint64_t user, system;

	make_v1();
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpuacct.usage", "3000007\n");
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpuacct.stat", "user 1\nsystem 3\n");
	ck_assert_int_eq(read_cpu(&user, &system), 0);
	ck_assert_uint_eq(user + system, 3000007);
	ck_assert_uint_eq(user, 750001);
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpuacct.usage", "4000000\n");
	ck_assert_int_eq(read_cpu(&user, &system), 0);
	ck_assert_uint_eq(user, 1000000);
	cgroup_fixture_write(RTI_CGROUP_CPU, "cpuacct.usage", "none\n");
	ck_assert_int_eq(read_cpu(&user, &system), -EBADMSG);
}
END_TEST

START_TEST(usage_of_enclosing_cgroup_comes_from_v2_or_cpuacct)
{
	cgroup_fixture_hybrid();
	ck_assert_int_eq(rti_cgroup_enclosing(&cgroups.enclosing, &cgroups.ctx), 0);
	ck_assert_uint_eq(rti_cgroup_read_usage(&cgroups.enclosing, &cgroups.ctx), 5000000000);
	/* The root of v2 has no cpu.stat before Linux 5.8. */
	fixture_remove(&cgroups.root, "v2/cpu.stat");
	rti_cgroup_close(&cgroups.enclosing, &cgroups.ctx);
	ck_assert_int_eq(rti_cgroup_enclosing(&cgroups.enclosing, &cgroups.ctx), 0);
	ck_assert_uint_eq(rti_cgroup_read_usage(&cgroups.enclosing, &cgroups.ctx), 7000000000);
	fixture_remove(&cgroups.root, "v1/cpuacct/cpuacct.usage");
	ck_assert_uint_eq(rti_cgroup_read_usage(&cgroups.enclosing, &cgroups.ctx), UINT64_MAX);
}
END_TEST

START_TEST(memory_peak_of_v2_and_v1_is_read)
{
	uint64_t bytes = 7;

	make_v2();
	ck_assert_int_eq(rti_cgroup_read_memory_peak(&cgroups.group, &cgroups.ctx, &bytes),
	                 -ENOENT);
	ck_assert_uint_eq(bytes, 7);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.peak", "12345678\n");
	ck_assert_int_eq(rti_cgroup_read_memory_peak(&cgroups.group, &cgroups.ctx, &bytes), 0);
	ck_assert_uint_eq(bytes, 12345678);
	make_hybrid();
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.max_usage_in_bytes", "87654321\n");
	ck_assert_int_eq(rti_cgroup_read_memory_peak(&cgroups.group, &cgroups.ctx, &bytes), 0);
	ck_assert_uint_eq(bytes, 87654321);
}
END_TEST

START_TEST(memory_of_v2_has_page_cache_apart)
{
	struct rti_cgroup_memory memory;

	make_v2();
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.current", "500\n");
	ck_assert_int_eq(rti_cgroup_read_memory(&cgroups.group, &cgroups.ctx, &memory), -ENOENT);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.stat",
	                     "anon 300\nfile 150\nshmem 20\nfile_mapped 40\n");
	ck_assert_int_eq(rti_cgroup_read_memory(&cgroups.group, &cgroups.ctx, &memory), 0);
	ck_assert_uint_eq(memory.usage_bytes, 500);
	ck_assert_uint_eq(memory.anon_bytes, 300);
	ck_assert_uint_eq(memory.file_bytes, 150);
	ck_assert_uint_eq(memory.shmem_bytes, 20);
	ck_assert_uint_eq(memory.file_mapped_bytes, 40);
}
END_TEST

START_TEST(memory_of_v1_has_page_cache_apart)
{
	struct rti_cgroup_memory memory;

	make_v1();
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.usage_in_bytes", "500\n");
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "memory.stat",
	                     "cache 1\nrss 1\ntotal_cache 150\ntotal_rss 300\n");
	ck_assert_int_eq(rti_cgroup_read_memory(&cgroups.group, &cgroups.ctx, &memory), 0);
	ck_assert_uint_eq(memory.usage_bytes, 500);
	ck_assert_uint_eq(memory.anon_bytes, 300);
	ck_assert_uint_eq(memory.file_bytes, 150);
}
END_TEST

static int read_io(uint64_t *read_bytes, uint64_t *write_bytes, bool *is_whole)
{
	return rti_cgroup_read_io(&cgroups.group, &cgroups.ctx, read_bytes, write_bytes, is_whole);
}

START_TEST(io_of_v2_is_whole)
{
	uint64_t read_bytes, write_bytes;
	bool is_whole = false;

	make_v2();
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), -ENOENT);
	cgroup_fixture_write(RTI_CGROUP_IO, "io.stat", "8:0 rbytes=10 wbytes=20\n");
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), 0);
	ck_assert_uint_eq(read_bytes, 10);
	ck_assert_uint_eq(write_bytes, 20);
	ck_assert(is_whole);
}
END_TEST

START_TEST(io_of_v1_is_not_whole_and_not_0_without_devices)
{
	uint64_t read_bytes = 7, write_bytes = 7;
	bool is_whole = true;

	make_hybrid();
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), -ENOENT);
	cgroup_fixture_write(RTI_CGROUP_IO, "blkio.throttle.io_service_bytes_recursive",
	                     "Total 0\n");
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), -ENODATA);
	ck_assert_uint_eq(read_bytes + write_bytes, 14);
	cgroup_fixture_write(RTI_CGROUP_IO, "blkio.throttle.io_service_bytes_recursive",
	                     "8:0 Read 4096\n8:0 Write 0\n8:0 Total 4096\nTotal 4096\n");
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), 0);
	ck_assert_uint_eq(read_bytes, 4096);
	ck_assert_uint_eq(write_bytes, 0);
	ck_assert(!is_whole);
}
END_TEST

START_TEST(io_of_old_v1_comes_from_the_file_without_cgroups_below)
{
	uint64_t read_bytes, write_bytes;
	bool is_whole;

	make_hybrid();
	cgroup_fixture_write(RTI_CGROUP_IO, "blkio.throttle.io_service_bytes",
	                     "8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n");
	ck_assert_int_eq(read_io(&read_bytes, &write_bytes, &is_whole), 0);
	ck_assert_uint_eq(read_bytes, 1);
	ck_assert_uint_eq(write_bytes, 2);
}
END_TEST

START_TEST(tasks_peak_of_v2_and_v1_is_read)
{
	uint64_t tasks;

	make_v1();
	ck_assert_int_eq(rti_cgroup_read_tasks_peak(&cgroups.group, &cgroups.ctx, &tasks), -ENOENT);
	cgroup_fixture_write(RTI_CGROUP_TASKS, "pids.peak", "6\n");
	ck_assert_int_eq(rti_cgroup_read_tasks_peak(&cgroups.group, &cgroups.ctx, &tasks), 0);
	ck_assert_uint_eq(tasks, 6);
	make_v2();
	cgroup_fixture_write(RTI_CGROUP_TASKS, "pids.peak", "max\n");
	ck_assert_int_eq(rti_cgroup_read_tasks_peak(&cgroups.group, &cgroups.ctx, &tasks),
	                 -EBADMSG);
}
END_TEST

START_TEST(empty_cgroup_has_no_account)
{
	uint64_t number, other;
	bool is_whole;

	ck_assert_int_eq(read_cpu(&number, &other), -ENOENT);
	ck_assert_int_eq(read_io(&number, &other, &is_whole), -ENOENT);
	ck_assert_int_eq(rti_cgroup_read_memory_peak(&cgroups.group, &cgroups.ctx, &number),
	                 -ENOENT);
	ck_assert_uint_eq(rti_cgroup_read_usage(&cgroups.group, &cgroups.ctx), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_account");
	TCase *tests = suite_case(suite, "cgroup_account");

	tcase_add_checked_fixture(tests, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(tests, cpu_without_file_fails_with_enoent);
	tcase_add_test(tests, cpu_of_v2_is_in_ns);
	tcase_add_test(tests, cpu_of_v1_is_exact_in_the_ratio_of_ticks);
	tcase_add_test(tests, usage_of_enclosing_cgroup_comes_from_v2_or_cpuacct);
	tcase_add_test(tests, memory_peak_of_v2_and_v1_is_read);
	tcase_add_test(tests, memory_of_v2_has_page_cache_apart);
	tcase_add_test(tests, memory_of_v1_has_page_cache_apart);
	tcase_add_test(tests, io_of_v2_is_whole);
	tcase_add_test(tests, io_of_v1_is_not_whole_and_not_0_without_devices);
	tcase_add_test(tests, io_of_old_v1_comes_from_the_file_without_cgroups_below);
	tcase_add_test(tests, tasks_peak_of_v2_and_v1_is_read);
	tcase_add_test(tests, empty_cgroup_has_no_account);
	return suite_run(suite);
}
