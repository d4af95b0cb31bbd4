/* SPDX-License-Identifier: MIT */
/* How sure the figures of GPUs of a tree are. */
#include "tree/gpu/gpu.h"

#include <errno.h>

#include "suite.h"
#include "tree/gpu/gpu_state.h"
#include "tree/state/state.h"

#define BOTH (RT_HAS_GPU | RT_HAS_GPU_MEMORY)

static const struct rti_context ctx;
static struct rti_tree tree;
static struct rt_metrics out;

static void start(uint64_t want)
{
	tree = (struct rti_tree){ .ctx = &ctx, .want = want };
	ck_assert_int_eq(rti_member_table_init(&tree.table, 0), 0);
	ck_assert_int_eq(rti_tree_gpu_init(&tree), 0);
	tree.gpu->files.was_present = true;
	out = (struct rt_metrics){ .processes = 2 };
}

static void end(void)
{
	rti_tree_gpu_free(&tree);
	rti_member_table_free(&tree.table, &ctx);
}

/* Of one of two members nothing is known. */
START_TEST(domain_that_is_not_wanted_has_no_obstacle)
{
	const uint64_t want = _i == 0 ? RT_HAS_GPU : RT_HAS_GPU_MEMORY;

	start(want);
	for (int domain = 0; domain < RTI_GPU_DOMAINS; domain++)
		tree.gpu->unknown[domain] =
		    (struct rti_gpu_unknown){ .err = -EACCES, .pid = 100, .members = 1 };

	rti_tree_gpu_set_figures(&tree, &out);

	ck_assert_uint_eq(out.valid, 0);
	ck_assert_uint_eq(out.partial, want);
	ck_assert_uint_eq(tree.obstacles.status.met, want);
	end();
}
END_TEST

/* It was forked and had ended before a sample could find it. */
START_TEST(process_that_no_sample_has_seen_makes_a_lower_bound_of_the_time)
{
	start(BOTH);
	tree.table.added = 2;
	out.processes_seen = _i == 0 ? 2 : 3;

	rti_tree_gpu_set_figures(&tree, &out);

	ck_assert_uint_eq(out.valid & BOTH, _i == 0 ? BOTH : RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(out.partial & BOTH, _i == 0 ? 0 : RT_HAS_GPU);
	end();
}
END_TEST

START_TEST(peak_is_as_sure_as_the_memory_ever_was)
{
	struct rti_gpu_peak peak;

	start(BOTH);
	tree.gpu->is_held_estimated = _i == 0;
	tree.gpu->files.was_present = _i < 2;
	rti_tree_gpu_set_figures(&tree, &out);
	tree.gpu->is_held_estimated = false;
	out.valid = out.partial = out.estimated = 0;
	rti_tree_gpu_set_figures(&tree, &out);

	peak = rti_tree_gpu_peak(&tree);

	ck_assert_uint_eq(peak.estimated, _i == 0 ? RT_HAS_GPU_MEMORY : 0);
	ck_assert_uint_eq(peak.partial, _i == 1 ? RT_HAS_GPU_MEMORY : 0);
	ck_assert_uint_eq(peak.valid, _i == 2 ? RT_HAS_GPU_MEMORY : 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu");
	TCase *tcase = suite_case(suite, "masks");

	tcase_add_loop_test(tcase, domain_that_is_not_wanted_has_no_obstacle, 0, 2);
	tcase_add_loop_test(tcase, process_that_no_sample_has_seen_makes_a_lower_bound_of_the_time,
	                    0, 2);
	tcase_add_loop_test(tcase, peak_is_as_sure_as_the_memory_ever_was, 0, 3);
	return suite_run(suite);
}
