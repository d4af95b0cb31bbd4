/* SPDX-License-Identifier: MIT */
/* The domains and the flags of each kind of tracker. */
#include <errno.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

/* What rt_opts.want 0 stands for in release 0.3: programs that leave the choice to the library rely
 * on it. A later release may add what costs nothing: tests/component/tree/test_cost_*.c have the
 * files that a tracker with default options reads. */
START_TEST(default_domains_have_those_of_the_first_release_that_names_them)
{
	static const uint64_t of_0_3[] = { [RT_KIND_PID] = UINT64_C(0xC000021FF),
		                           [RT_KIND_SYSTEM] = UINT64_C(0x1FFF0181),
		                           [RT_KIND_CGROUP] = UINT64_C(0x7E040E007DAF) };

	for (uint32_t kind = RT_KIND_PID; kind <= RT_KIND_CGROUP; kind++)
		ck_assert_uint_eq(rt_default_domains(kind) & of_0_3[kind], of_0_3[kind]);
}
END_TEST

/* The first look at a GPU takes a tenth of a second. */
START_TEST(default_domains_have_no_gpu)
{
	const uint64_t of_gpus = RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY;

	for (uint32_t kind = RT_KIND_PID; kind <= RT_KIND_CGROUP; kind++)
		ck_assert_uint_eq(rt_default_domains(kind) & of_gpus, 0);
}
END_TEST

START_TEST(default_domains_are_among_the_domains)
{
	for (uint32_t kind = RT_KIND_PID; kind <= RT_KIND_CGROUP; kind++)
		ck_assert_uint_eq(rt_default_domains(kind) & ~rt_domains(kind), 0);
}
END_TEST

START_TEST(unknown_kind_has_no_domains)
{
	ck_assert_uint_eq(rt_domains(0) | rt_default_domains(0), 0);
	ck_assert_uint_eq(rt_domains(RT_KIND_CGROUP + 1) | rt_default_domains(UINT32_MAX), 0);
}
END_TEST

static int new_tracker(struct rt_tracker **out, uint32_t kind, const struct rt_opts *opts)
{
	return kind == RT_KIND_PID ? rt_pid_tracker_new(out, getpid(), opts)
	                           : rt_system_tracker_new(out, opts);
}

/* Bits of other kinds are ignored; those that no kind has are refused. */
START_TEST(want_takes_the_domains_of_all_kinds_and_no_others)
{
	const uint64_t known =
	    rt_domains(RT_KIND_PID) | rt_domains(RT_KIND_SYSTEM) | rt_domains(RT_KIND_CGROUP);

	for (int bit = 0; bit < 64; bit++) {
		struct rt_opts opts = { .size = sizeof(opts), .want = UINT64_C(1) << bit };
		struct rt_tracker *tracker;

		ck_assert_int_eq(new_tracker(&tracker, (uint32_t)_i, &opts),
		                 opts.want & known ? 0 : -EINVAL);
		rt_tracker_free(tracker);
	}
}
END_TEST

START_TEST(tracker_that_wants_nothing_in_particular_has_the_default_domains)
{
	struct rt_tracker *tracker;

	ck_assert_int_eq(new_tracker(&tracker, (uint32_t)_i, NULL), 0);
	sample(tracker);
	for (int bit = 0; bit < 64; bit++) {
		uint64_t has = UINT64_C(1) << bit;

		if (has & rt_domains((uint32_t)_i))
			ck_assert_int_eq(rt_tracker_status(tracker, has) == -EOPNOTSUPP,
			                 !(has & rt_default_domains((uint32_t)_i)));
	}
	rt_tracker_free(tracker);
}
END_TEST

/* What is known by the way, since a file has it, too, is not in the masks. */
START_TEST(estimate_that_is_not_wanted_is_in_no_mask)
{
	struct fixture f;
	struct rt_opts opts = { .size = sizeof(opts), .root = f.root, .want = RT_HAS_MEMORY };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	fixture_new(&f);
	fixture_write(&f, "proc/meminfo", "MemTotal: 100 kB\nMemFree: 50 kB\n");
	ck_assert_int_eq(rt_system_tracker_new(&tracker, &opts), 0);
	m = sample(tracker);
	ck_assert_uint_eq((m.valid | m.partial | m.estimated) & ~RT_HAS_MEMORY, 0);
	rt_tracker_free(tracker);
	fixture_free(&f);
}
END_TEST

/* A program of before 0.3 reads processes_seen under the bit of `processes`. */
START_TEST(tracker_that_wants_processes_has_processes_seen)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_NO_PROCESS_EVENTS,
		                      .want = RT_HAS_PROCESSES };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	ck_assert_int_eq(new_tracker(&tracker, RT_KIND_PID, &opts), 0);
	m = sample(tracker);
	ck_assert_uint_eq(m.valid, RT_HAS_PROCESSES);
	ck_assert_uint_eq(m.partial, RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.processes_seen, 1);
	rt_tracker_free(tracker);
}
END_TEST

/* Of each flag the kind that takes it. */
static const uint32_t kind_of_flag[] = {
	[0] = RT_KIND_PID,    /* RT_OPT_NO_CHILDREN */
	[1] = RT_KIND_SYSTEM, /* RT_OPT_NETWORK_FILESYSTEMS */
	[2] = RT_KIND_PID,    /* RT_OPT_PROCESS_EVENTS */
	[3] = RT_KIND_PID,    /* RT_OPT_NO_MEMORY_READS */
	[4] = RT_KIND_PID,    /* RT_OPT_IO_WITH_REAPED */
	[5] = RT_KIND_SYSTEM, /* RT_OPT_OWN_LIMITS */
	[6] = RT_KIND_PID,    /* RT_OPT_PSS_READS */
	[7] = RT_KIND_PID,    /* RT_OPT_SESSION */
	[8] = RT_KIND_SYSTEM, /* RT_OPT_LIST_PROCESSES */
	[9] = RT_KIND_PID,    /* RT_OPT_NO_PROCESS_EVENTS */
};

START_TEST(flag_of_the_other_kind_is_refused)
{
	for (uint32_t bit = 0; bit < 32; bit++) {
		const struct rt_opts opts = { .size = sizeof(opts), .flags = UINT32_C(1) << bit };
		bool is_own = bit < COUNT_OF(kind_of_flag) && kind_of_flag[bit] == (uint32_t)_i;
		struct rt_tracker *tracker;

		ck_assert_msg(new_tracker(&tracker, (uint32_t)_i, &opts) == (is_own ? 0 : -EINVAL),
		              "kind %d, flag %u", _i, bit);
		rt_tracker_free(tracker);
	}
}
END_TEST

START_TEST(command_with_flag_of_a_system_tracker_is_refused)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_opts of_system = { .size = sizeof(of_system),
		                           .flags = RT_OPT_NETWORK_FILESYSTEMS };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .tracker = &of_system };
	struct rt_command *c;

	ck_assert_int_eq(rt_command_start(&c, &opts), -EINVAL);
	ck_assert_ptr_null(c);
}
END_TEST

int main(void)
{
	const int first = RT_KIND_PID, end = RT_KIND_SYSTEM + 1;
	Suite *suite = suite_create("domains");
	TCase *domains = suite_case(suite, "domains"), *flags = suite_case(suite, "flags");

	tcase_add_test(domains, default_domains_have_those_of_the_first_release_that_names_them);
	tcase_add_test(domains, default_domains_have_no_gpu);
	tcase_add_test(domains, default_domains_are_among_the_domains);
	tcase_add_test(domains, unknown_kind_has_no_domains);
	tcase_add_test(domains, estimate_that_is_not_wanted_is_in_no_mask);
	tcase_add_loop_test(domains, want_takes_the_domains_of_all_kinds_and_no_others, first, end);
	tcase_add_loop_test(
	    domains, tracker_that_wants_nothing_in_particular_has_the_default_domains, first, end);
	tcase_add_test(domains, tracker_that_wants_processes_has_processes_seen);
	tcase_add_loop_test(flags, flag_of_the_other_kind_is_refused, first, end);
	tcase_add_test(flags, command_with_flag_of_a_system_tracker_is_refused);
	return suite_run(suite);
}
