/* SPDX-License-Identifier: MIT */
/* How often a command looks for members that leave its cgroup: by clocks of the test. */
#include "command/cgroup_watch.h"

#include <string.h>

#include "command/handle.h"
#include "suite.h"
#include "tree/state/state.h"

#define MS UINT64_C(1000000)
#define NOW_NS (1000000 * MS)

static uint64_t look_ns, cpu_ns;

static uint64_t read_cpu_ns(void)
{
	return cpu_ns += look_ns;
}

static uint64_t read_time_ns(void)
{
	return NOW_NS;
}

/* A busy machine makes a look last longer, but not cost more. */
START_TEST(looks_are_400_times_as_far_apart_as_one_costs_cpu_time)
{
	static const struct {
		uint64_t look_ns, pause_ns;
	} cases[] = { { MS / 10, 200 * MS }, { MS / 2, 200 * MS }, { MS, 400 * MS } };
	struct rti_cgroup_dir dir = { .name = "/a", .hierarchy = 3, .accounts = RTI_CGROUP_CPU };
	static struct rti_tree tree;
	struct rt_tracker tracker = {
		.tree = &tree,
		.platform = { .thread_cpu_ns = read_cpu_ns, .monotonic_ns = read_time_ns },
	};
	struct rt_command command = { .tracker = &tracker,
		                      .enclosing = { .dir = &dir, .count = 1 } };

	look_ns = cases[_i].look_ns;
	rti_cgroup_watch_look(&command);

	ck_assert_uint_eq(command.next_look_ns, NOW_NS + cases[_i].pause_ns);
	ck_assert_uint_eq(command.overhead_ns, look_ns);
}
END_TEST

/* No process can leave the root of a hierarchy, and the supervisor looks at v2. */
START_TEST(enclosing_cgroup_is_looked_at_in_v1_unless_it_is_the_root)
{
	static const struct {
		const char *name;
		uint32_t hierarchy;
		bool is_looked_at;
	} cases[] = { { "/a", 1, true }, { "/a", 0, false }, { "/", 1, false } };
	struct rti_cgroup_dir dir = { .hierarchy = cases[_i].hierarchy,
		                      .accounts = RTI_CGROUP_CPU };
	static struct rti_tree tree;
	struct rt_tracker tracker = {
		.tree = &tree,
		.platform = { .thread_cpu_ns = read_cpu_ns, .monotonic_ns = read_time_ns },
	};
	struct rt_command command = { .tracker = &tracker,
		                      .enclosing = { .dir = &dir, .count = 1 } };

	strcpy(dir.name, cases[_i].name);
	look_ns = MS;
	rti_cgroup_watch_look(&command);
	ck_assert_int_eq(command.next_look_ns != UINT64_MAX, cases[_i].is_looked_at);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_watch");
	TCase *tcase = suite_case(suite, "pace");

	tcase_add_loop_test(tcase, looks_are_400_times_as_far_apart_as_one_costs_cpu_time, 0, 3);
	tcase_add_loop_test(tcase, enclosing_cgroup_is_looked_at_in_v1_unless_it_is_the_root, 0, 3);
	return suite_run(suite);
}
