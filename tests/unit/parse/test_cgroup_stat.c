/* SPDX-License-Identifier: MIT */
/* Parsers of the limits of a cgroup, and of what came of them. */
#include "exact.h"

#include <errno.h>

#include "parse/cgroup_stat.h"
#include "suite.h"
#include "util/visit.h"

static int parse_throttle(const char *text, struct rti_cgroup_throttle *out)
{
	struct exact copy = exact(text);

	return rti_parse_cgroup_throttle(copy.data, copy.len, out);
}

START_TEST(throttle_of_both_versions_is_in_ns)
{
	struct rti_cgroup_throttle t;

	ck_assert_int_eq(parse_throttle("usage_usec 9\nuser_usec 8\nsystem_usec 1\n"
	                                "nr_periods 7\nnr_throttled 5\nthrottled_usec 3\n"
	                                "nr_bursts 1\n",
	                                &t),
	                 0);
	ck_assert_uint_eq(t.periods, 7);
	ck_assert_uint_eq(t.throttled_periods, 5);
	ck_assert_uint_eq(t.throttled_ns, 3000);
	ck_assert_int_eq(parse_throttle("nr_periods 7\nnr_throttled 5\nthrottled_time 3", &t), 0);
	ck_assert_uint_eq(t.throttled_ns, 3);
}
END_TEST

START_TEST(throttle_without_the_controller_is_refused)
{
	struct rti_cgroup_throttle t;

	ck_assert_int_eq(parse_throttle("usage_usec 9\nuser_usec 8\nsystem_usec 1\n", &t),
	                 -EBADMSG);
	ck_assert_int_eq(parse_throttle("nr_periods 7\nnr_throttled 5\n", &t), -EBADMSG);
	ck_assert_int_eq(parse_throttle("nr_periods 7\nthrottled_usec 5\n", &t), -EBADMSG);
	ck_assert_int_eq(parse_throttle("nr_periods x\nnr_throttled 5\nthrottled_usec 5\n", &t),
	                 -EBADMSG);
	ck_assert_int_eq(parse_throttle("", &t), -EBADMSG);
}
END_TEST

START_TEST(throttle_that_does_not_fit_into_ns_saturates)
{
	struct rti_cgroup_throttle t;

	ck_assert_int_eq(parse_throttle("nr_periods 1\nnr_throttled 1\n"
	                                "throttled_usec 18446744073709551615\n",
	                                &t),
	                 0);
	ck_assert_uint_eq(t.throttled_ns, UINT64_MAX);
}
END_TEST

static int parse_cpu_max(const char *text, struct rti_cgroup_cpu_max *out)
{
	struct exact copy = exact(text);

	return rti_parse_cgroup_cpu_max(copy.data, copy.len, out);
}

START_TEST(cpu_max_has_quota_and_period)
{
	struct rti_cgroup_cpu_max max;

	ck_assert_int_eq(parse_cpu_max("150000 100000\n", &max), 0);
	ck_assert_uint_eq(max.quota_us, 150000);
	ck_assert_uint_eq(max.period_us, 100000);
	ck_assert_int_eq(parse_cpu_max("max 50000", &max), 0);
	ck_assert_uint_eq(max.quota_us, RTI_NO_LIMIT);
	ck_assert_uint_eq(max.period_us, 50000);
}
END_TEST

START_TEST(cpu_max_without_a_period_is_refused)
{
	static const char *const malformed[] = { "",          "\n",     "max\n", "100\n",
		                                 "maximal 1", "1x 100", "100 0", "100\n100000\n" };
	struct rti_cgroup_cpu_max max;

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		ck_assert_msg(parse_cpu_max(malformed[i], &max) == -EBADMSG, "%s", malformed[i]);
}
END_TEST

static int parse_limit(const char *text, uint64_t *out)
{
	struct exact copy = exact(text);

	return rti_parse_cgroup_limit(copy.data, copy.len, out);
}

START_TEST(limit_is_a_number_or_none)
{
	uint64_t limit = 1;

	ck_assert_int_eq(parse_limit("4096\n", &limit), 0);
	ck_assert_uint_eq(limit, 4096);
	ck_assert_int_eq(parse_limit("0", &limit), 0);
	ck_assert_uint_eq(limit, 0);
	ck_assert_int_eq(parse_limit("max\n", &limit), 0);
	ck_assert_uint_eq(limit, RTI_NO_LIMIT);
	ck_assert_int_eq(parse_limit("-1\n", &limit), 0);
	ck_assert_uint_eq(limit, RTI_NO_LIMIT);
	ck_assert_int_eq(parse_limit("", &limit), -EBADMSG);
	ck_assert_int_eq(parse_limit("12a\n", &limit), -EBADMSG);
	ck_assert_int_eq(parse_limit("maximum\n", &limit), -EBADMSG);
}
END_TEST

START_TEST(memory_events_need_all_four)
{
	struct exact text = exact("low 9\nhigh 4\nmax 3\noom 2\noom_kill 1\noom_group_kill 7\n");
	struct rti_cgroup_memory_events events;

	ck_assert_int_eq(rti_parse_cgroup_memory_events(text.data, text.len, &events), 0);
	ck_assert_uint_eq(events.high, 4);
	ck_assert_uint_eq(events.max, 3);
	ck_assert_uint_eq(events.oom, 2);
	ck_assert_uint_eq(events.oom_kills, 1);
	text = exact("low 9\nhigh 4\nmax 3\noom 2\noom_kill");
	ck_assert_int_eq(rti_parse_cgroup_memory_events(text.data, text.len, &events), -EBADMSG);
}
END_TEST

START_TEST(oom_control_of_old_kernels_is_refused)
{
	struct exact text = exact("oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
	uint64_t oom_kills;

	ck_assert_int_eq(rti_parse_cgroup_oom_control(text.data, text.len, &oom_kills), 0);
	ck_assert_uint_eq(oom_kills, 6);
	text = exact("oom_kill_disable 0\nunder_oom 0\n");
	ck_assert_int_eq(rti_parse_cgroup_oom_control(text.data, text.len, &oom_kills), -EBADMSG);
}
END_TEST

START_TEST(memory_of_v2_has_kernel_memory_and_faults)
{
	struct exact text = exact("anon 100\nfile 70\nkernel 50\nkernel_stack 9\nshmem 20\n"
	                          "slab 8\npgfault 7\npgmajfault 2\n");
	struct rti_cgroup_memory_detail m;

	ck_assert_int_eq(rti_parse_cgroup_memory_detail(text.data, text.len, &m), 0);
	ck_assert_uint_eq(m.has, RTI_MEMORY_STAT_PARTS | RTI_MEMORY_STAT_SHMEM |
	                             RTI_MEMORY_STAT_KERNEL | RTI_MEMORY_STAT_FAULTS);
	ck_assert_uint_eq(m.anon_bytes, 100);
	ck_assert_uint_eq(m.file_bytes, 70);
	ck_assert_uint_eq(m.shmem_bytes, 20);
	ck_assert_uint_eq(m.kernel_bytes, 50);
	ck_assert_uint_eq(m.faults, 7);
	ck_assert_uint_eq(m.major_faults, 2);
}
END_TEST

START_TEST(memory_of_older_v2_has_a_lower_bound_of_kernel_memory)
{
	struct exact text = exact("anon 1\nfile 2\nkernel_stack 10\npagetables 20\npercpu 30\n"
	                          "shmem 2\nslab 40\n");
	struct rti_cgroup_memory_detail m;

	ck_assert_int_eq(rti_parse_cgroup_memory_detail(text.data, text.len, &m), 0);
	ck_assert_uint_eq(m.has, RTI_MEMORY_STAT_PARTS | RTI_MEMORY_STAT_SHMEM |
	                             RTI_MEMORY_STAT_KERNEL_LOW);
	ck_assert_uint_eq(m.kernel_bytes, 100);
	text = exact("anon 1\nfile 2\nkernel_stack 10\n");
	ck_assert_int_eq(rti_parse_cgroup_memory_detail(text.data, text.len, &m), 0);
	ck_assert_uint_eq(m.has, RTI_MEMORY_STAT_PARTS);
	text = exact("anon 1\nkernel 3\n");
	ck_assert_int_eq(rti_parse_cgroup_memory_detail(text.data, text.len, &m), -EBADMSG);
}
END_TEST

START_TEST(memory_of_v1_has_the_limit_of_all_levels)
{
	struct exact text = exact("cache 1\nrss 2\nhierarchical_memory_limit 4096\n"
	                          "total_cache 70\ntotal_rss 100\ntotal_shmem 20\ntotal_swap 5\n"
	                          "total_pgfault 7\ntotal_pgmajfault 2\n");
	struct rti_cgroup_memory_detail m;

	ck_assert_int_eq(rti_parse_cgroup_memory_detail_v1(text.data, text.len, &m), 0);
	ck_assert_uint_eq(m.has, RTI_MEMORY_STAT_PARTS | RTI_MEMORY_STAT_SHMEM |
	                             RTI_MEMORY_STAT_FAULTS | RTI_MEMORY_STAT_SWAP |
	                             RTI_MEMORY_STAT_LIMIT);
	ck_assert_uint_eq(m.anon_bytes, 100);
	ck_assert_uint_eq(m.file_bytes, 70);
	ck_assert_uint_eq(m.swap_bytes, 5);
	ck_assert_uint_eq(m.limit_bytes, 4096);
	/* With pages of 64 KiB "no limit" is smaller than with those of 4 KiB. */
	text = exact("hierarchical_memory_limit 9223372036854710272\ntotal_cache 0\ntotal_rss 0\n");
	ck_assert_int_eq(rti_parse_cgroup_memory_detail_v1(text.data, text.len, &m), 0);
	ck_assert_uint_eq(m.limit_bytes, RTI_NO_LIMIT);
	text = exact("cache 1\nrss 2\n");
	ck_assert_int_eq(rti_parse_cgroup_memory_detail_v1(text.data, text.len, &m), -EBADMSG);
}
END_TEST

static int add_pid(void *arg, int32_t pid)
{
	int64_t *sum = arg;

	*sum = *sum * 100 + pid;
	return pid == 99 ? RTI_STOP : RTI_CONTINUE;
}

static int parse_procs(const char *text, int64_t *sum)
{
	struct exact copy = exact(text);

	*sum = 0;
	return rti_parse_cgroup_procs(copy.data, copy.len, add_pid, sum);
}

START_TEST(procs_of_another_pid_namespace_are_zero)
{
	int64_t sum;

	ck_assert_int_eq(parse_procs("12\n0\n34\n", &sum), 0);
	ck_assert_int_eq(sum, 120034);
	ck_assert_int_eq(parse_procs("", &sum), 0);
	ck_assert_int_eq(sum, 0);
	ck_assert_int_eq(parse_procs("12\n99\n34\n", &sum), RTI_STOP);
	ck_assert_int_eq(sum, 1299);
}
END_TEST

START_TEST(procs_with_malformed_line_are_refused)
{
	static const char *const malformed[] = { "1\n\n", "-1\n", "1 2\n", "a\n", "99999999999\n" };
	int64_t sum;

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		ck_assert_msg(parse_procs(malformed[i], &sum) == -EBADMSG, "%s", malformed[i]);
}
END_TEST

START_TEST(descendants_that_die_do_not_count)
{
	struct exact text = exact("nr_descendants 3\nnr_subsys_cpu 4\nnr_dying_descendants 5\n");
	uint64_t count;

	ck_assert_int_eq(rti_parse_cgroup_descendants(text.data, text.len, &count), 0);
	ck_assert_uint_eq(count, 3);
	text = exact("nr_dying_descendants 5\n");
	ck_assert_int_eq(rti_parse_cgroup_descendants(text.data, text.len, &count), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_cgroup_stat");
	TCase *cpu = suite_case(suite, "cpu"), *memory = suite_case(suite, "memory");
	TCase *procs = suite_case(suite, "procs");

	tcase_add_test(cpu, throttle_of_both_versions_is_in_ns);
	tcase_add_test(cpu, throttle_without_the_controller_is_refused);
	tcase_add_test(cpu, throttle_that_does_not_fit_into_ns_saturates);
	tcase_add_test(cpu, cpu_max_has_quota_and_period);
	tcase_add_test(cpu, cpu_max_without_a_period_is_refused);
	tcase_add_test(cpu, limit_is_a_number_or_none);
	tcase_add_test(memory, memory_events_need_all_four);
	tcase_add_test(memory, oom_control_of_old_kernels_is_refused);
	tcase_add_test(memory, memory_of_v2_has_kernel_memory_and_faults);
	tcase_add_test(memory, memory_of_older_v2_has_a_lower_bound_of_kernel_memory);
	tcase_add_test(memory, memory_of_v1_has_the_limit_of_all_levels);
	tcase_add_test(procs, procs_of_another_pid_namespace_are_zero);
	tcase_add_test(procs, procs_with_malformed_line_are_refused);
	tcase_add_test(procs, descendants_that_die_do_not_count);
	return suite_run(suite);
}
