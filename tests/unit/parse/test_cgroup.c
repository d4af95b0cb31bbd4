/* SPDX-License-Identifier: MIT */
/* Parsers of the files of a cgroup, and of /proc/PID/cgroup. */
#include "exact.h"

#include <errno.h>
#include <string.h>

#include "parse/parse.h"
#include "suite.h"
#include "util/visit.h"

#define ENTRIES_MAX 8

static int parse_io(const char *text, struct rti_cgroup_io *out)
{
	return rti_parse_cgroup_io(text, strlen(text), out);
}

START_TEST(io_of_several_devices_is_summed)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(
	    parse_io("8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n"
	             "259:1 rbytes=800 wbytes=496 rios=1 wios=2 dbytes=9 dios=9\n",
	             &io),
	    0);
	ck_assert_uint_eq(io.read_bytes, 1460000);
	ck_assert_uint_eq(io.write_bytes, 314774000);
	ck_assert_uint_eq(io.devices, 2);
}
END_TEST

START_TEST(io_without_devices_is_zero)
{
	struct rti_cgroup_io io = { 1, 1, 0 };

	ck_assert_int_eq(parse_io("", &io), 0);
	ck_assert_uint_eq(io.read_bytes + io.write_bytes, 0);
	ck_assert_int_eq(parse_io("8:0 \n8:16 rios=1", &io), 0);
	ck_assert_uint_eq(io.read_bytes + io.write_bytes + io.devices, 0);
}
END_TEST

START_TEST(io_with_malformed_number_is_refused)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(parse_io("8:0 rbytes=\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_io("8:0 rbytes=x wbytes=1\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_io("8:0 rbytes=1 wbytes=-1\n", &io), -EBADMSG);
}
END_TEST

START_TEST(cpu_without_one_of_three_keys_is_refused)
{
	static const char text[] = "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(text, strlen(text), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 30);
	ck_assert_int_eq(rti_parse_cgroup_cpu(text, 20, &cpu), -EBADMSG);
}
END_TEST

START_TEST(cpu_among_other_keys_parses)
{
	static const char text[] =
	    "nice_usec 9\nsystem_usec 10\nusage_usec_total 9\nusage_usec 30\n\nuser_usec 20";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(text, strlen(text), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 30);
	ck_assert_uint_eq(cpu.user_us, 20);
	ck_assert_uint_eq(cpu.system_us, 10);
}
END_TEST

START_TEST(cpu_with_repeated_key_does_not_replace_a_missing_one)
{
	static const char without[] = "usage_usec 30\nusage_usec 31\nsystem_usec 10\n";
	static const char with[] = "usage_usec 30\nuser_usec 20\nusage_usec 31\nsystem_usec 10\n";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(without, strlen(without), &cpu), -EBADMSG);
	ck_assert_int_eq(rti_parse_cgroup_cpu(with, strlen(with), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 31);
}
END_TEST

START_TEST(cpuacct_in_any_order_parses)
{
	struct exact text = exact("system 9\nuser 12");
	struct rti_cgroup_cpuacct cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpuacct(text.data, text.len, &cpu), 0);
	ck_assert_uint_eq(cpu.user_ticks, 12);
	ck_assert_uint_eq(cpu.system_ticks, 9);
	text = exact("user 12\nsystem \n");
	ck_assert_int_eq(rti_parse_cgroup_cpuacct(text.data, text.len, &cpu), -EBADMSG);
	text = exact("user_system 12\nsystem 3\n");
	ck_assert_int_eq(rti_parse_cgroup_cpuacct(text.data, text.len, &cpu), -EBADMSG);
}
END_TEST

static int parse_blkio(const char *text, struct rti_cgroup_io *out)
{
	struct exact copy = exact(text);

	return rti_parse_cgroup_blkio(copy.data, copy.len, out);
}

START_TEST(blkio_of_several_devices_is_summed)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(parse_blkio("254:0 Read 4096\n254:0 Write 8192\n254:0 Sync 12288\n"
	                             "254:0 Async 0\n254:0 Discard 0\n254:0 Total 12288\n"
	                             "7:1 Read 1\n7:1 Write 2\nTotal 12291\n",
	                             &io),
	                 0);
	ck_assert_uint_eq(io.read_bytes, 4097);
	ck_assert_uint_eq(io.write_bytes, 8194);
	ck_assert_uint_eq(io.devices, 2);
}
END_TEST

START_TEST(blkio_without_devices_has_none)
{
	struct rti_cgroup_io io = { 1, 1, 1 };

	ck_assert_int_eq(parse_blkio("Total 0\n", &io), 0);
	ck_assert_uint_eq(io.devices, 0);
	ck_assert_uint_eq(io.read_bytes + io.write_bytes, 0);
	ck_assert_int_eq(parse_blkio("\n \n254:0\n254:0 Reads 7\n254:0 Rea", &io), 0);
	ck_assert_uint_eq(io.devices, 0);
}
END_TEST

START_TEST(blkio_with_malformed_number_is_refused)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(parse_blkio("254:0 Read\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_blkio("254:0 Read 1\n254:0 Write -1\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_blkio("254:0 Write x\n", &io), -EBADMSG);
}
END_TEST

START_TEST(memory_of_v2_has_page_cache_apart)
{
	struct exact text = exact("anon 100\nfile 70\nkernel 9\nshmem 20\nfile_mapped 30\n"
	                          "anon_thp 5\ninactive_anon 7\n");
	struct rti_cgroup_memory_stat memory;

	ck_assert_int_eq(rti_parse_cgroup_memory(text.data, text.len, &memory), 0);
	ck_assert_uint_eq(memory.anon_bytes, 100);
	ck_assert_uint_eq(memory.file_bytes, 70);
	ck_assert_uint_eq(memory.file_mapped_bytes, 30);
	ck_assert_uint_eq(memory.shmem_bytes, 20);
	ck_assert_int_eq(rti_parse_cgroup_memory_v1(text.data, text.len, &memory), -EBADMSG);
}
END_TEST

START_TEST(memory_of_v1_includes_cgroups_below)
{
	struct exact text = exact("cache 1\nrss 2\nmapped_file 3\ntotal_cache 70\n"
	                          "total_rss 100\ntotal_rss_huge 4\ntotal_mapped_file 30\n");
	struct rti_cgroup_memory_stat memory;

	ck_assert_int_eq(rti_parse_cgroup_memory_v1(text.data, text.len, &memory), 0);
	ck_assert_uint_eq(memory.anon_bytes, 100);
	ck_assert_uint_eq(memory.file_bytes, 70);
	ck_assert_uint_eq(memory.file_mapped_bytes, 30);
	ck_assert_uint_eq(memory.shmem_bytes, 0);
	text = exact("total_cache 70\ntotal_rss");
	ck_assert_int_eq(rti_parse_cgroup_memory_v1(text.data, text.len, &memory), -EBADMSG);
}
END_TEST

/* The entries of all calls, and how many to take. */
struct entries {
	struct rti_pid_cgroup entry[ENTRIES_MAX];
	unsigned count, stop_at;
};

static int add_entry(void *arg, const struct rti_pid_cgroup *entry)
{
	struct entries *entries = arg;

	ck_assert_uint_lt(entries->count, ENTRIES_MAX);
	entries->entry[entries->count++] = *entry;
	return entries->count == entries->stop_at ? RTI_STOP : RTI_CONTINUE;
}

static int parse_paths(const char *text, struct entries *entries)
{
	struct exact copy = exact(text);

	*entries = (struct entries){ .stop_at = entries->stop_at };
	return rti_parse_pid_cgroup(copy.data, copy.len, add_entry, entries);
}

START_TEST(pid_cgroup_of_hybrid_system_yields_every_hierarchy)
{
	struct entries entries = { 0 };

	ck_assert_int_eq(
	    parse_paths("12:cpu,cpuacct:/x\n1:name=systemd:/y:z\n0::/user.slice/a b\n", &entries),
	    0);
	ck_assert_uint_eq(entries.count, 3);
	ck_assert_uint_eq(entries.entry[0].hierarchy, 12);
	ck_assert(rti_scan_is(&entries.entry[0].controllers, "cpu,cpuacct"));
	ck_assert(rti_scan_is(&entries.entry[0].path, "/x"));
	ck_assert(rti_scan_is(&entries.entry[1].controllers, "name=systemd"));
	ck_assert(rti_scan_is(&entries.entry[1].path, "/y:z"));
	ck_assert_uint_eq(entries.entry[2].hierarchy, 0);
	ck_assert(rti_scan_is(&entries.entry[2].controllers, ""));
	ck_assert(rti_scan_is(&entries.entry[2].path, "/user.slice/a b"));
}
END_TEST

START_TEST(pid_cgroup_that_is_stopped_returns_what_stopped_it)
{
	struct entries entries = { .stop_at = 1 };

	ck_assert_int_eq(parse_paths("2:pids:/x\n0::/\n", &entries), RTI_STOP);
	ck_assert_uint_eq(entries.count, 1);
}
END_TEST

START_TEST(pid_cgroup_with_malformed_line_is_refused)
{
	static const char *const malformed[] = {
		"\n",      ":\n",     "0:\n",  "0::\n",     "0::x\n",
		"x::/\n",  "-1::/\n", "0:/\n", "1 :pids:/", "99999999999:pids:/\n",
		"0::/a\n1"
	};
	struct entries entries = { 0 };

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		ck_assert_msg(parse_paths(malformed[i], &entries) == -EBADMSG, "%s", malformed[i]);
	ck_assert_int_eq(parse_paths("", &entries), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_cgroup");
	TCase *io = suite_case(suite, "io"), *cpu = suite_case(suite, "cpu");
	TCase *memory = suite_case(suite, "memory"), *paths = suite_case(suite, "paths");

	tcase_add_test(io, io_of_several_devices_is_summed);
	tcase_add_test(io, io_without_devices_is_zero);
	tcase_add_test(io, io_with_malformed_number_is_refused);
	tcase_add_test(io, blkio_of_several_devices_is_summed);
	tcase_add_test(io, blkio_without_devices_has_none);
	tcase_add_test(io, blkio_with_malformed_number_is_refused);
	tcase_add_test(cpu, cpu_without_one_of_three_keys_is_refused);
	tcase_add_test(cpu, cpu_among_other_keys_parses);
	tcase_add_test(cpu, cpu_with_repeated_key_does_not_replace_a_missing_one);
	tcase_add_test(cpu, cpuacct_in_any_order_parses);
	tcase_add_test(memory, memory_of_v2_has_page_cache_apart);
	tcase_add_test(memory, memory_of_v1_includes_cgroups_below);
	tcase_add_test(paths, pid_cgroup_of_hybrid_system_yields_every_hierarchy);
	tcase_add_test(paths, pid_cgroup_that_is_stopped_returns_what_stopped_it);
	tcase_add_test(paths, pid_cgroup_with_malformed_line_is_refused);
	return suite_run(suite);
}
